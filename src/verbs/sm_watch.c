/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches for the SM's events, one a port. */
#include <errno.h>
#include <time.h>

#include <ibsa/bits.h>

#include "base/alloc.h"
#include "verbs/side.h"
#include "verbs/sm_watch.h"

enum { BOUND_S = 10, SILENCE_MS = 5000 };

/*
 * @word is how the subscription stands, once that is known: 0 it does, or why
 * not. Freed when nobody wants it any more and it has ended.
 */
struct sm_watch {
	struct list link;
	struct ibsa__side *side;
	struct ibsa_device_watch *handle;
	uint64_t prefix;
	uint8_t port;
	bool is_stopped;
	bool has_ended;
	bool has_word;
	int word;
};

static void watch_free(struct sm_watch *watch)
{
	list_remove(&watch->link);
	ibsa__free(watch);
}

/* An event's type; 0: it is none of ours, or not of such a GID. */
static int type_of(const struct ibsa_event *event)
{
	const bool is_group = event->gid.raw[0] == 0xff;

	switch (event->kind) {
	case IBSA_EVENT_GID_IN:
		return is_group ? 0 : IBV_EVENT_GID_AVAIL;
	case IBSA_EVENT_GID_OUT:
		return is_group ? 0 : IBV_EVENT_GID_UNAVAIL;
	case IBSA_EVENT_GROUP_CREATED:
		return is_group ? IBV_EVENT_MCG_CREATED : 0;
	case IBSA_EVENT_GROUP_DELETED:
		return is_group ? IBV_EVENT_MCG_DELETED : 0;
	default:
		return 0;
	}
}

/* Locked. */
static void note_report(struct sm_watch *watch, const struct ibsa_event *event)
{
	struct ibsa__side *side = watch->side;
	const struct sm_report report = {
		.gid = event->gid,
		.kind = event->kind,
		.port = watch->port,
		.prefix = watch->prefix,
		.time_ns = event->time_ns,
	};
	const int type = type_of(event);

	if (type && ibsa__sm_filter_wants(&side->filter, &event->gid) &&
	    ibsa__sm_history_is_new(&side->history, &report))
		ibsa__sm_queue_push(&side->queue, type, &event->gid);
}

/* What is told to the caller of ibv_register_sm_events(). */
static int trouble(int err)
{
	switch (err) {
	case -ENETDOWN:
	case -EAGAIN:
		return -EAGAIN;
	case -EBUSY:
	case -ENOMEM:
	case -ENODEV:
		return err;
	case -EOPNOTSUPP:
		return -ENODEV;
	default:
		return -EIO;
	}
}

/* A busy SA has said nothing yet; what has stood once will again. Locked. */
static void note_word(struct sm_watch *watch, const struct ibsa_event *event)
{
	const bool stands = event->kind == IBSA_EVENT_SUBSCRIBED;

	if ((event->kind == IBSA_EVENT_FAILED && !event->err) ||
	    (watch->has_word && !watch->word))
		return;
	watch->has_word = true;
	watch->word = stands ? 0 : trouble(event->err);
	pthread_cond_broadcast(&watch->side->changed);
}

/* Locked. */
static void note_end(struct sm_watch *watch, const struct ibsa_event *event)
{
	watch->has_ended = true;
	note_word(watch, event);
	if (!watch->is_stopped)
		return;
	pthread_cond_broadcast(&watch->side->changed);
	watch_free(watch);
}

/* Locked. */
static void note(struct sm_watch *watch, const struct ibsa_event *event)
{
	switch (event->kind) {
	case IBSA_EVENT_SUBSCRIBED:
	case IBSA_EVENT_LOST:
	case IBSA_EVENT_FAILED:
	case IBSA_EVENT_REFUSED:
		note_word(watch, event);
		break;
	case IBSA_EVENT_ENDED:
		note_end(watch, event);
		break;
	case IBSA_EVENT_GAP:
		if (!watch->is_stopped)
			ibsa__sm_queue_gap(&watch->side->queue, watch->port);
		break;
	default:
		if (!watch->is_stopped)
			note_report(watch, event);
	}
}

static void happened(const struct ibsa_event *event, void *arg)
{
	struct sm_watch *watch = arg;
	struct ibsa__side *side = watch->side;

	pthread_mutex_lock(&side->lock);
	note(watch, event);
	ibsa__async_update(side);
	pthread_mutex_unlock(&side->lock);
}

static struct sm_watch *watch_at(struct list *at)
{
	return list_object(at, struct sm_watch, link);
}

static bool is_live(const struct sm_watch *watch)
{
	return !watch->is_stopped && !watch->has_ended;
}

/* Whether a port is watched; 0: whether any is. Locked. */
static bool has_live(const struct ibsa__side *side, unsigned int port)
{
	struct list *at = side->watches.next;

	for (; at != &side->watches; at = at->next) {
		const struct sm_watch *watch = watch_at(at);

		if (is_live(watch) && (!port || watch->port == port))
			return true;
	}
	return false;
}

static bool is_watched(struct ibsa__side *side, unsigned int port)
{
	bool found;

	pthread_mutex_lock(&side->lock);
	found = has_live(side, port);
	pthread_mutex_unlock(&side->lock);
	return found;
}

/* What has ended by itself is tried again. */
static void ended_forget(struct ibsa__side *side)
{
	struct list *at;

	pthread_mutex_lock(&side->lock);
	at = side->watches.next;
	while (at != &side->watches) {
		struct sm_watch *watch = watch_at(at);

		at = at->next;
		if (watch->has_ended)
			watch_free(watch);
	}
	pthread_mutex_unlock(&side->lock);
}

static int watch_new(struct ibsa__side *side, unsigned int port,
		     const struct ibsa_port_state *state, struct sm_watch **out)
{
	struct sm_watch *watch = ibsa__calloc(1, sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	watch->side = side;
	watch->port = (uint8_t)port;
	watch->prefix = ibsa_be64(state->gid.raw);
	pthread_mutex_lock(&side->lock);
	list_append(&side->watches, &watch->link);
	pthread_mutex_unlock(&side->lock);
	*out = watch;
	return 0;
}

static int subscribe(struct ibsa__side *side, struct sm_watch *watch)
{
	const struct ibsa_event_options options = {
		.kinds = IBSA_EVENT_OF_SM,
		.audit_ms = side->options.audit_ms,
		.deadline_ms = SILENCE_MS,
	};
	int err;

	pthread_rwlock_rdlock(&side->asking);
	err = ibsa__side_device(side);
	if (!err)
		err = ibsa_device_watch(&side->client, side->device,
					watch->port, &options, happened, watch,
					&watch->handle);
	pthread_rwlock_unlock(&side->asking);
	return err;
}

static int port_watch(struct ibsa__side *side, unsigned int port,
		      const struct ibsa_port_state *state)
{
	struct sm_watch *watch;
	int err;

	if (is_watched(side, port))
		return 0;
	err = watch_new(side, port, state, &watch);
	if (err)
		return err;
	err = subscribe(side, watch);
	if (!err)
		return 0;
	pthread_mutex_lock(&side->lock);
	watch_free(watch);
	pthread_mutex_unlock(&side->lock);
	return trouble(err);
}

/* Of two reasons the one that says more: that a port is down is common. */
static int worse(int a, int b)
{
	if (a == -ENODEV || !a)
		return b ? b : a;
	return a == -EAGAIN && b && b != -ENODEV ? b : a;
}

/* All ports that are not watched yet; at most one error of several. */
static int ports_watch(struct ibsa__side *side)
{
	struct ibsa_port_state state;
	int worst = -ENODEV;
	int err = 0;

	ended_forget(side);
	for (unsigned int port = 1; err != -ENODEV; port++) {
		err = ibsa__side_port(side, port, &state);
		if (!err && ibsa__side_port_fits(side, &state))
			worst = worse(worst, port_watch(side, port, &state));
		else if (err && err != -ENODEV)
			worst = worse(worst, trouble(err));
	}
	return worst;
}

/* 0 one stands; -EINPROGRESS one may yet; or why none does. Locked. */
static int verdict(const struct ibsa__side *side, int worst)
{
	struct list *at = side->watches.next;
	bool is_open = false;

	if (side->is_closed)
		return -EIO;
	for (; at != &side->watches; at = at->next) {
		const struct sm_watch *watch = watch_at(at);

		if (watch->is_stopped)
			continue;
		if (watch->has_word && !watch->word)
			return 0;
		is_open = is_open || !watch->has_word;
		worst = worse(worst, watch->word);
	}
	return is_open ? -EINPROGRESS : worst;
}

static int await_word(struct ibsa__side *side, int worst)
{
	struct timespec until;
	int late = 0;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += BOUND_S;
	pthread_mutex_lock(&side->lock);
	while ((err = verdict(side, worst)) == -EINPROGRESS && !late)
		late = pthread_cond_timedwait(&side->changed, &side->lock,
					      &until);
	pthread_mutex_unlock(&side->lock);
	return err == -EINPROGRESS ? -EIO : err;
}

/* What one port cannot do matters as long as no other can. */
int ibsa__sm_watches_start(struct ibsa__side *side)
{
	const bool is_first = !is_watched(side, 0);
	const int worst = ports_watch(side);
	int err;

	if (!is_first)
		return 0;
	err = await_word(side, worst);
	if (err)
		ibsa__sm_watches_stop(side);
	return err;
}

/* Locked. */
static void watch_stop(struct sm_watch *watch)
{
	if (watch->is_stopped)
		return;
	watch->is_stopped = true;
	if (watch->has_ended)
		watch_free(watch);
	else
		ibsa_device_unwatch(watch->handle);
}

void ibsa__sm_watches_stop(struct ibsa__side *side)
{
	struct list *at;

	pthread_mutex_lock(&side->lock);
	at = side->watches.next;
	while (at != &side->watches) {
		struct sm_watch *watch = watch_at(at);

		at = at->next;
		watch_stop(watch);
	}
	ibsa__sm_history_clear(&side->history);
	pthread_mutex_unlock(&side->lock);
}
