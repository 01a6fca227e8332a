/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A responder between a fabric and a device file that the test plays: its calls of
 * open(), ioctl(), read() and write() end here, by the linker's --wrap.
 */
#ifndef RESPONDER_RIG_H
#define RESPONDER_RIG_H

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
extern const char responder_topology[];

/* What the kernel is to do. */
struct responder_kernel {
	int device; /* the transport's end, and ours */
	int end;
	int sa_errno; /* to who wants the requests to the SA */
	int read_errno;
	int write_errno;
};

extern struct responder_kernel responder_kernel;

/* A fabric, and a responder to its node2. */
struct responder_rig {
	struct tree tree;
	struct ibsa_fabric *fabric;
	struct ibsa_responder *responder;
	uint8_t packet[65536]; /* the last one that went out */
	size_t len;
};

extern const struct ibsa_responder_options responder_at_node2;

/* Set up a test, whose state is its rig, with a device and no responder yet. */
int responder_setup(void **state);
int responder_teardown(void **state);

#define IN_A_RIG(test)                                         \
	cmocka_unit_test_setup_teardown(test, responder_setup, \
					responder_teardown)

/* What arrives at the port. */
struct responder_arrival {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* A request that anybody may ask. */
extern const struct ibsa__request responder_get_info;

void responder_open(struct responder_rig *rig);

/* From a QP somewhere; it has no MAD yet. */
struct responder_arrival responder_arrival(uint16_t lid, uint32_t qpn);
void responder_encode(struct responder_arrival *arrival,
		      const struct ibsa__request *request);

/* It is at the device, with so much of its MAD; or bytes of any kind are. */
void responder_arrive(const struct responder_arrival *arrival, size_t mad_len);
void responder_arrive_bytes(const void *bytes, size_t len);

/* The responder passes on what there is. */
void responder_pass(struct responder_rig *rig);

/* A request from somebody; it is passed on. */
void responder_receive(struct responder_rig *rig, uint16_t lid, uint32_t qpn,
		       const struct ibsa__request *request);

/* What went out next. Return: whether something did. */
bool responder_sent(struct responder_rig *rig);
struct umad_header responder_header(const struct responder_rig *rig);
const uint8_t *responder_mad(const struct responder_rig *rig);

/* The next thing that went out is for that LID and QP. */
void responder_assert_sent_to(struct responder_rig *rig, uint16_t lid,
			      uint32_t qpn, uint8_t method);

struct ibsa_responder_info responder_info(const struct responder_rig *rig);
bool responder_is_readable(const struct responder_rig *rig);

#endif
