/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of the SM that wait to be read, and whether some were lost. */
#ifndef VERBS_SM_QUEUE_H
#define VERBS_SM_QUEUE_H

#include <stdint.h>

#include <ibsa/verbs.h>

#include "base/list.h"

/* How many events wait, unless a program says otherwise. */
enum { SM_QUEUE_LIMIT = 16384 };

/*
 * A gap is told where it happened: when as many have been read as had come
 * until then. Of several, the last counts: who reads afresh then knows all.
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
void ibsa__sm_queue_clear(struct sm_queue *queue);

/* One more; lost, which is a gap, beyond the limit or without memory. */
void ibsa__sm_queue_push(struct sm_queue *queue, int event_type,
			 const struct ibsa_gid *gid);

/* Something may have been missed at a port; 0: at any. */
void ibsa__sm_queue_gap(struct sm_queue *queue, int port);

/* Whether there was one, which is now in *@out. */
bool ibsa__sm_queue_pop(struct sm_queue *queue, struct ibsa_async_event *out);

bool ibsa__sm_queue_is_empty(const struct sm_queue *queue);

#endif
