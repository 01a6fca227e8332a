/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad device that the test simulates. The transport's calls of open(),
 * ioctl(), read(), write() and close() on it are replaced by the linker's
 * --wrap, and so is clock_gettime(), whose time the test can advance.
 */
#ifndef TEST_UMAD_PLAYED_H
#define TEST_UMAD_PLAYED_H

#include <ibsa/transport.h>

#include "test/support/device_tree.h"

enum {
	PLAYED_REPLY_BYTES = 4096,
	PLAYED_AGENT = 10, /* the first that is registered */
	PLAYED_REPORT_AGENT = 20,
	PLAYED_AGENTS_MAX = 4,
};

/* What the simulated device has received, and how it behaves. */
struct played {
	int device; /* the transport's end, and the test's */
	int end;
	unsigned int opens;
	unsigned int number; /* of the file that was opened last */
	int open_errno;
	int read_errno, write_errno;
	unsigned int reads; /* of the device */
	uint8_t class_versions[PLAYED_AGENTS_MAX];
	uint32_t agents;
	bool refuses_opa;
	int report_errno; /* returned when an agent for Reports registers */
	uint32_t report_agent; /* 0: no agent is registered for Reports */
	/*
	 * Size in bytes, with the umad header, of the reply that the next read
	 * returns; 0: the next read returns what the test has written.
	 */
	uint32_t large_bytes;
	uint64_t later_ns; /* by which the clock is ahead */
};

extern struct played played;

/* Open a transport on "hfi1_0" with umad0 in @tree, with the driver @driver. */
struct ibsa_transport *played_open(struct tree *tree, const char *driver);
void played_close(struct ibsa_transport *transport, struct tree *tree);

/*
 * Send a MAD with this class version and method. Return: as the send operation.
 */
int played_send(struct ibsa_transport *transport, uint8_t class_version,
		uint8_t method);

/* Return: the agent number in the next packet that was sent. */
uint32_t played_sent(void);

int played_receive(struct ibsa_transport *transport, struct ibsa_message *out);

/* Whether the transport's fd is readable. */
bool played_readable(struct ibsa_transport *transport);

/* Check that the transport sends, and receives a packet once. */
void played_assert_usable(struct ibsa_transport *transport);

#endif
