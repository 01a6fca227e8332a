/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registrations for the SM's events, under the names that Solaris gave them. */
#include <errno.h>

#include "verbs/side.h"
#include "verbs/sm_events.h"

/* With the last registration, all that was there for them ends. */
static void settle(struct ibsa__side *side)
{
	bool is_empty;

	pthread_mutex_lock(&side->lock);
	is_empty = ibsa__sm_filter_is_empty(&side->filter);
	pthread_mutex_unlock(&side->lock);
	if (!is_empty)
		return;
	ibsa__sm_watches_stop(side);
	pthread_mutex_lock(&side->lock);
	if (!side->is_attached) {
		ibsa__sm_queue_clear(&side->queue);
		ibsa__async_update(side);
		ibsa__async_unsplice(side);
	}
	pthread_mutex_unlock(&side->lock);
}

void ibsa__sm_events_clear(struct ibsa__side *side)
{
	pthread_mutex_lock(&side->lock);
	ibsa__sm_filter_clear(&side->filter);
	side->is_attached = false;
	side->queue.gaps_wanted = false;
	side->queue.limit = SM_QUEUE_LIMIT;
	pthread_mutex_unlock(&side->lock);
	settle(side);
}

void ibsa__sm_events_end(struct ibsa__side *side)
{
	pthread_mutex_lock(&side->registering);
	ibsa__sm_events_clear(side);
	pthread_mutex_unlock(&side->registering);
}

/* What matches is told from now on. */
static int begin(struct ibsa__side *side, const struct sm_wish *wish)
{
	int err;

	pthread_mutex_lock(&side->lock);
	err = side->is_closed ? -EIO : ibsa__async_begin(side);
	if (!err)
		err = ibsa__sm_filter_add(&side->filter, wish);
	if (!err) {
		err = ibsa__async_splice(side);
		if (err)
			(void)!ibsa__sm_filter_remove(&side->filter, wish);
	}
	pthread_mutex_unlock(&side->lock);
	return err;
}

static int end(struct ibsa__side *side, const struct sm_wish *wish)
{
	int err;

	pthread_mutex_lock(&side->lock);
	err = ibsa__sm_filter_remove(&side->filter, wish);
	pthread_mutex_unlock(&side->lock);
	if (!err)
		settle(side);
	return err;
}

static int add(struct ibsa__side *side, const struct sm_wish *wish)
{
	int err;

	pthread_mutex_lock(&side->registering);
	err = begin(side, wish);
	if (!err) {
		err = ibsa__sm_watches_start(side);
		if (err)
			(void)!end(side, wish);
	}
	pthread_mutex_unlock(&side->registering);
	return err;
}

int ibv_register_sm_events(struct ibv_context *context,
			   ibv_sm_event_type_t event, int gid_num,
			   union ibv_gid *gids)
{
	struct ibsa__side *side;
	struct sm_wish wish;
	int err = ibsa__sm_wish_check(event, gid_num, gids, &wish);

	if (!err)
		err = ibsa__side_enter(context, &side);
	if (!err) {
		err = add(side, &wish);
		ibsa__side_leave(side);
	}
	return ibsa__side_result(err);
}

int ibv_unregister_sm_events(struct ibv_context *context,
			     ibv_sm_event_type_t event, int gid_num,
			     union ibv_gid *gids)
{
	struct ibsa__side *side;
	struct sm_wish wish;
	int err = ibsa__sm_wish_check(event, gid_num, gids, &wish);

	if (!err)
		err = ibsa__side_find(context, &side);
	if (!err) {
		pthread_mutex_lock(&side->registering);
		err = end(side, &wish);
		pthread_mutex_unlock(&side->registering);
		ibsa__side_leave(side);
	}
	return ibsa__side_result(err);
}
