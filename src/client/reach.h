/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The batches of a client, and how they end with it. */
#ifndef CLIENT_REACH_H
#define CLIENT_REACH_H

#include <ibsa/reach.h>

#include "base/list.h"

struct ibsa__engine;

/* A client's. */
struct ibsa__reaches {
	struct ibsa__engine *engine;
	struct list batches;
	bool closing;
};

void ibsa__reaches_init(struct ibsa__reaches *reaches,
			struct ibsa__engine *engine);

/* Stop all, take no more, and tell of those for which nothing is on its way;
 * the engine's end does so for the others. */
void ibsa__reaches_end(struct ibsa__reaches *reaches);

#endif
