/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subscriptions at the SA, from the first Set to the last, and the reading in
 * between that tells whether they are still there.
 *
 * One subscription takes every trap of one type of producer. Source: IBA vol
 * 1, 13.4.8.3 (InformInfo) and 15.2.5.12 (InformInfoRecord).
 */
#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "event/state.h"

enum {
	ANY = 0xffff,	 /* type of notice, trap number, first LID */
	RESP_TIME = 19,	 /* 2.1 s; it is part of a subscription's identity */
	RETRY_MS = 1000, /* after a failure, doubling up to */
	RETRY_MAX_MS = 60 * 1000,
	REFUSED_MS = 60 * 1000, /* after a refusal, doubling up to */
	REFUSED_MAX_MS = 900 * 1000,
	LAST_DEADLINE_MS = 1500, /* while the client closes */
};

static void on_subscribed(const struct ibsa_reply *reply, void *arg);
static void on_unsubscribed(const struct ibsa_reply *reply, void *arg);
static void on_read(const struct ibsa_reply *reply, void *arg);

static uint64_t below(struct ibsa__events *events, uint64_t limit)
{
	return ibsa__engine_random(events->engine, limit);
}

/* @ms, doubled @times, up to @max_ms; a quarter of it is random. */
static unsigned int back_off(struct ibsa__events *events, uint64_t ms,
			     unsigned int times, uint64_t max_ms)
{
	while (times-- && ms < max_ms)
		ms *= 2;
	ms = ms < max_ms ? ms : max_ms;
	return (unsigned int)(ms - below(events, ms / 4));
}

unsigned int ibsa__events_back_off(struct ibsa__events *events, bool refused,
				   unsigned int failures)
{
	return refused ? back_off(events, REFUSED_MS, failures, REFUSED_MAX_MS)
		       : back_off(events, RETRY_MS, failures, RETRY_MAX_MS);
}

static void plan(struct ibsa__subscription *one, unsigned int ms)
{
	ibsa__alarm_set(one->events->engine, &one->alarm, ms);
}

static void plan_audit(struct ibsa__events *events, unsigned int ms)
{
	events->is_routine = false;
	if (!events->audit_id)
		ibsa__alarm_set(events->engine, &events->audit, ms);
}

/* A little less than the interval after the last one, so that clients which
 * began together do not stay together. */
static void fit_audit(struct ibsa__events *events)
{
	const uint64_t now_ns = ibsa__engine_now_ns(events->engine);
	const uint64_t passed = (now_ns - events->audit_ns) / NS_PER_MS;
	const uint64_t ms = events->audit_ms -
			    below(events, events->audit_ms / 8 + UINT64_C(1));

	plan_audit(events, ms > passed ? (unsigned int)(ms - passed) : 0);
	events->is_routine = true;
}

static void plan_next_audit(struct ibsa__events *events)
{
	events->audit_ns = ibsa__engine_now_ns(events->engine);
	fit_audit(events);
}

static unsigned int bit_of(const struct ibsa__subscription *one)
{
	return 1u << one->producer;
}

/* The SA does not have it any more, or perhaps not. */
static void drop(struct ibsa__subscription *one)
{
	if (one->held)
		ibsa__events_gap(one->events, bit_of(one));
	one->held = false;
	one->is_fresh = false;
}

/* Whether some are not yet set that soon will be. */
static bool is_setting(const struct ibsa__events *events)
{
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		const struct ibsa__subscription *one =
			&events->subscriptions[i];

		if (one->wanted && !one->held && !one->is_troubled)
			return true;
	}
	return false;
}

static bool holds_any(const struct ibsa__events *events)
{
	bool held = false;

	for (int i = 0; i < IBSA__PRODUCERS; i++)
		held = held || events->subscriptions[i].held;
	return held;
}

/* Read what was set, unless more will be soon; once, and then regularly. */
static void begin_audit(struct ibsa__events *events)
{
	if (!events->audit.timer.armed && !is_setting(events) &&
	    holds_any(events))
		plan_audit(events, 0);
}

/* A step came to nothing; another is tried later. */
static void failed(struct ibsa__subscription *one, int err, uint16_t status)
{
	const bool refused = is_refusal(err, status);

	drop(one);
	/* How long the SA was silent says nothing of when to ask it again
	 * after it has said no. */
	if (one->is_troubled && refused != is_refusal(one->err, one->status))
		one->failures = 0;
	one->is_troubled = true;
	one->err = err;
	one->status = status;
	plan(one, ibsa__events_back_off(one->events, refused, one->failures++));
	begin_audit(one->events);
}

/* Send a Set. Return: as ibsa_query(). */
static int set(struct ibsa__subscription *one, bool subscribe,
	       ibsa_reply_fn done)
{
	const struct ibsa__events *events = one->events;
	const struct ibsa_inform_info info = {
		.lid_range_begin = ANY,
		.is_generic = 1,
		.subscribe = subscribe,
		.type = ANY,
		.trap_number = ANY,
		/* The SA knows who asks; who leaves has to say it. */
		.qpn = subscribe ? 0 : IBSA_QPN_GSI,
		.resp_time_value = RESP_TIME,
		.producer_type = one->producer,
	};
	const struct ibsa_query query = {
		.record = &ibsa_inform_info_record,
		.match = &info,
		.mask = IBSA_INFORM_INFO_CM(lid_range_begin) |
			IBSA_INFORM_INFO_CM(is_generic) |
			IBSA_INFORM_INFO_CM(subscribe) |
			IBSA_INFORM_INFO_CM(type) |
			IBSA_INFORM_INFO_CM(trap_number) |
			(subscribe ? 0 : IBSA_INFORM_INFO_CM(qpn)) |
			IBSA_INFORM_INFO_CM(resp_time_value) |
			IBSA_INFORM_INFO_CM(producer_type),
		.method = IBSA_METHOD_SET,
		.deadline_ms = events->closing ? LAST_DEADLINE_MS
					       : events->deadline_ms,
	};

	return ibsa__engine_query(events->engine, &query, done, one,
				  &one->query_id);
}

static void subscribe(struct ibsa__subscription *one)
{
	struct ibsa__events *events = one->events;
	int err = ibsa__engine_listen(events->engine, &events->listener);

	if (!err)
		err = set(one, true, on_subscribed);
	if (err)
		failed(one, err, 0);
	else
		one->is_out = true;
}

/* The first that goes wrong is what the watches are told at the end. */
static void note_end(struct ibsa__events *events, int err, uint16_t status)
{
	if (events->end_err || (!err && (!status || events->end_status)))
		return;
	events->end_err = err;
	events->end_status = status;
}

static void gone(struct ibsa__subscription *one, int err, uint16_t status)
{
	one->is_out = false;
	one->is_troubled = false;
	one->failures = 0;
	if (one->events->closing)
		note_end(one->events, err, status);
	if (one->wanted)
		plan(one, 0);
	else
		ibsa__events_rest(one->events);
}

static void unsubscribe(struct ibsa__subscription *one)
{
	int err;

	drop(one);
	err = set(one, false, on_unsubscribed);
	if (err)
		gone(one, err, 0);
}

static void on_unsubscribed(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa__subscription *one = arg;

	one->query_id = 0;
	if (!one->events->is_over)
		gone(one, reply->err, reply->status);
}

static void take_step(struct ibsa__subscription *one)
{
	if (!one->wanted) {
		if (one->is_out)
			unsubscribe(one);
		return;
	}
	if (!one->events->is_down && !one->held)
		subscribe(one);
}

static void on_alarm(struct ibsa__alarm *alarm)
{
	struct ibsa__subscription *one =
		list_object(alarm, struct ibsa__subscription, alarm);

	take_step(one);
	ibsa__events_announce(one->events);
}

static void present(struct ibsa__subscription *one)
{
	struct ibsa__events *events = one->events;

	one->is_fresh = !one->held;
	one->held = true;
	if (one->is_fresh)
		ibsa__node_audit_soon(events);
	one->is_troubled = false;
	one->failures = 0;
	events->is_unsure = false;
	if (!events->reads)
		plan_next_audit(events);
	else if (!is_setting(events))
		plan_audit(events, 0);
}

static void on_subscribed(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa__subscription *one = arg;
	struct ibsa__events *events = one->events;

	one->query_id = 0;
	if (events->is_over)
		return;
	if (!one->wanted) {
		take_step(one);
	} else if (one->is_stale) {
		one->is_stale = false;
		plan(one, (unsigned int)below(events, SOON_MS));
	} else if (reply->err || reply->status) {
		failed(one, reply->err, reply->status);
	} else {
		present(one);
	}
	ibsa__events_announce(events);
}

/* An SA that does not show what it has is asked for it anew each time. */
static void refresh(struct ibsa__events *events)
{
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *one = &events->subscriptions[i];

		if (one->held && !one->query_id)
			subscribe(one);
	}
	plan_next_audit(events);
}

static void audit_failed(struct ibsa__events *events, int err, uint16_t status)
{
	events->is_troubled = true;
	events->err = err;
	events->status = status;
	ibsa__events_gap(events, UINT_MAX);
	plan_audit(events,
		   ibsa__events_back_off(events, false, events->failures++));
}

/* Read all subscriptions of this port. */
static void audit(struct ibsa__events *events)
{
	struct ibsa_inform_info_rec match = { .subscriber_enum = 0 };
	const struct ibsa_query query = {
		.record = &ibsa_inform_info_rec_record,
		.match = &match,
		.mask = IBSA_INFORM_INFO_REC_CM(subscriber_gid),
		.method = IBSA_METHOD_GET_TABLE,
		.deadline_ms = events->deadline_ms,
	};
	struct ibsa_port_state port;
	int err = ibsa__engine_listen(events->engine, &events->listener);

	if (!err)
		err = ibsa__engine_port(events->engine, false, &port);
	if (!err) {
		match.subscriber_gid = port.gid;
		err = ibsa__engine_query(events->engine, &query, on_read,
					 events, &events->audit_id);
	}
	if (err) {
		audit_failed(events, err, 0);
		return;
	}
	for (int i = 0; i < IBSA__PRODUCERS; i++)
		events->subscriptions[i].is_read =
			events->subscriptions[i].held;
}

static void on_audit(struct ibsa__alarm *alarm)
{
	struct ibsa__events *events = list_object(alarm, struct ibsa__events,
						  audit);

	if (!holds_any(events))
		return;
	if (events->reads)
		audit(events);
	else
		refresh(events);
	ibsa__events_announce(events);
}

/* The QPN is shown to few; resp_time_value is as we sent it. */
static bool is_mine(const struct ibsa__subscription *one,
		    const struct ibsa_inform_info_rec *other)
{
	static const struct ibsa_gid none;

	return other->producer_type == one->producer &&
	       other->is_generic == 1 && other->type == ANY &&
	       other->trap_number == ANY && other->lid_range_begin == ANY &&
	       (!other->qpn || other->qpn == IBSA_QPN_GSI) &&
	       !memcmp(&other->gid, &none, sizeof(none));
}

static bool is_there(const struct ibsa__subscription *one,
		     const struct ibsa_reply *reply)
{
	struct ibsa_inform_info_rec other;

	for (size_t i = 0; i < reply->count; i++) {
		if (!ibsa_reply_decode(reply, i, &other) &&
		    is_mine(one, &other))
			return true;
	}
	return false;
}

/* One that is not there though it was just set is not shown to us. */
static void compare(struct ibsa__events *events, const struct ibsa_reply *reply)
{
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *one = &events->subscriptions[i];

		if (!one->held || !one->is_read)
			continue;
		if (is_there(one, reply)) {
			one->is_fresh = false;
		} else if (one->is_fresh) {
			events->reads = false;
		} else {
			drop(one);
			plan(one, 0);
		}
	}
}

/* What it means that the SA is silent or busy is known; any other answer
 * than a table says that it does not answer this. */
static bool is_passing(const struct ibsa_reply *reply)
{
	switch (reply->err) {
	case 0:
		return reply->status & IBSA_STATUS_BUSY ||
		       reply->status == IBSA_STATUS_NO_RESOURCES;
	case -EPROTO:
	case -EMSGSIZE:
	case -ENODATA:
		return false;
	default:
		return true;
	}
}

static void take_reading(struct ibsa__events *events,
			 const struct ibsa_reply *reply)
{
	const bool is_table = !reply->err &&
			      (!reply->status ||
			       reply->status == IBSA_STATUS_NO_RECORDS);

	if (!is_table && is_passing(reply)) {
		audit_failed(events, reply->err, reply->status);
		return;
	}
	events->is_troubled = false;
	events->failures = 0;
	if (is_table) {
		events->is_unsure = false;
		compare(events, reply);
		plan_next_audit(events);
	} else {
		events->reads = false;
		refresh(events);
	}
}

static void on_read(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa__events *events = arg;

	events->audit_id = 0;
	if (events->is_over || events->closing || !holds_any(events))
		return;
	if (events->is_stale)
		plan_audit(events, (unsigned int)below(events, SOON_MS));
	else
		take_reading(events, reply);
	events->is_stale = false;
	ibsa__events_announce(events);
}

void ibsa__subscriptions_init(struct ibsa__events *events)
{
	ibsa__alarm_init(&events->audit, on_audit);
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *one = &events->subscriptions[i];

		one->events = events;
		one->producer = (uint8_t)(i + 1);
		ibsa__alarm_init(&one->alarm, on_alarm);
	}
}

void ibsa__subscriptions_reset(struct ibsa__events *events)
{
	events->reads = true;
	events->failures = 0;
	events->is_troubled = false;
	events->is_stale = events->audit_id;
}

void ibsa__subscriptions_want(struct ibsa__events *events,
			      unsigned int producers)
{
	const bool held = holds_any(events);

	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *one = &events->subscriptions[i];
		const bool was_wanted = one->wanted;

		one->wanted = producers & bit_of(one);
		if (one->wanted != was_wanted && !one->query_id)
			plan(one, 0);
	}
	if (!producers)
		ibsa__alarm_cancel(events->engine, &events->audit);
	else if (held && events->is_routine)
		fit_audit(events);
	if (!producers)
		ibsa__events_rest(events);
}

void ibsa__subscriptions_renew(struct ibsa__events *events)
{
	ibsa__subscriptions_reset(events);
	ibsa__node_audit_soon(events);
	ibsa__history_forget(events->history);
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *one = &events->subscriptions[i];

		drop(one);
		one->failures = 0;
		if (!one->wanted)
			continue;
		one->is_stale = one->query_id;
		if (!one->query_id)
			plan(one, (unsigned int)below(events, SOON_MS));
	}
}

void ibsa__subscriptions_check(struct ibsa__events *events)
{
	if (events->is_unsure)
		return;
	events->is_unsure = true;
	events->is_stale = events->audit_id;
	plan_audit(events, (unsigned int)below(events, SOON_MS));
}

void ibsa__subscriptions_close(struct ibsa__events *events)
{
	if (events->audit_id)
		ibsa__engine_cancel(events->engine, events->audit_id);
	ibsa__alarm_cancel(events->engine, &events->audit);
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *one = &events->subscriptions[i];

		if (one->is_out && !one->query_id)
			plan(one, 0);
		else if (one->wanted && one->query_id)
			ibsa__engine_cancel(events->engine, one->query_id);
		one->wanted = false;
	}
}
