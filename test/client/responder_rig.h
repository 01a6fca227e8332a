/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A responder between a fabric and a simulated device file: open(), ioctl(),
 * read() and write() on it are replaced by the linker's --wrap.
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

#include <ibsa/types.h>
#include <ibsa/records.h>
#include <ibsa/fabric.h>
#include <ibsa/responder.h>

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

/* What the simulated kernel does. */
struct responder_kernel {
	int device; /* the transport's end, and the test's */
	int end;
	/* Error of registering the agent for requests to the SA. */
	int sa_errno;
	int read_errno;
	int write_errno;
};

extern struct responder_kernel responder_kernel;

/* An embedded fabric, and a responder that sends requests from its node2. */
struct responder_rig {
	struct tree tree;
	struct ibsa_fabric *fabric;
	struct ibsa_responder *responder;
	uint8_t packet[65536]; /* the last that was sent */
	size_t len;
};

extern const struct ibsa_responder_options responder_at_node2;

/*
 * Set up a test, whose state is its rig, with a device and without a responder.
 */
int responder_setup(void **state);
int responder_teardown(void **state);

#define IN_A_RIG(test)                                         \
	cmocka_unit_test_setup_teardown(test, responder_setup, \
					responder_teardown)

/* A packet that arrives at the port. */
struct responder_arrival {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* A request that the SA answers for any requester. */
extern const struct ibsa__request responder_get_info;

void responder_open(struct responder_rig *rig);

/* Return: a packet from this LID and QP, without a MAD. */
struct responder_arrival responder_arrival(uint16_t lid, uint32_t qpn);
void responder_encode(struct responder_arrival *arrival,
		      const struct ibsa__request *request);

/*
 * Let a packet arrive at the simulated device file: responder_arrive(), with
 * the first @mad_len bytes of its MAD; responder_arrive_bytes(), any bytes.
 */
void responder_arrive(const struct responder_arrival *arrival, size_t mad_len);
void responder_arrive_bytes(const void *bytes, size_t len);

/* Dispatch the responder. */
void responder_pass(struct responder_rig *rig);

/* Let a request arrive, and dispatch the responder. */
void responder_receive(struct responder_rig *rig, uint16_t lid, uint32_t qpn,
		       const struct ibsa__request *request);

/* Take the next packet that was sent. Return: whether there was one. */
bool responder_sent(struct responder_rig *rig);
struct umad_header responder_header(const struct responder_rig *rig);
const uint8_t *responder_mad(const struct responder_rig *rig);

/* Check that the responder has sent its next packet to this LID and QP. */
void responder_assert_sent_to(struct responder_rig *rig, uint16_t lid,
			      uint32_t qpn, uint8_t method);

struct ibsa_responder_info responder_info(const struct responder_rig *rig);
bool responder_is_readable(const struct responder_rig *rig);

#endif
