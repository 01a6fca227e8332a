/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets subscriptions at the SA, reads them back at intervals, and deletes
 * them.
 *
 * One subscription covers all traps of one producer type. Source: IBA vol 1,
 * 13.4.8.3 (InformInfo) and 15.2.5.12 (InformInfoRecord).
 */
#include <errno.h>
#include <limits.h>

#include "event/state.h"
#include "wire/gid.h"

enum {
	ANY = 0xffff, /* stands for all notice types, trap numbers or LIDs */
	/*
	 * RespTimeValue of the subscriptions: the code of 2.1 s. The SA
	 * compares it, so the Set that unsubscribes must have the same value.
	 */
	RESP_TIME = 19,
};

static struct ibsa__subscription *
subscription_of(struct ibsa__registration *registration)
{
	return list_object(registration, struct ibsa__subscription,
			   registration);
}

static unsigned int
subscription_bit(const struct ibsa__subscription *subscription)
{
	return 1u << subscription->producer;
}

/* Note that the SA may have lost this subscription. */
static void subscription_lost(struct ibsa__subscription *subscription)
{
	if (subscription->registration.is_registered)
		ibsa__events_gap(subscription->events,
				 subscription_bit(subscription));
	subscription->registration.is_registered = false;
	subscription->registration.is_fresh = false;
}

/*
 * The SA no longer has this subscription, or does not confirm it: the SA may have
 * restarted, and number its Reports anew.
 */
static void subscription_missing(struct ibsa__subscription *subscription)
{
	if (subscription->registration.is_registered)
		ibsa__history_forget(subscription->events->history);
	subscription_lost(subscription);
}

/*
 * Whether at least one subscription that a watch needs is not set yet, and its
 * last request did not fail.
 */
static bool subscriptions_are_pending(const struct ibsa__events *events)
{
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		const struct ibsa__subscription *subscription =
			&events->subscriptions[i];

		if (subscription->wanted &&
		    !subscription->registration.is_registered &&
		    !subscription->registration.is_troubled)
			return true;
	}
	return false;
}

static bool subscriptions_hold_any(const struct ibsa__events *events)
{
	bool held = false;

	for (int i = 0; i < IBSA__PRODUCERS; i++)
		held = held ||
		       events->subscriptions[i].registration.is_registered;
	return held;
}

/*
 * Start the regular reads of the subscriptions when each needed subscription is
 * set or has failed, and at least one is set.
 */
static void audit_start(struct ibsa__events *events)
{
	if (!events->audit.alarm.timer.armed &&
	    !subscriptions_are_pending(events) &&
	    subscriptions_hold_any(events))
		ibsa__registration_schedule(&events->audit, IBSA__STEP_READ, 0);
}

static void subscription_failed(struct ibsa__subscription *subscription,
				int err, uint16_t status)
{
	subscription_missing(subscription);
	ibsa__registration_failed(&subscription->registration, err, status);
	audit_start(subscription->events);
}

static int inform_info_set(struct ibsa__subscription *subscription,
			   bool subscribe)
{
	const struct ibsa_inform_info info = {
		.lid_range_begin = ANY,
		.is_generic = 1,
		.subscribe = subscribe,
		.type = ANY,
		.trap_number = ANY,
		/*
		 * To subscribe, the SA takes the QPN from the sender of the
		 * Set; the Set that unsubscribes must contain the QPN.
		 */
		.qpn = subscribe ? 0 : IBSA_QPN_GSI,
		.resp_time_value = RESP_TIME,
		.producer_type = subscription->producer,
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
	};

	subscription->registration.deadline_ms =
		subscription->events->deadline_ms;
	return ibsa__registration_query(&subscription->registration, &query);
}

/*
 * Send the Set of a subscription. While the port is down, send nothing and
 * wait for the next change of the port.
 */
static int subscription_set(struct ibsa__registration *registration)
{
	struct ibsa__subscription *subscription = subscription_of(registration);
	struct ibsa__events *events = subscription->events;
	int err;

	if (events->is_down)
		return 0;
	err = ibsa__engine_listen(events->engine, &events->listener);
	return err ? err : inform_info_set(subscription, true);
}

static int subscription_delete(struct ibsa__registration *registration)
{
	struct ibsa__subscription *subscription = subscription_of(registration);

	subscription_lost(subscription);
	return inform_info_set(subscription, false);
}

static void subscription_succeeded(struct ibsa__subscription *subscription)
{
	struct ibsa__events *events = subscription->events;
	const bool is_new = !subscription->registration.is_registered;

	ibsa__registration_succeeded(&subscription->registration);
	subscription->registration.is_fresh = is_new;
	if (is_new)
		ibsa__node_audit_soon(events);
	events->needs_read = false;
	if (!events->can_read)
		ibsa__registration_read_next(&events->audit);
	else if (!subscriptions_are_pending(events))
		ibsa__registration_schedule(&events->audit, IBSA__STEP_READ, 0);
}

static void subscription_answered(struct ibsa__registration *registration,
				  const struct ibsa_reply *reply)
{
	struct ibsa__subscription *subscription = subscription_of(registration);

	if (subscription->events->has_ended)
		return;
	if (registration->is_stale)
		ibsa__registration_schedule(registration, IBSA__STEP_SET,
					    UINT64_MAX);
	else if (reply->err || reply->status)
		subscription_failed(subscription, reply->err, reply->status);
	else
		subscription_succeeded(subscription);
	ibsa__events_state_report(subscription->events);
}

/*
 * Store the error that the event IBSA_EVENT_ENDED reports: the first error,
 * except that an errno replaces a status.
 */
static void events_end_error_set(struct ibsa__events *events, int err,
				 uint16_t status)
{
	if (events->end_err || (!err && (!status || events->end_status)))
		return;
	events->end_err = err;
	events->end_status = status;
}

static void subscription_begin(struct ibsa__subscription *subscription);

/*
 * The subscription was deleted at the SA. If a watch needs it again by now,
 * set it again.
 */
static void subscription_released(struct ibsa__registration *registration,
				  int err, uint16_t status)
{
	struct ibsa__subscription *subscription = subscription_of(registration);
	struct ibsa__events *events = subscription->events;

	if (events->has_ended)
		return;
	if (events->registrations.closing)
		events_end_error_set(events, err, status);
	if (subscription->wanted)
		subscription_begin(subscription);
	else
		ibsa__events_idle_release(events);
}

static void subscription_init(struct ibsa__subscription *subscription)
{
	static const struct ibsa__registration_ops ops = {
		.set = subscription_set,
		.delete = subscription_delete,
		.answered = subscription_answered,
		.released = subscription_released,
	};

	ibsa__registration_init(&subscription->registration,
				&subscription->events->registrations, &ops);
}

static void subscription_begin(struct ibsa__subscription *subscription)
{
	subscription_init(subscription);
	ibsa__registration_add(&subscription->registration);
	ibsa__registration_schedule(&subscription->registration, IBSA__STEP_SET,
				    0);
}

/*
 * The SA does not return subscriptions when they are read: set them again at
 * each interval instead.
 */
static void subscriptions_refresh(struct ibsa__events *events)
{
	ibsa__registration_read_next(&events->audit);
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__registration *registration =
			&events->subscriptions[i].registration;

		if (registration->is_registered && !registration->query_id &&
		    !registration->releasing)
			ibsa__registration_step(registration, IBSA__STEP_SET);
	}
}

/*
 * Reading the subscriptions failed with a temporary error: retry it, and
 * report a GAP, because the SA may have lost the subscriptions.
 */
static void audit_failed(struct ibsa__events *events, int err, uint16_t status)
{
	ibsa__events_gap(events, UINT_MAX);
	ibsa__registration_retry(&events->audit, err, status, false);
}

static struct ibsa__events *audit_events(struct ibsa__registration *audit)
{
	return list_object(audit, struct ibsa__events, audit);
}

static int audit_query(struct ibsa__events *events)
{
	struct ibsa_inform_info_rec match = { .subscriber_enum = 0 };
	const struct ibsa_query query = {
		.record = &ibsa_inform_info_rec_record,
		.match = &match,
		.mask = IBSA_INFORM_INFO_REC_CM(subscriber_gid),
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct ibsa_port_state port;
	int err = ibsa__engine_listen(events->engine, &events->listener);

	if (!err)
		err = ibsa__engine_port(events->engine, false, &port);
	if (err)
		return err;
	match.subscriber_gid = port.gid;
	events->audit.deadline_ms = events->deadline_ms;
	err = ibsa__registration_query(&events->audit, &query);
	for (int i = 0; i < IBSA__PRODUCERS && !err; i++) {
		struct ibsa__subscription *subscription =
			&events->subscriptions[i];

		subscription->is_read =
			subscription->registration.is_registered;
	}
	return err;
}

static int audit_read(struct ibsa__registration *registration)
{
	struct ibsa__events *events = audit_events(registration);

	if (!subscriptions_hold_any(events))
		return 0;
	if (events->can_read)
		return audit_query(events);
	subscriptions_refresh(events);
	return 0;
}

/*
 * Whether the record @other of the SA is @subscription. The SA returns the QPN
 * to trusted requests only, and may return its own value of resp_time_value.
 */
static bool is_same_subscription(const struct ibsa__subscription *subscription,
				 const struct ibsa_inform_info_rec *other)
{
	return other->producer_type == subscription->producer &&
	       other->is_generic == 1 && other->type == ANY &&
	       other->trap_number == ANY && other->lid_range_begin == ANY &&
	       (!other->qpn || other->qpn == IBSA_QPN_GSI) &&
	       gid_is_zero(&other->gid);
}

static bool
reply_has_subscription(const struct ibsa__subscription *subscription,
		       const struct ibsa_reply *reply)
{
	struct ibsa_inform_info_rec other;

	for (size_t i = 0; i < reply->count; i++) {
		if (!ibsa_reply_decode(reply, i, &other, sizeof(other)) &&
		    is_same_subscription(subscription, &other))
			return true;
	}
	return false;
}

/*
 * Compare the subscriptions with the SA's table of InformInfoRecords. If a
 * subscription is missing that was just set, assume that the SA does not return
 * subscriptions; set any other missing subscription again.
 */
static void audit_compare(struct ibsa__events *events,
			  const struct ibsa_reply *reply)
{
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *subscription =
			&events->subscriptions[i];
		struct ibsa__registration *registration =
			&subscription->registration;

		if (!registration->is_registered || !subscription->is_read)
			continue;
		if (reply_has_subscription(subscription, reply)) {
			registration->is_fresh = false;
		} else if (registration->is_fresh) {
			events->can_read = false;
		} else {
			subscription_missing(subscription);
			ibsa__registration_schedule(registration,
						    IBSA__STEP_SET, 0);
		}
	}
}

/*
 * Whether reading the subscriptions may succeed later: the SA does not reply,
 * is busy or has no resources. Any other reply that is not a table means that
 * the SA does not support the read.
 */
static bool audit_is_temporary(const struct ibsa_reply *reply)
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

static void audit_reply_apply(struct ibsa__events *events,
			      const struct ibsa_reply *reply)
{
	const bool is_table = !reply->err &&
			      (!reply->status ||
			       reply->status == IBSA_STATUS_NO_RECORDS);

	if (!is_table && audit_is_temporary(reply)) {
		audit_failed(events, reply->err, reply->status);
		return;
	}
	ibsa__registration_present(&events->audit);
	if (is_table) {
		events->needs_read = false;
		audit_compare(events, reply);
	} else {
		events->can_read = false;
		subscriptions_refresh(events);
	}
}

static void audit_answered(struct ibsa__registration *registration,
			   const struct ibsa_reply *reply)
{
	struct ibsa__events *events = audit_events(registration);

	if (events->has_ended || events->registrations.closing ||
	    !subscriptions_hold_any(events))
		return;
	if (registration->is_stale)
		ibsa__registration_schedule(registration, IBSA__STEP_READ,
					    UINT64_MAX);
	else
		audit_reply_apply(events, reply);
	ibsa__events_state_report(events);
}

void ibsa__subscriptions_init(struct ibsa__events *events)
{
	static const struct ibsa__registration_ops ops = {
		.read = audit_read,
		.answered = audit_answered,
	};

	ibsa__registration_init(&events->audit, &events->registrations, &ops);
	events->audit.step = IBSA__STEP_READ;
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *subscription =
			&events->subscriptions[i];

		subscription->events = events;
		subscription->producer = (uint8_t)(i + 1);
		subscription_init(subscription);
	}
}

void ibsa__subscriptions_reset(struct ibsa__events *events)
{
	events->can_read = true;
	events->audit.failures = 0;
	events->audit.is_troubled = false;
	events->audit.is_stale = events->audit.query_id;
}

/*
 * Set @subscription at the SA, because a watch needs it. If @subscription is
 * being deleted, subscription_released() sets it again after the Delete.
 */
static void subscription_require(struct ibsa__subscription *subscription)
{
	struct ibsa__registration *registration = &subscription->registration;

	if (list_is_empty(&registration->link)) {
		subscription_begin(subscription);
		return;
	}
	if (registration->step == IBSA__STEP_DELETE)
		return;
	registration->releasing = false;
	if (registration->is_registered)
		ibsa__alarm_cancel(subscription->events->engine,
				   &registration->alarm);
	else
		ibsa__registration_schedule(registration, IBSA__STEP_SET, 0);
}

void ibsa__subscriptions_update(struct ibsa__events *events,
				unsigned int producers, unsigned int audit_ms)
{
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		struct ibsa__subscription *subscription =
			&events->subscriptions[i];
		const bool was_wanted = subscription->wanted;

		subscription->wanted = producers &
				       subscription_bit(subscription);
		if (subscription->wanted && !was_wanted)
			subscription_require(subscription);
		else if (!subscription->wanted && was_wanted)
			ibsa__registration_release(&subscription->registration);
	}
	if (producers) {
		ibsa__registration_audit_ms_set(&events->audit, audit_ms);
	} else {
		ibsa__alarm_cancel(events->engine, &events->audit.alarm);
		ibsa__events_idle_release(events);
	}
}

void ibsa__subscriptions_port_changed(struct ibsa__events *events)
{
	ibsa__subscriptions_reset(events);
	ibsa__node_audit_soon(events);
	ibsa__history_forget(events->history);
	for (int i = 0; i < IBSA__PRODUCERS; i++)
		subscription_lost(&events->subscriptions[i]);
}

void ibsa__subscriptions_read_soon(struct ibsa__events *events)
{
	if (events->needs_read)
		return;
	events->needs_read = true;
	ibsa__registration_soon(&events->audit);
}
