/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device whose port 1 is a puppet: the test receives the bytes of each
 * request, answers with any bytes, and sets the state of the port.
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

/* Make a plug with a port in the state @port; NULL: active, with an SM. */
void plug_start(struct plug *plug, const struct ibsa_port_state *port);

/*
 * Make a plug whose device has a worker that cannot wait for the port; on the
 * real clock.
 */
void plug_start_unwaitable(struct plug *plug);
void plug_stop(struct plug *plug);

/* Advance the clock and dispatch. */
void plug_run(struct plug *plug, unsigned int ms);

/*
 * Answer request @n with @mad, of 256 bytes or a larger table, with the
 * TransactionID of the request; and dispatch.
 */
void plug_answer(struct plug *plug, unsigned int n, const uint8_t *mad,
		 size_t len);

/* Read a captured MAD of test/data/vectors. Return: its length. */
size_t plug_vector(const char *file, uint8_t out[PUPPET_BYTES]);

/*
 * Check that request number @n equals the captured request, except for its
 * TransactionID.
 */
void plug_assert_sent(const struct plug *plug, unsigned int n,
		      const char *file);

#endif
