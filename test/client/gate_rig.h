/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A gate between a fabric and a device file that the test plays: its calls of
 * open(), ioctl(), read() and write() end here, by the linker's --wrap.
 */
#ifndef GATE_RIG_H
#define GATE_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#include <ibsa/bits.h>
#include <ibsa/records.h>
#include <ibsa/sa.h>
#include <ibsa/sim.h>

#include "umad/header.h"
#include "test/support/device_tree.h"
#include "wire/request.h"

enum {
	CLIENT_AGENT = 10,
	SA_AGENT = 20,
	PACKET_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
};

/* Three nodes with a cable, and "lonely". */
extern const char gate_topology[];

/* What the kernel is to do. */
struct gate_kernel {
	int device; /* the transport's end, and ours */
	int end;
	int sa_errno; /* to who wants the requests to the SA */
	int read_errno;
	int write_errno;
};

extern struct gate_kernel gate_kernel;

/* A fabric, and a gate to its node2. */
struct gate_rig {
	struct tree tree;
	struct ibsa_fabric *fabric;
	struct ibsa_gate *gate;
	uint8_t packet[65536]; /* the last one that went out */
	size_t len;
};

extern const struct ibsa_gate_options gate_at_node2;

/* Set up a test, whose state is its rig, with a device and no gate yet. */
int gate_setup(void **state);
int gate_teardown(void **state);

#define IN_A_RIG(test) \
	cmocka_unit_test_setup_teardown(test, gate_setup, gate_teardown)

/* What arrives at the port. */
struct gate_arrival {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* A request that anybody may ask. */
extern const struct ibsa__request gate_get_info;

void gate_open(struct gate_rig *rig);

/* From a QP somewhere; it has no MAD yet. */
struct gate_arrival gate_arrival(uint16_t lid, uint32_t qpn);
void gate_encode(struct gate_arrival *arrival,
		 const struct ibsa__request *request);

/* It is at the device, with so much of its MAD; or bytes of any kind are. */
void gate_arrive(const struct gate_arrival *arrival, size_t mad_len);
void gate_arrive_bytes(const void *bytes, size_t len);

/* The gate passes on what there is. */
void gate_pass(struct gate_rig *rig);

/* A request from somebody; it is passed on. */
void gate_ask(struct gate_rig *rig, uint16_t lid, uint32_t qpn,
	      const struct ibsa__request *request);

/* What went out next. Return: whether something did. */
bool gate_sent(struct gate_rig *rig);
struct umad_header gate_header(const struct gate_rig *rig);
const uint8_t *gate_mad(const struct gate_rig *rig);

/* The next thing that went out is for that LID and QP. */
void gate_assert_sent_to(struct gate_rig *rig, uint16_t lid, uint32_t qpn,
			 uint8_t method);

struct ibsa_gate_info gate_info(const struct gate_rig *rig);
bool gate_is_readable(const struct gate_rig *rig);

#endif
