/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An impaired link: faults lose, delay, duplicate, reorder and corrupt the
 * MADs on it. MADs that are not lost wait in a queue until they are due.
 */
#ifndef FABRIC_MAD_IMPAIRED_LINK_H
#define FABRIC_MAD_IMPAIRED_LINK_H

#include "fabric/mad/queue.h"

struct mad_net;

struct impaired_link {
	struct mad_net *net;
	/*
	 * Pool from which the memory of all messages is taken, and to which it
	 * is returned.
	 */
	struct queue *pool;
	struct queue queue;
	/*
	 * A message that is held back until the next message has overtaken it;
	 * or NULL.
	 */
	struct message *held;
	uint64_t sent; /* numbers messages */
};

/* Return: the message on the link that is due first, or NULL. */
static inline struct message *
impaired_link_head(const struct impaired_link *link)
{
	struct message *first = ibsa__queue_head(&link->queue);

	if (link->held && (!first || link->held->due_ns < first->due_ns))
		return link->held;
	return first;
}

/* Whether a fault is set that affects MADs on a link. */
bool ibsa__impaired_link_has_faults(const struct mad_net *net);

/*
 * Apply the faults to a MAD from the pool, and queue the result. A MAD that is
 * held back until another overtakes it waits for a limited time. Return: 0;
 * -ENOMEM, and the MAD was released.
 */
int ibsa__impaired_link_carry(struct impaired_link *link,
			      struct message *message) IBSA_MUST_USE;

/*
 * Take the first message from the link if it is due by @until_ns. Return: the
 * message, or NULL.
 */
struct message *ibsa__impaired_link_take(struct impaired_link *link,
					 uint64_t until_ns);

/* Return all messages to the pool. */
void ibsa__impaired_link_done(struct impaired_link *link);

#endif
