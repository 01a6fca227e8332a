/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs in transit, ordered by the time at which they are due. */
#ifndef FABRIC_MAD_QUEUE_H
#define FABRIC_MAD_QUEUE_H

#include <ibsa/types.h>
#include <ibsa/transport.h>

#include "fabric/mad/mad.h"
#include "fabric/mad/reply.h"

struct message {
	struct message *next;
	uint64_t due_ns;
	/*
	 * Number of the message in the order of sending: of two messages with
	 * the same @due_ns, the one with the lower number is delivered first.
	 */
	uint64_t number;
	struct mad_headers mad;
	struct sa_reply body;
	uint8_t room[IBSA_MAD_BYTES]; /* of @body, until it needs more */
};

/*
 * A queue of MADs in transit. Nearly all MADs are due in the order in which
 * they are sent; these MADs form a list. A MAD that is due before the last MAD
 * of the list is stored in a heap.
 */
struct queue {
	struct message *first;
	struct message *last;
	struct message **heap;
	size_t heap_count;
	size_t heap_room;
	size_t count; /* number of MADs in the list and the heap */
	size_t bytes; /* sum of the lengths of their bodies */
	struct message *free;
};

/*
 * Maximum number of MADs in transit, and of their bytes. An empty queue
 * accepts a MAD of any size.
 */
enum { QUEUE_MESSAGES_MAX = 131072 };
#define QUEUE_BYTES_MAX SA_REPLY_BYTES_MAX

/* Return: a message, which the caller fills; NULL: out of memory. */
struct message *ibsa__queue_new(struct queue *queue);

/* Give a message back. */
void ibsa__queue_release(struct queue *queue, struct message *message);

/* Whether the queue has room for a message of @len bytes. */
bool ibsa__queue_has_room(const struct queue *queue, size_t len);

/*
 * Add a message to the queue. Return: 0; -ENOMEM, and the message was
 * released.
 */
int ibsa__queue_push(struct queue *queue, struct message *message);

/* Return: the message in the queue that is due first, or NULL. */
struct message *ibsa__queue_head(const struct queue *queue);

/* Take ibsa__queue_head() out. */
struct message *ibsa__queue_pop(struct queue *queue);

void ibsa__queue_done(struct queue *queue);

#endif
