/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The queue of SM events that the program has not read yet, and whether events
 * were lost; also of events of the ports, if libibverbs does not deliver them.
 */
#ifndef VERBS_SM_QUEUE_H
#define VERBS_SM_QUEUE_H

#include <stdint.h>

#include <ibsa/types.h>
#include <ibsa/verbs.h>

#include "base/list.h"

/*
 * Events of a context that were not read yet: of the SM, and those of the ports
 * that port_events.h reports. A gap (lost events) is
 * returned after the events that were queued before it. Of several gaps only
 * the last is returned, since a program that reads everything again after it
 * has missed nothing.
 */
struct sm_queue {
	struct list waiting;
	uint64_t pushed;
	uint64_t popped;
	uint64_t gap_at;
	int gap_port;
	bool has_gap;
	bool gaps_wanted;
	size_t limit;
};

void ibsa__sm_queue_init(struct sm_queue *queue);

/* Remove all events; or those of the SM only. */
void ibsa__sm_queue_clear(struct sm_queue *queue);
void ibsa__sm_queue_clear_sm(struct sm_queue *queue);

/*
 * Append an event. If the queue is full or memory is short, drop the event and,
 * if the program has requested records of gaps, record a gap.
 */
void ibsa__sm_queue_push(struct sm_queue *queue, int event_type,
			 const struct ibsa_gid *gid);

/* Do the same with an event of a port. */
void ibsa__sm_queue_push_port(struct sm_queue *queue, int event_type, int port);

/*
 * If @gaps_wanted is set, record in the queue that events may have been lost at
 * @port; 0: at any port.
 */
void ibsa__sm_queue_gap(struct sm_queue *queue, int port);

/* Take the oldest event from the queue. Return: false if the queue is empty. */
bool ibsa__sm_queue_pop(struct sm_queue *queue, struct ibsa_async_event *out);

bool ibsa__sm_queue_is_empty(const struct sm_queue *queue);

#endif
