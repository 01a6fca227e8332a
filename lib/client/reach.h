/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reachability batches of a client, and how they end when the client is
 * closed.
 */
#ifndef CLIENT_REACH_H
#define CLIENT_REACH_H

#include <ibsa/reach.h>

#include "base/list.h"

struct ibsa__engine;

/*
 * Find the source GID of a path: @from; or, if @from is zero, GID 0 of this
 * port. Return: 0; -EAGAIN the port has no GID; or the error from reading the
 * port.
 */
int ibsa__source_gid_find(struct ibsa__engine *engine,
			  const struct ibsa_gid *from, struct ibsa_gid *out);

/* The batches of a client. */
struct ibsa__reaches {
	struct ibsa__engine *engine;
	struct ibsa_transport *transport; /* for this port's P_Keys */
	struct list batches;
	bool closing;
};

void ibsa__reaches_init(struct ibsa__reaches *reaches,
			struct ibsa__engine *engine,
			struct ibsa_transport *transport);

/*
 * Stop all batches and refuse new ones. The remaining GIDs of a batch without a
 * query in flight are reported here, with -ECANCELED; those of the other
 * batches are reported when the engine is freed.
 */
void ibsa__reaches_end(struct ibsa__reaches *reaches);

#endif
