/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A way that MADs take, with all that can befall them on it: what a fault
 * leaves of them is in a queue until it is due.
 */
#ifndef SIM_MAD_WAY_H
#define SIM_MAD_WAY_H

#include "sim/mad/queue.h"

struct mad_net;

struct way {
	struct mad_net *net;
	struct queue *pool; /* all messages come from there, and go back */
	struct queue queue;
	struct message *held; /* waits for the next one to overtake it */
	uint64_t sent;	      /* numbers messages */
};

/* What is first on its way, or NULL. */
static inline struct message *way_head(const struct way *way)
{
	struct message *first = ibsa__queue_head(&way->queue);

	if (way->held && (!first || way->held->due_ns < first->due_ns))
		return way->held;
	return first;
}

/* Whether any fault of the way may strike. */
bool ibsa__way_is_faulty(const struct mad_net *net);

/*
 * Let a MAD of the pool run through the faults of the way, and put what is
 * left of it into the queue. A MAD that waits to be overtaken does not wait
 * for ever. Return: 0; -ENOMEM, and the message was released.
 */
int ibsa__way_carry(struct way *way, struct message *message) IBSA_MUST_USE;

/* Take the first if it is due by then, or NULL. */
struct message *ibsa__way_take(struct way *way, uint64_t until_ns);

/* Give back all that is on its way. */
void ibsa__way_done(struct way *way);

#endif
