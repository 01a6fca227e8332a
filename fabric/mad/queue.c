/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs in transit, ordered by the time at which they are due. */
#include <errno.h>

#include "base/alloc.h"
#include "base/array.h"
#include "fabric/mad/queue.h"

static bool message_is_before(const struct message *a, const struct message *b)
{
	if (a->due_ns != b->due_ns)
		return a->due_ns < b->due_ns;
	return a->number < b->number;
}

static void message_reset(struct message *message)
{
	message->next = NULL;
	message->body = (struct sa_reply){
		.bytes = message->room,
		.room = sizeof(message->room),
	};
}

struct message *ibsa__queue_new(struct queue *queue)
{
	struct message *message = queue->free;

	if (message)
		queue->free = message->next;
	else
		message = ibsa__calloc(1, sizeof(*message));
	if (message)
		message_reset(message);
	return message;
}

void ibsa__queue_release(struct queue *queue, struct message *message)
{
	ibsa__sa_reply_done(&message->body);
	message_reset(message);
	message->next = queue->free;
	queue->free = message;
}

static void heap_swap(struct queue *queue, size_t i, size_t k)
{
	struct message *message = queue->heap[i];

	queue->heap[i] = queue->heap[k];
	queue->heap[k] = message;
}

static int heap_push(struct queue *queue, struct message *message)
{
	size_t i = queue->heap_count;

	if (ARRAY_GROW(queue->heap, queue->heap_room, i + 1))
		return -ENOMEM;
	queue->heap[queue->heap_count++] = message;
	for (; i && message_is_before(queue->heap[i], queue->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		heap_swap(queue, i, (i - 1) / 2);
	return 0;
}

static void heap_pop(struct queue *queue)
{
	size_t i = 0;

	queue->heap[0] = queue->heap[--queue->heap_count];
	for (;;) {
		size_t least = 2 * i + 1;

		if (least >= queue->heap_count)
			return;
		if (least + 1 < queue->heap_count &&
		    message_is_before(queue->heap[least + 1],
				      queue->heap[least]))
			least++;
		if (!message_is_before(queue->heap[least], queue->heap[i]))
			return;
		heap_swap(queue, i, least);
		i = least;
	}
}

bool ibsa__queue_has_room(const struct queue *queue, size_t len)
{
	if (!queue->count)
		return true;
	return queue->count < QUEUE_MESSAGES_MAX &&
	       queue->bytes <= QUEUE_BYTES_MAX &&
	       len <= QUEUE_BYTES_MAX - queue->bytes;
}

static void list_append(struct queue *queue, struct message *message)
{
	message->next = NULL;
	if (queue->first)
		queue->last->next = message;
	else
		queue->first = message;
	queue->last = message;
}

int ibsa__queue_push(struct queue *queue, struct message *message)
{
	int err = 0;

	if (queue->first && message_is_before(message, queue->last))
		err = heap_push(queue, message);
	else
		list_append(queue, message);
	if (err) {
		ibsa__queue_release(queue, message);
		return err;
	}
	queue->count++;
	queue->bytes += message->body.len;
	return 0;
}

static bool is_heap_first(const struct queue *queue)
{
	return queue->heap_count &&
	       (!queue->first ||
		message_is_before(queue->heap[0], queue->first));
}

struct message *ibsa__queue_head(const struct queue *queue)
{
	return is_heap_first(queue) ? queue->heap[0] : queue->first;
}

struct message *ibsa__queue_pop(struct queue *queue)
{
	struct message *message = ibsa__queue_head(queue);

	if (message == queue->first)
		queue->first = message->next;
	else
		heap_pop(queue);
	queue->count--;
	queue->bytes -= message->body.len;
	return message;
}

static void list_free(struct message *message)
{
	while (message) {
		struct message *next = message->next;

		ibsa__sa_reply_done(&message->body);
		ibsa__free(message);
		message = next;
	}
}

void ibsa__queue_done(struct queue *queue)
{
	for (size_t i = 0; i < queue->heap_count; i++)
		queue->heap[i]->next = NULL;
	for (size_t i = 0; i < queue->heap_count; i++)
		list_free(queue->heap[i]);
	list_free(queue->first);
	list_free(queue->free);
	ibsa__free(queue->heap);
	*queue = (struct queue){ 0 };
}
