/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device whose port 1 is a puppet: the test sees the bytes of each request,
 * answers with any others, and says what state the port is in.
 */
#ifndef IB_SA_PLUG_H
#define IB_SA_PLUG_H

#include "test/ib_sa/rig.h"
#include "test/support/puppet.h"

enum { PLUG_PKEYS = 4 };

struct plug {
	struct puppet puppet;
	struct rig rig;
	uint16_t pkeys[PLUG_PKEYS]; /* 0xffff, and empty ones */
};

/* A plug with a port in the state @port; NULL: active, with an SM. */
void plug_start(struct plug *plug, const struct ibsa_port_state *port);

/* One whose device has a worker, which cannot wait for it; on the real clock. */
void plug_start_unwaitable(struct plug *plug);
void plug_stop(struct plug *plug);

/* Move the clock and dispatch. */
void plug_run(struct plug *plug, unsigned int ms);

/* Answer request @n as @mad has it, 256 bytes or a table of more, but for its
 * TransactionID; and dispatch. */
void plug_answer(struct plug *plug, unsigned int n, const uint8_t *mad,
		 size_t len);

/* The bytes of a captured MAD, in test/data/vectors. Return: how many. */
size_t plug_vector(const char *file, uint8_t out[PUPPET_BYTES]);

/* Request @n is the captured one, but for its TransactionID. */
void plug_assert_sent(const struct plug *plug, unsigned int n,
		      const char *file);

#endif
