/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of a context that were not read yet. */
#include <string.h>

#include "base/alloc.h"
#include "verbs/sm_queue.h"

struct queued_event {
	struct list link;
	struct ibsa_async_event event;
};

void ibsa__sm_queue_init(struct sm_queue *queue)
{
	*queue = (struct sm_queue){ .limit = IBSA_DEFAULT_EVENT_QUEUE };
	list_init(&queue->waiting);
}

/* Remove the oldest event of the queue. Return: the event, or NULL. */
static struct queued_event *queue_take(struct sm_queue *queue)
{
	struct queued_event *first;

	if (list_is_empty(&queue->waiting))
		return NULL;
	first = list_object(queue->waiting.next, struct queued_event, link);
	list_remove(&first->link);
	queue->popped++;
	return first;
}

void ibsa__sm_queue_clear(struct sm_queue *queue)
{
	struct queued_event *first;

	while ((first = queue_take(queue)))
		ibsa__free(first);
	queue->has_gap = false;
}

void ibsa__sm_queue_clear_sm(struct sm_queue *queue)
{
	struct queued_event *event, *next;

	LIST_EACH_SAFE(event, next, &queue->waiting, link) {
		if (event->event.event_type < IBV_EVENT_MCG_CREATED)
			continue;
		list_remove(&event->link);
		queue->popped++;
		ibsa__free(event);
	}
	queue->has_gap = false;
}

void ibsa__sm_queue_gap(struct sm_queue *queue, int port)
{
	if (!queue->gaps_wanted)
		return;
	if (queue->has_gap && queue->gap_port != port)
		port = 0;
	queue->has_gap = true;
	queue->gap_port = port;
	queue->gap_at = queue->pushed;
}

static void event_push(struct sm_queue *queue,
		       const struct ibsa_async_event *event)
{
	struct queued_event *last = NULL;

	if (queue->pushed - queue->popped < queue->limit)
		last = ibsa__calloc(1, sizeof(*last));
	if (!last) {
		ibsa__sm_queue_gap(queue, 0);
		return;
	}
	last->event = *event;
	list_append(&queue->waiting, &last->link);
	queue->pushed++;
}

void ibsa__sm_queue_push(struct sm_queue *queue, int event_type,
			 const struct ibsa_gid *gid)
{
	struct ibsa_async_event event = { .event_type = event_type };

	memcpy(&event.element.gid, gid, sizeof(*gid));
	event_push(queue, &event);
}

void ibsa__sm_queue_push_port(struct sm_queue *queue, int event_type, int port)
{
	const struct ibsa_async_event event = {
		.event_type = event_type,
		.element.port_num = port,
	};

	event_push(queue, &event);
}

bool ibsa__sm_queue_pop(struct sm_queue *queue, struct ibsa_async_event *out)
{
	struct queued_event *first;

	if (queue->has_gap && queue->popped >= queue->gap_at) {
		queue->has_gap = false;
		memset(out, 0, sizeof(*out));
		out->event_type = IBV_EVENT_SM_GAP;
		out->element.port_num = queue->gap_port;
		return true;
	}
	first = queue_take(queue);
	if (!first)
		return false;
	*out = first->event;
	ibsa__free(first);
	return true;
}

bool ibsa__sm_queue_is_empty(const struct sm_queue *queue)
{
	return list_is_empty(&queue->waiting) && !queue->has_gap;
}
