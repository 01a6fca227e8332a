/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad device that the test plays: the transport's calls of open(), ioctl(),
 * read(), write() and close() on it end here, by the linker's --wrap, and so
 * does clock_gettime(), which the test can move on.
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

/* What the kernel has been told, and what it is to do. */
struct played {
	int device; /* the transport's end, and ours */
	int end;
	unsigned int opens;
	unsigned int number; /* of the file that was opened last */
	int open_errno;
	int read_errno, write_errno;
	uint8_t class_versions[PLAYED_AGENTS_MAX];
	uint32_t agents;
	bool refuses_opa;
	int report_errno;      /* to who wants Reports */
	uint32_t report_agent; /* 0: nobody takes them */
	uint32_t large_bytes;  /* of the reply at the head of the queue */
	uint64_t later_ns;     /* that the clock is ahead */
};

extern struct played played;

/* A transport on "hfi1_0" with umad0 in @tree, whose driver is @driver's. */
struct ibsa_transport *played_open(struct tree *tree, const char *driver);
void played_close(struct ibsa_transport *transport, struct tree *tree);

/* Send a MAD of a class version, or of a method. Return: as send. */
int played_send(struct ibsa_transport *transport, uint8_t class_version,
		uint8_t method);

/* The agent that the next packet which was sent names. */
uint32_t played_sent(void);

int played_receive(struct ibsa_transport *transport, struct ibsa_message *out);

/* Whether its fd is. */
bool played_readable(struct ibsa_transport *transport);

/* It sends, and what comes arrives, once. */
void played_assert_usable(struct ibsa_transport *transport);

#endif
