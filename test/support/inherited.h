/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a forked child may do with a client that it inherits: close it. */
#ifndef TEST_INHERITED_H
#define TEST_INHERITED_H

#include "told.h"

/*
 * A client with a service, watches of the SM and of the port, a reachability
 * batch, and a query in flight.
 */
struct inherited {
	struct ibsa_client *client;
	struct told told;
	struct ibsa_port_watch *port_watch;
	struct ibsa_reach_batch *batch;
	uint64_t query_id;
	int reached; /* GIDs that the batch has reported */
};

/* Fill @out for an open client. */
void inherited_start(struct ibsa_client *client, struct inherited *out);

/*
 * In a forked child: call every function with the client and with what belongs
 * to it, and close the client. Return: whether all calls were refused, but the
 * close; no callback was called.
 */
bool inherited_is_refused(struct inherited *inherited);

/*
 * In the parent: check that everything continues as if there were no child, and
 * close the client.
 */
void inherited_finish(struct inherited *inherited);

#endif
