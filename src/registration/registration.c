/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The schedule of what is registered at the SA.
 *
 * The SM of a large subnet serves thousands of clients, which all notice a
 * restart of the SM at about the same time. Every time here is therefore
 * partly random, and the registrations of one client are spread evenly.
 */
#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "registration/registration.h"

enum {
	RETRY_MS = 1000, /* after a failure, doubling up to */
	RETRY_MAX_MS = 60 * 1000,
	REFUSED_MS = 60 * 1000, /* after a refusal, doubling up to */
	REFUSED_MAX_MS = 900 * 1000,
	DISPUTE_MS = 1000, /* after a second loss, doubling up to */
	DISPUTE_MAX_MS = 300 * 1000,
	SPREAD_MS = 500,	 /* of a recovery, at least, */
	SPREAD_EACH_MS = 5,	 /* for each registration, */
	SPREAD_MAX_MS = 10000,	 /* and at most */
	CHANGES_MAX = 2,	 /* which may move a step to a later time */
	QUEUE_MS = 60 * 1000,	 /* that a request waits for the window */
	LAST_DEADLINE_MS = 1500, /* while the client closes */
};

static struct ibsa__engine *engine_of(const struct ibsa__registration *one)
{
	return one->all->engine;
}

static uint64_t now_ns(const struct ibsa__registration *one)
{
	return ibsa__engine_now_ns(engine_of(one));
}

static struct ibsa__registration *registration_at(struct list *at)
{
	return list_object(at, struct ibsa__registration, link);
}

/* @ms, doubled @times, up to @max_ms; a quarter of it is random. */
static uint64_t back_off(const struct ibsa__registration *one, uint64_t ms,
			 unsigned int times, uint64_t max_ms)
{
	while (times-- && ms < max_ms)
		ms *= 2;
	ms = ms < max_ms ? ms : max_ms;
	return ms > 4 ? ms - ibsa__engine_random(engine_of(one), ms / 4) : ms;
}

void ibsa__registration_schedule(struct ibsa__registration *one,
				 enum ibsa__registration_step step, uint64_t ms)
{
	const unsigned int spread_ms = one->all->spread_ms;

	if (one->query_id)
		return;
	if (one->is_stale && ms > spread_ms)
		ms = ibsa__engine_random(engine_of(one), spread_ms);
	one->is_stale = false;
	one->is_routine = false;
	one->changes = 0;
	one->step = step;
	ibsa__alarm_set(engine_of(one), &one->alarm,
			ms < UINT_MAX ? (unsigned int)ms : UINT_MAX);
}

/* Whether the next step is due within @ms anyway. */
static bool registration_is_due(const struct ibsa__registration *one,
				uint64_t ms)
{
	return one->alarm.timer.armed &&
	       one->alarm.timer.due <= now_ns(one) / NS_PER_MS + ms;
}

/*
 * Take the next step within @ms. A step that is due earlier moves, because all
 * retries after a silence may be due at once, and are to be spread; but only
 * for CHANGES_MAX changes, or change after change would put the step off for
 * ever. The reply to a request in flight may be out of date: the step after it
 * is then soon, too.
 */
static void registration_hasten(struct ibsa__registration *one, uint64_t ms)
{
	const unsigned int changes = one->changes;

	/* Each of two programs that want the same place waits its time. */
	if (one->releasing || (one->step == IBSA__STEP_SET && one->disputes))
		return;
	one->failures = 0;
	one->is_stale = one->query_id;
	one->is_routine = false;
	if (changes >= CHANGES_MAX && registration_is_due(one, ms))
		return;
	ibsa__registration_schedule(one, one->step, ms);
	one->changes = changes + 1;
}

void ibsa__registration_soon(struct ibsa__registration *one)
{
	registration_hasten(one, ibsa__engine_random(engine_of(one),
						     one->all->spread_ms));
}

/* Whether the SA at @b may have forgotten what the SA at @a had. */
static bool is_move(const struct ibsa_port_state *a,
		    const struct ibsa_port_state *b)
{
	return a->reregisters != b->reregisters || a->sm_lid != b->sm_lid ||
	       a->lid != b->lid || a->port_state != b->port_state ||
	       memcmp(&a->gid, &b->gid, sizeof(a->gid)) != 0;
}

/* How often the port has changed so that the SA may have forgotten, up to
 * now. */
static uint32_t registrations_moves(struct ibsa__registrations *all)
{
	struct ibsa_port_state now;

	if (!ibsa__engine_port(all->engine, true, &now) &&
	    is_move(&all->port, &now)) {
		all->port = now;
		all->moves++;
		all->is_ahead = true;
	}
	return all->moves;
}

/* A value that has changed and changed back is a move, unless it was counted. */
static void moves_count(struct ibsa__registrations *all, unsigned int changes,
			const struct ibsa_port_state *now)
{
	const unsigned int moves = IBSA_PORT_CHANGE_STATE |
				   IBSA_PORT_CHANGE_LID | IBSA_PORT_CHANGE_SM |
				   IBSA_PORT_CHANGE_GID |
				   IBSA_PORT_CHANGE_REREGISTER;

	if (changes & moves && (!all->is_ahead || is_move(&all->port, now)))
		all->moves++;
	all->is_ahead = false;
	all->port = *now;
}

static unsigned int spread_of(uint64_t count)
{
	const uint64_t ms = count * SPREAD_EACH_MS;

	if (ms < SPREAD_MS)
		return SPREAD_MS;
	return ms < SPREAD_MAX_MS ? (unsigned int)ms : SPREAD_MAX_MS;
}

/* Each registration has a part of the time, and begins at a random moment of
 * it. */
static void registrations_hasten(struct ibsa__registrations *all)
{
	uint64_t count = 0, part = 0;

	for (const struct list *at = all->list.next; at != &all->list;
	     at = at->next)
		count++;
	all->spread_ms = spread_of(count);
	for (struct list *at = all->list.next; at != &all->list;
	     at = at->next, part++) {
		const uint64_t from_ms = all->spread_ms * part / count;
		const uint64_t to_ms = all->spread_ms * (part + 1) / count;
		uint64_t ms = from_ms;

		if (to_ms > from_ms)
			ms += ibsa__engine_random(all->engine, to_ms - from_ms);
		registration_hasten(registration_at(at), ms);
	}
}

void ibsa__registrations_changed(struct ibsa__registrations *all,
				 unsigned int changes,
				 const struct ibsa_port_state *now)
{
	moves_count(all, changes, now);
	if (changes == IBSA_PORT_CHANGE_PHYS_STATE)
		return;
	if (!is_port_down(now))
		registrations_hasten(all);
	if (all->changed)
		all->changed(all, changes, now);
}

static void on_port(unsigned int changes, const struct ibsa_port_state *now,
		    void *arg)
{
	ibsa__registrations_changed(arg, changes, now);
}

void ibsa__registrations_init(struct ibsa__registrations *all,
			      struct ibsa__engine *engine,
			      ibsa__registrations_fn changed)
{
	*all = (struct ibsa__registrations){
		.engine = engine,
		.changed = changed,
		.spread_ms = SPREAD_MS,
		.queue_ms = QUEUE_MS,
	};
	list_init(&all->list);
}

int ibsa__registrations_start(struct ibsa__registrations *all)
{
	if (all->watch)
		return 0;
	all->is_ahead = false;
	(void)!ibsa__engine_port(all->engine, false, &all->port);
	return ibsa__engine_watch(all->engine, 0, on_port, all, &all->watch);
}

void ibsa__registrations_stop(struct ibsa__registrations *all)
{
	ibsa__engine_unwatch(all->engine, all->watch);
	all->watch = NULL;
}

void ibsa__registration_add(struct ibsa__registration *one)
{
	list_append(&one->all->list, &one->link);
}

void ibsa__registration_remove(struct ibsa__registration *one)
{
	ibsa__alarm_cancel(engine_of(one), &one->alarm);
	list_remove(&one->link);
}

void ibsa__registration_cancel(struct ibsa__registration *one)
{
	ibsa__alarm_cancel(engine_of(one), &one->alarm);
	if (one->query_id)
		ibsa__engine_cancel(engine_of(one), one->query_id);
}

static void registration_released(struct ibsa__registration *one, int err,
				  uint16_t status)
{
	ibsa__registration_remove(one);
	one->is_registered = false;
	one->is_out = false;
	one->ops->released(one, err, status);
}

static void delete_begin(struct ibsa__registration *one)
{
	int err = 0;

	one->step = IBSA__STEP_DELETE;
	if (one->is_out)
		err = one->ops->delete (one);
	if (!one->is_out || err)
		registration_released(one, err, 0);
}

void ibsa__registration_step(struct ibsa__registration *one,
			     enum ibsa__registration_step step)
{
	int err;

	one->step = step;
	err = step == IBSA__STEP_SET ? one->ops->set(one) : one->ops->read(one);
	if (err)
		one->ops->answered(one, &(struct ibsa_reply){ .err = err });
}

static void on_alarm(struct ibsa__alarm *alarm)
{
	struct ibsa__registration *one =
		list_object(alarm, struct ibsa__registration, alarm);

	one->is_routine = false;
	if (one->releasing)
		delete_begin(one);
	else
		ibsa__registration_step(one, one->step);
}

void ibsa__registration_init(struct ibsa__registration *one,
			     struct ibsa__registrations *all,
			     const struct ibsa__registration_ops *ops)
{
	*one = (struct ibsa__registration){
		.all = all,
		.ops = ops,
		.renew_ns = UINT64_MAX,
		.audit_ms = IBSA__AUDIT_MS,
	};
	list_init(&one->link);
	ibsa__alarm_init(&one->alarm, on_alarm);
}

static void on_reply(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa__registration *one = arg;

	one->query_id = 0;
	if (one->step == IBSA__STEP_DELETE)
		registration_released(one, reply->err, reply->status);
	else if (one->releasing)
		delete_begin(one);
	else
		one->ops->answered(one, reply);
}

int ibsa__registration_query(struct ibsa__registration *one,
			     const struct ibsa_query *query)
{
	struct ibsa_query mine = *query;
	int err;

	mine.deadline_ms = one->deadline_ms;
	mine.queue_ms = one->all->queue_ms;
	if (one->all->closing) {
		mine.deadline_ms = LAST_DEADLINE_MS;
		mine.queue_ms = 0;
	}
	err = ibsa__engine_query(engine_of(one), &mine, on_reply, one,
				 &one->query_id);
	if (!err && one->step == IBSA__STEP_SET) {
		one->is_out = true;
		one->moves = one->all->moves;
	}
	return err;
}

/*
 * A little before the interval ends, so that clients which began together do
 * not stay together.
 */
static void routine_schedule(struct ibsa__registration *one)
{
	const uint64_t early_ms = ibsa__engine_random(
		engine_of(one), one->audit_ms / 8 + UINT64_C(1));
	const uint64_t now = now_ns(one);
	uint64_t due = one->read_ns + (one->audit_ms - early_ms) * NS_PER_MS;

	if (due > one->renew_ns)
		due = one->renew_ns;
	ibsa__registration_schedule(one, IBSA__STEP_READ,
				    due > now ? (due - now) / NS_PER_MS : 0);
	one->is_routine = true;
}

void ibsa__registration_read_next(struct ibsa__registration *one)
{
	one->read_ns = now_ns(one);
	routine_schedule(one);
}

void ibsa__registration_audit_ms_set(struct ibsa__registration *one,
				     unsigned int audit_ms)
{
	one->audit_ms = audit_ms;
	if (one->is_routine)
		routine_schedule(one);
}

/* Half of the lease is for tries that fail. */
static uint64_t renewal_ns(const struct ibsa__registration *one,
			   uint32_t lease_s)
{
	if (lease_s == IBSA_LEASE_INFINITE)
		return UINT64_MAX;
	return now_ns(one) + lease_s * (NS_PER_S / 2);
}

void ibsa__registration_taken(struct ibsa__registration *one, uint32_t lease_s)
{
	one->renew_ns = renewal_ns(one, lease_s);
	if (one->is_registered) {
		ibsa__registration_read_next(one);
		return;
	}
	one->is_fresh = true;
	ibsa__registration_step(one, IBSA__STEP_READ);
}

static void trouble_clear(struct ibsa__registration *one)
{
	one->is_troubled = false;
	one->is_fresh = false;
	one->err = 0;
	one->status = 0;
}

void ibsa__registration_succeeded(struct ibsa__registration *one)
{
	trouble_clear(one);
	one->failures = 0;
	one->moves = one->all->moves;
	one->is_registered = true;
}

bool ibsa__registration_present(struct ibsa__registration *one)
{
	const bool was_registered = one->is_registered;

	if (!one->is_fresh)
		one->disputes = 0;
	ibsa__registration_succeeded(one);
	if (now_ns(one) >= one->renew_ns)
		ibsa__registration_schedule(one, IBSA__STEP_SET, 0);
	else
		ibsa__registration_read_next(one);
	return !was_registered;
}

static void set_again(struct ibsa__registration *one, uint64_t ms)
{
	trouble_clear(one);
	one->is_registered = false;
	one->is_stale = false;
	ibsa__registration_schedule(one, IBSA__STEP_SET, ms);
}

void ibsa__registration_dispute(struct ibsa__registration *one)
{
	uint64_t ms = 0;

	if (one->disputes)
		ms = back_off(one, DISPUTE_MS, one->disputes - 1,
			      DISPUTE_MAX_MS);
	one->disputes++;
	set_again(one, ms);
}

/*
 * If the SM has restarted or moved since the SA had it, the SA forgot: no
 * other program has removed it.
 */
bool ibsa__registration_absent(struct ibsa__registration *one)
{
	one->step = IBSA__STEP_SET;
	if (registrations_moves(one->all) != one->moves)
		set_again(one, 0);
	else if (one->is_fresh)
		return false;
	else
		ibsa__registration_dispute(one);
	one->ops->lost(one);
	return true;
}

static uint64_t retry_ms(struct ibsa__registration *one)
{
	const unsigned int max_ms = one->retry_max_ms ? one->retry_max_ms
						      : RETRY_MAX_MS;

	if (one->is_refused)
		return back_off(one, REFUSED_MS, one->failures++,
				REFUSED_MAX_MS);
	return back_off(one, RETRY_MS, one->failures++, max_ms);
}

/* What the SA has had is read when it can be asked again. */
bool ibsa__registration_retry(struct ibsa__registration *one, int err,
			      uint16_t status, bool refused)
{
	const bool is_told = one->is_troubled && one->err == err &&
			     one->status == status;
	const enum ibsa__registration_step step = one->is_registered
							  ? IBSA__STEP_READ
							  : one->step;

	if (one->is_troubled && refused != one->is_refused)
		one->failures = 0;
	one->is_registered = false;
	one->is_fresh = false;
	one->is_troubled = true;
	one->is_refused = refused;
	one->err = err;
	one->status = status;
	ibsa__registration_schedule(one, step, retry_ms(one));
	return !is_told;
}

bool ibsa__registration_failed(struct ibsa__registration *one, int err,
			       uint16_t status)
{
	return ibsa__registration_retry(one, err, status,
					is_refusal(err, status));
}

void ibsa__registration_release(struct ibsa__registration *one)
{
	one->releasing = true;
	if (!one->query_id)
		ibsa__alarm_set(engine_of(one), &one->alarm, 0);
	else if (one->step == IBSA__STEP_READ ||
		 (one->step == IBSA__STEP_SET && one->all->closing))
		ibsa__engine_cancel(engine_of(one), one->query_id);
}

void ibsa__registrations_close(struct ibsa__registrations *all)
{
	all->closing = true;
	for (struct list *at = all->list.next; at != &all->list; at = at->next)
		ibsa__registration_release(registration_at(at));
}

/* All are being released: a callback adds or removes none. */
void ibsa__registrations_end(struct ibsa__registrations *all)
{
	struct list *at = all->list.next;

	ibsa__engine_enter(all->engine);
	while (at != &all->list) {
		struct ibsa__registration *one = registration_at(at);

		at = at->next;
		if (!one->query_id)
			registration_released(one, -ECANCELED, 0);
	}
	ibsa__engine_leave(all->engine);
}
