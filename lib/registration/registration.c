/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Schedules the requests that keep registrations at the SA up to date.
 *
 * The SM of a large subnet serves thousands of clients, which all detect its
 * restart at about the same time. Therefore, every delay is partly random, and
 * after a change of the port the registrations of one client are spread evenly
 * over time.
 */
#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "registration/registration.h"

enum {
	/*
	 * Milliseconds until the first retry after a failure. The delay
	 * doubles with each failure, up to RETRY_MAX_MS.
	 */
	RETRY_MS = 1000,
	RETRY_MAX_MS = 60 * 1000,
	/*
	 * Milliseconds until the first retry after the SA refused a request.
	 * The delay doubles, up to REFUSED_MAX_MS.
	 */
	REFUSED_MS = 60 * 1000,
	REFUSED_MAX_MS = 900 * 1000,
	/*
	 * Milliseconds until a registration is set again after its second loss
	 * in a row. The delay doubles, up to DISPUTE_MAX_MS.
	 */
	DISPUTE_MS = 1000,
	DISPUTE_MAX_MS = 300 * 1000,
	/*
	 * Minimum time over which the registrations are spread after a change
	 * of the port.
	 */
	SPREAD_MS = 500,
	SPREAD_EACH_MS = 5,    /* duration for each registration */
	SPREAD_MAX_MS = 10000, /* longest duration of a recovery */
	/*
	 * How many changes of the port may move one step of a registration to a
	 * later time.
	 */
	CHANGES_MAX = 2,
	/* Maximum time in ms that a request waits for room in the window. */
	QUEUE_MS = 60 * 1000,
	/* Deadline of requests in ms while the client closes. */
	LAST_DEADLINE_MS = 1500,
};

static uint64_t
registration_now_ns(const struct ibsa__registration *registration)
{
	return ibsa__engine_now_ns(registration->all->engine);
}

/*
 * Return: a delay of @ms, doubled @times times, but at most @max_ms; a quarter
 * of it is random.
 */
static uint64_t
registration_back_off(const struct ibsa__registration *registration,
		      uint64_t ms, unsigned int times, uint64_t max_ms)
{
	while (times-- && ms < max_ms)
		ms *= 2;
	ms = ms < max_ms ? ms : max_ms;
	return ms > 4 ? ms - ibsa__engine_random(registration->all->engine,
						 ms / 4)
		      : ms;
}

void ibsa__registration_schedule(struct ibsa__registration *registration,
				 enum ibsa__registration_step step, uint64_t ms)
{
	const unsigned int spread_ms = registration->all->spread_ms;

	if (registration->query_id)
		return;
	if (registration->is_stale && ms > spread_ms)
		ms = ibsa__engine_random(registration->all->engine, spread_ms);
	registration->is_stale = false;
	registration->is_routine = false;
	registration->changes = 0;
	registration->step = step;
	ibsa__alarm_set(registration->all->engine, &registration->alarm,
			ms < UINT_MAX ? (unsigned int)ms : UINT_MAX);
}

/* Whether the next step of the registration is due within @ms. */
static bool registration_is_due(const struct ibsa__registration *registration,
				uint64_t ms)
{
	return registration->alarm.timer.armed &&
	       registration->alarm.timer.due <=
		       registration_now_ns(registration) / NS_PER_MS + ms;
}

/*
 * Start the registration's next step in @ms, even if it was due earlier: after
 * a time without replies, all retries may be due at once and must be spread. A
 * step that was due earlier is moved by at most CHANGES_MAX changes of the
 * port, because repeated changes would otherwise delay it without end. If a
 * request is in flight, its reply may be out of date: the next step follows
 * soon after it.
 */
static void registration_hasten(struct ibsa__registration *registration,
				uint64_t ms)
{
	const unsigned int changes = registration->changes;

	/*
	 * Another program also claims this registration: the next Set is not
	 * moved, so that the two programs do not overwrite each other's
	 * registration all the time.
	 */
	if (registration->releasing ||
	    (registration->step == IBSA__STEP_SET && registration->disputes))
		return;
	registration->failures = 0;
	registration->is_stale = registration->query_id;
	registration->is_routine = false;
	if (changes >= CHANGES_MAX && registration_is_due(registration, ms))
		return;
	ibsa__registration_schedule(registration, registration->step, ms);
	registration->changes = changes + 1;
}

void ibsa__registration_soon(struct ibsa__registration *registration)
{
	registration_hasten(registration,
			    ibsa__engine_random(registration->all->engine,
						registration->all->spread_ms));
}

/*
 * Whether a change of the port from state @a to state @b may mean that the SA
 * has lost registrations.
 */
static bool state_is_move(const struct ibsa_port_state *a,
			  const struct ibsa_port_state *b)
{
	return a->reregisters != b->reregisters || a->sm_lid != b->sm_lid ||
	       a->lid != b->lid || a->port_state != b->port_state ||
	       memcmp(&a->gid, &b->gid, sizeof(a->gid)) != 0;
}

/*
 * Return: the number of port changes after which the SA may have lost
 * registrations, including a change that the watch of the port has not
 * reported yet.
 */
static uint32_t registrations_moves(struct ibsa__registrations *all)
{
	struct ibsa_port_state now;

	if (!ibsa__engine_port(all->engine, true, &now) &&
	    state_is_move(&all->port, &now)) {
		all->port = now;
		all->moves++;
		all->is_ahead = true;
	}
	return all->moves;
}

/*
 * Count a change of the port if the SA may have lost registrations by it. A
 * value that has changed and changed back counts, too, unless the change was
 * counted before.
 */
static void moves_count(struct ibsa__registrations *all, unsigned int changes,
			const struct ibsa_port_state *now)
{
	const unsigned int moves = IBSA_PORT_CHANGE_STATE |
				   IBSA_PORT_CHANGE_LID | IBSA_PORT_CHANGE_SM |
				   IBSA_PORT_CHANGE_GID |
				   IBSA_PORT_CHANGE_REREGISTER;

	if (changes & moves &&
	    (!all->is_ahead || state_is_move(&all->port, now)))
		all->moves++;
	all->is_ahead = false;
	all->port = *now;
}

static unsigned int spread_ms_for(uint64_t count)
{
	const uint64_t ms = count * SPREAD_EACH_MS;

	if (ms < SPREAD_MS)
		return SPREAD_MS;
	return ms < SPREAD_MAX_MS ? (unsigned int)ms : SPREAD_MAX_MS;
}

/*
 * Let each registration start its next step soon: the available time is
 * divided into as many parts as there are registrations, and each starts at a
 * random moment of its part.
 */
static void registrations_hasten(struct ibsa__registrations *all)
{
	struct ibsa__registration *registration;
	uint64_t count = 0, part = 0;

	LIST_EACH(registration, &all->list, link)
		count++;
	all->spread_ms = spread_ms_for(count);
	LIST_EACH(registration, &all->list, link) {
		const uint64_t from_ms = all->spread_ms * part++ / count;
		const uint64_t to_ms = all->spread_ms * part / count;
		uint64_t ms = from_ms;

		if (to_ms > from_ms)
			ms += ibsa__engine_random(all->engine, to_ms - from_ms);
		registration_hasten(registration, ms);
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

static void registrations_on_port(unsigned int changes,
				  const struct ibsa_port_state *now, void *arg)
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
	};
	list_init(&all->list);
}

int ibsa__registrations_start(struct ibsa__registrations *all)
{
	if (all->watch)
		return 0;
	all->is_ahead = false;
	(void)!ibsa__engine_port(all->engine, false, &all->port);
	return ibsa__engine_watch(all->engine, 0, registrations_on_port, all,
				  &all->watch);
}

void ibsa__registrations_stop(struct ibsa__registrations *all)
{
	ibsa__engine_unwatch(all->watch);
	all->watch = NULL;
}

void ibsa__registration_add(struct ibsa__registration *registration)
{
	list_append(&registration->all->list, &registration->link);
}

void ibsa__registration_remove(struct ibsa__registration *registration)
{
	ibsa__alarm_cancel(registration->all->engine, &registration->alarm);
	list_remove(&registration->link);
}

void ibsa__registration_cancel(struct ibsa__registration *registration)
{
	ibsa__alarm_cancel(registration->all->engine, &registration->alarm);
	if (registration->query_id)
		ibsa__engine_cancel(registration->all->engine,
				    registration->query_id);
}

static void registration_released(struct ibsa__registration *registration,
				  int err, uint16_t status)
{
	ibsa__registration_remove(registration);
	registration->is_registered = false;
	registration->may_be_at_sa = false;
	registration->ops->released(registration, err, status);
}

static void registration_delete(struct ibsa__registration *registration)
{
	int err = 0;

	registration->step = IBSA__STEP_DELETE;
	if (registration->may_be_at_sa)
		err = registration->ops->delete (registration);
	if (!registration->may_be_at_sa || err)
		registration_released(registration, err, 0);
}

void ibsa__registration_step(struct ibsa__registration *registration,
			     enum ibsa__registration_step step)
{
	int err;

	registration->step = step;
	err = step == IBSA__STEP_SET ? registration->ops->set(registration)
				     : registration->ops->read(registration);
	if (err)
		registration->ops->answered(registration,
					    &(struct ibsa_reply){ .err = err });
}

static void registration_on_alarm(struct ibsa__alarm *alarm)
{
	struct ibsa__registration *registration =
		list_object(alarm, struct ibsa__registration, alarm);

	registration->is_routine = false;
	if (registration->releasing)
		registration_delete(registration);
	else
		ibsa__registration_step(registration, registration->step);
}

void ibsa__registration_init(struct ibsa__registration *registration,
			     struct ibsa__registrations *all,
			     const struct ibsa__registration_ops *ops)
{
	*registration = (struct ibsa__registration){
		.all = all,
		.ops = ops,
		.renew_ns = UINT64_MAX,
		.audit_ms = IBSA_DEFAULT_AUDIT_MS,
		.retry_max_ms = RETRY_MAX_MS,
	};
	list_init(&registration->link);
	ibsa__alarm_init(&registration->alarm, registration_on_alarm);
}

/*
 * Whether the SA has deleted a registration whose Delete was sent more than once,
 * although it refuses the last try: an earlier try was carried out, and its
 * reply was lost.
 */
static bool reply_tells_deleted(const struct ibsa_reply *reply)
{
	return !reply->err && reply->tries > 1 &&
	       (reply->status == IBSA_STATUS_REQ_INVALID ||
		reply->status == IBSA_STATUS_NO_RECORDS);
}

static void registration_on_reply(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa__registration *registration = arg;

	registration->query_id = 0;
	if (registration->step == IBSA__STEP_DELETE &&
	    reply_tells_deleted(reply))
		registration_released(registration, 0, 0);
	else if (registration->step == IBSA__STEP_DELETE)
		registration_released(registration, reply->err, reply->status);
	else if (registration->releasing)
		registration_delete(registration);
	else
		registration->ops->answered(registration, reply);
}

int ibsa__registration_query(struct ibsa__registration *registration,
			     const struct ibsa_query *query)
{
	struct ibsa_query limited = *query;
	int err;

	limited.deadline_ms = registration->deadline_ms;
	limited.queue_ms = QUEUE_MS;
	if (registration->all->closing) {
		limited.deadline_ms = LAST_DEADLINE_MS;
		limited.queue_ms = 0;
	}
	err = ibsa__engine_query(registration->all->engine, &limited,
				 registration_on_reply, registration,
				 &registration->query_id);
	if (!err && registration->step == IBSA__STEP_SET) {
		registration->may_be_at_sa = true;
		registration->moves = registration->all->moves;
	}
	return err;
}

/*
 * Schedule the next read of a registration a random time before its interval
 * ends, so that clients which started together drift apart.
 */
static void
registration_schedule_routine(struct ibsa__registration *registration)
{
	const uint64_t early_ms =
		ibsa__engine_random(registration->all->engine,
				    registration->audit_ms / 8 + UINT64_C(1));
	const uint64_t now = registration_now_ns(registration);
	uint64_t due = registration->read_ns +
		       (registration->audit_ms - early_ms) * NS_PER_MS;

	if (due > registration->renew_ns)
		due = registration->renew_ns;
	ibsa__registration_schedule(registration, IBSA__STEP_READ,
				    due > now ? (due - now) / NS_PER_MS : 0);
	registration->is_routine = true;
}

void ibsa__registration_read_next(struct ibsa__registration *registration)
{
	registration->read_ns = registration_now_ns(registration);
	registration_schedule_routine(registration);
}

void ibsa__registration_audit_ms_set(struct ibsa__registration *registration,
				     unsigned int audit_ms)
{
	registration->audit_ms = audit_ms;
	if (registration->is_routine)
		registration_schedule_routine(registration);
}

/*
 * Return: the time at which to renew a registration: after half of its lease,
 * so that the other half is left for retries.
 */
static uint64_t lease_renewal_ns(const struct ibsa__registration *registration,
				 uint32_t lease_s)
{
	if (lease_s == IBSA_LEASE_INFINITE)
		return UINT64_MAX;
	return registration_now_ns(registration) + lease_s * (NS_PER_S / 2);
}

void ibsa__registration_set_done(struct ibsa__registration *registration,
				 uint32_t lease_s)
{
	registration->renew_ns = lease_renewal_ns(registration, lease_s);
	if (registration->is_registered) {
		ibsa__registration_read_next(registration);
		return;
	}
	registration->is_fresh = true;
	ibsa__registration_step(registration, IBSA__STEP_READ);
}

static void registration_trouble_clear(struct ibsa__registration *registration)
{
	registration->is_troubled = false;
	registration->is_fresh = false;
	registration->err = 0;
	registration->status = 0;
}

void ibsa__registration_succeeded(struct ibsa__registration *registration)
{
	registration_trouble_clear(registration);
	registration->failures = 0;
	registration->moves = registration->all->moves;
	registration->is_registered = true;
}

bool ibsa__registration_present(struct ibsa__registration *registration)
{
	const bool was_registered = registration->is_registered;

	if (!registration->is_fresh)
		registration->disputes = 0;
	ibsa__registration_succeeded(registration);
	if (registration_now_ns(registration) >= registration->renew_ns)
		ibsa__registration_schedule(registration, IBSA__STEP_SET, 0);
	else
		ibsa__registration_read_next(registration);
	return !was_registered;
}

static void registration_set_again(struct ibsa__registration *registration,
				   uint64_t ms)
{
	registration_trouble_clear(registration);
	registration->is_registered = false;
	registration->is_stale = false;
	ibsa__registration_schedule(registration, IBSA__STEP_SET, ms);
}

void ibsa__registration_dispute(struct ibsa__registration *registration)
{
	uint64_t ms = 0;

	if (registration->disputes)
		ms = registration_back_off(registration, DISPUTE_MS,
					   registration->disputes - 1,
					   DISPUTE_MAX_MS);
	registration->disputes++;
	registration_set_again(registration, ms);
}

/*
 * The SA does not have the registration. If the SM has restarted or moved
 * since the registration was last confirmed, the SA has lost it, and no other
 * program has removed it.
 */
bool ibsa__registration_absent(struct ibsa__registration *registration)
{
	registration->step = IBSA__STEP_SET;
	if (registrations_moves(registration->all) != registration->moves)
		registration_set_again(registration, 0);
	else if (registration->is_fresh)
		return false;
	else
		ibsa__registration_dispute(registration);
	registration->ops->lost(registration);
	return true;
}

static uint64_t registration_retry_ms(struct ibsa__registration *registration)
{
	if (registration->is_refused)
		return registration_back_off(registration, REFUSED_MS,
					     registration->failures++,
					     REFUSED_MAX_MS);
	return registration_back_off(registration, RETRY_MS,
				     registration->failures++,
				     registration->retry_max_ms);
}

/*
 * Retry after a failure. The next step is a read if the registration was
 * confirmed before, otherwise the failed step.
 */
bool ibsa__registration_retry(struct ibsa__registration *registration, int err,
			      uint16_t status, bool refused)
{
	const bool is_told = registration->is_troubled &&
			     registration->err == err &&
			     registration->status == status;
	const enum ibsa__registration_step step = registration->is_registered
							  ? IBSA__STEP_READ
							  : registration->step;

	if (registration->is_troubled && refused != registration->is_refused)
		registration->failures = 0;
	registration->is_registered = false;
	registration->is_fresh = false;
	registration->is_troubled = true;
	registration->is_refused = refused;
	registration->err = err;
	registration->status = status;
	ibsa__registration_schedule(registration, step,
				    registration_retry_ms(registration));
	return !is_told;
}

bool ibsa__registration_failed(struct ibsa__registration *registration, int err,
			       uint16_t status)
{
	return ibsa__registration_retry(registration, err, status,
					is_refusal(err, status));
}

void ibsa__registration_release(struct ibsa__registration *registration)
{
	registration->releasing = true;
	if (!registration->query_id)
		ibsa__alarm_set(registration->all->engine, &registration->alarm,
				0);
	else if (registration->step == IBSA__STEP_READ ||
		 (registration->step == IBSA__STEP_SET &&
		  registration->all->closing))
		ibsa__engine_cancel(registration->all->engine,
				    registration->query_id);
}

void ibsa__registrations_close(struct ibsa__registrations *all)
{
	struct ibsa__registration *registration;

	all->closing = true;
	LIST_EACH(registration, &all->list, link)
		ibsa__registration_release(registration);
}

/*
 * End all registrations without a request in flight.
 * ibsa__registrations_close() has marked all as being released, so that
 * callbacks do not change the list.
 */
void ibsa__registrations_end(struct ibsa__registrations *all)
{
	struct ibsa__registration *registration, *next;

	ibsa__engine_enter(all->engine);
	LIST_EACH_SAFE(registration, next, &all->list, link) {
		if (!registration->query_id)
			registration_released(registration, -ECANCELED, 0);
	}
	ibsa__engine_leave(all->engine);
}
