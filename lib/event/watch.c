/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches: how they begin and end, and which events each one gets. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <ibsa/text.h>

#include "base/alloc.h"
#include "base/error.h"
#include "event/state.h"

static void events_on_state_alarm(struct ibsa__alarm *alarm)
{
	ibsa__events_state_report(
		list_object(alarm, struct ibsa__events, state_alarm));
}

static void events_on_missed(struct ibsa__listener *listener)
{
	struct ibsa__events *events = list_object(listener, struct ibsa__events,
						  listener);

	ibsa__events_gap(events, UINT_MAX);
	ibsa__subscriptions_read_soon(events);
	ibsa__node_audit_soon(events);
}

static void watch_free(struct ibsa_event_watch *watch)
{
	ibsa__free(watch->gids);
	ibsa__free(watch);
}

void ibsa__ended_watches_free(struct ibsa__events *events)
{
	struct ibsa_event_watch *watch, *next;

	LIST_EACH_SAFE(watch, next, &events->watches, link) {
		if (!watch->ended)
			continue;
		list_remove(&watch->link);
		watch_free(watch);
	}
}

void ibsa__watch_call_back(struct ibsa_event_watch *watch,
			   struct ibsa_event *event)
{
	if (watch->ended)
		return;
	event->watch = watch;
	watch->report(event, watch->arg);
}

static int gid_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct ibsa_gid));
}

/*
 * Whether a watch gets @report, given the source of the change: an audit's
 * changes go to the watches with audit_nodes only. If a Report announces the
 * same change later, only the other watches get it.
 */
static bool watch_takes_source(const struct ibsa_event_watch *watch,
			       const struct report *report)
{
	return watch->audit_nodes ? !report->was_audited : !report->is_audited;
}

static bool watch_matches(const struct ibsa_event_watch *watch,
			  const struct ibsa_event *event)
{
	if (!(watch->kinds & (unsigned int)event->kind) ||
	    watch->born >= event->sequence)
		return false;
	return !watch->gid_count || !(event->kind & IBSA_EVENT_OF_SM) ||
	       bsearch(&event->gid, watch->gids, watch->gid_count,
		       sizeof(event->gid), gid_compare);
}

uint8_t ibsa__events_port_num(const struct ibsa__events *events)
{
	struct ibsa_port_state port;

	if (ibsa__engine_port(events->engine, false, &port))
		return 0;
	return port.port_num;
}

/*
 * Call back all watches that select @report. A watch that a callback for this
 * event adds does not get this event.
 */
void ibsa__events_deliver(struct ibsa__events *events,
			  const struct report *report)
{
	struct ibsa_event event = {
		.kind = report->kind,
		.trap = report->trap,
		.gid = report->gid,
		.lid = report->lid,
		.port_num = ibsa__events_port_num(events),
		.sequence = ++events->sequence,
		.time_ns = report->now_ns,
		.notice = report->notice,
		.audited = report->is_audited,
	};
	struct ibsa_event_watch *watch;

	events->calling_back = true;
	LIST_EACH(watch, &events->watches, link) {
		if (watch_takes_source(watch, report) &&
		    watch_matches(watch, &event))
			ibsa__watch_call_back(watch, &event);
	}
	events->calling_back = false;
	ibsa__ended_watches_free(events);
}

/* Called after any change of the port: Reports may have been lost. */
static void events_port_changed(struct ibsa__registrations *registrations,
				unsigned int changes,
				const struct ibsa_port_state *now)
{
	struct ibsa__events *events =
		list_object(registrations, struct ibsa__events, registrations);

	(void)changes;
	events->is_down = is_port_down(now);
	ibsa__subscriptions_port_changed(events);
	ibsa__events_state_report(events);
}

void ibsa__events_init(struct ibsa__events *events, struct ibsa__engine *engine)
{
	*events = (struct ibsa__events){
		.listener = { .report = ibsa__events_report,
			      .missed = events_on_missed },
		.engine = engine,
	};
	list_init(&events->watches);
	ibsa__registrations_init(&events->registrations, engine,
				 events_port_changed);
	ibsa__alarm_init(&events->state_alarm, events_on_state_alarm);
	ibsa__node_audit_init(events);
	ibsa__subscriptions_init(events);
}

/* Return: the smaller value; 0 means none. */
static unsigned int least_nonzero(unsigned int a, unsigned int b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}

/*
 * Called when a watch begins or ends: compute again which subscriptions and
 * audits all watches need.
 */
static void watches_update(struct ibsa__events *events)
{
	const struct ibsa_event_watch *watch;
	unsigned int producers = 0, audit_ms = 0, node_audit_ms = 0;

	events->deadline_ms = 0;
	LIST_EACH(watch, &events->watches, link) {
		if (watch->ended)
			continue;
		producers |= watch->producers;
		audit_ms = least_nonzero(audit_ms, watch->audit_ms);
		events->deadline_ms = least_nonzero(events->deadline_ms,
						    watch->deadline_ms);
		if (watch->audit_nodes)
			node_audit_ms = least_nonzero(node_audit_ms,
						      watch->audit_ms);
	}
	ibsa__subscriptions_update(events, producers, audit_ms);
	ibsa__node_audit_interval_set(events, node_audit_ms);
}

void ibsa__events_idle_release(struct ibsa__events *events)
{
	if (!events->history || !ibsa__events_is_empty(events))
		return;
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		if (events->subscriptions[i].wanted)
			return;
	}
	(void)!ibsa__engine_listen(events->engine, NULL);
	ibsa__alarm_cancel(events->engine, &events->state_alarm);
	ibsa__registrations_stop(&events->registrations);
	ibsa__free(events->history);
	events->history = NULL;
}

static int events_listen_failed(struct ibsa__events *events, int err,
				struct ibsa_error *error)
{
	struct ibsa_error holder;
	const char *text;

	switch (err) {
	case -EBUSY:
		text = ibsa__events_holder_text(events, &holder);
		return ibsa__fail(
			error, err,
			"cannot receive the SA's reports: another "
			"client, of this or another program, receives "
			"them at this port; stop it or use another "
			"port%s%s",
			text ? "; " : "", text ? text : "");
	case -EOPNOTSUPP:
		return ibsa__fail(error, err,
				  "cannot receive the SA's reports: this "
				  "transport does not deliver them");
	default:
		return ibsa__fail(error, err,
				  "cannot receive the SA's reports: %s",
				  strerror(-err));
	}
}

/*
 * Called before the first watch is added: allocate what watches need, and
 * listen for Reports.
 */
static int events_start(struct ibsa__events *events, struct ibsa_error *error)
{
	struct ibsa_port_state port;
	int err;

	if (events->history)
		return 0;
	events->history = ibsa__history_new();
	err = events->history
		      ? ibsa__registrations_start(&events->registrations)
		      : -ENOMEM;
	if (err) {
		ibsa__free(events->history);
		events->history = NULL;
		return ibsa__fail(error, err, "out of memory");
	}
	err = ibsa__engine_listen(events->engine, &events->listener);
	if (err) {
		ibsa__events_idle_release(events);
		return events_listen_failed(events, err, error);
	}
	ibsa__subscriptions_reset(events);
	events->is_down = !ibsa__engine_port(events->engine, false, &port) &&
			  is_port_down(&port);
	return 0;
}

static unsigned int kinds_producers(unsigned int kinds)
{
	unsigned int all = 0;

#define PRODUCERS(name, bit, trap, producers, text) \
	if (kinds & IBSA_EVENT_##name)              \
		all |= (producers);
	IBSA_EVENT_KINDS(PRODUCERS)
#undef PRODUCERS
	return all;
}

static int watch_new(const struct ibsa_event_options *options,
		     struct ibsa_event_watch **out)
{
	struct ibsa_event_watch *watch = ibsa__calloc(1, sizeof(*watch));
	const size_t size = sizeof(*watch->gids);

	if (!watch)
		return -ENOMEM;
	if (options->gid_count) {
		watch->gids = ibsa__calloc(options->gid_count, size);
		if (!watch->gids) {
			ibsa__free(watch);
			return -ENOMEM;
		}
		memcpy(watch->gids, options->gids, options->gid_count * size);
		qsort(watch->gids, options->gid_count, size, gid_compare);
	}
	watch->gid_count = options->gid_count;
	watch->kinds = options->kinds ? options->kinds : IBSA_EVENT_OF_SM;
	watch->producers = kinds_producers(watch->kinds);
	watch->audit_ms = options->audit_ms ? options->audit_ms
					    : IBSA_DEFAULT_AUDIT_MS;
	watch->deadline_ms = options->deadline_ms;
	watch->audit_nodes = options->audit_nodes;
	*out = watch;
	return 0;
}

/* Return: why the options are not valid; NULL: they are valid. */
static const char *options_fault(const struct ibsa_event_options *options)
{
	if (options->kinds & ~(unsigned int)IBSA_EVENT_ALL)
		return "kinds has unknown bits";
	if (options->gid_count > IBSA_EVENT_GIDS_MAX)
		return "there are too many GIDs";
	if (!options->gids != !options->gid_count)
		return "gids and gid_count do not match";
	return NULL;
}

bool ibsa__event_options_are_valid(const struct ibsa_event_options *options)
{
	return !options_fault(options);
}

/*
 * Whether audit_nodes makes sense with these options: an audit of nodes
 * reports only ports that joined or left.
 */
static bool audit_nodes_is_useful(const struct ibsa_event_options *options)
{
	const unsigned int of_ports = IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT;

	return !options->audit_nodes || !options->kinds ||
	       options->kinds & of_ports;
}

/* Check the arguments of ibsa__events_add(). Return: 0 or -EINVAL. */
static int watch_check(const struct ibsa_event_options *options,
		       ibsa_event_fn report, struct ibsa_error *error)
{
	const char *fault = report ? options_fault(options)
				   : "the callback is missing";

	if (fault)
		return ibsa__fail(error, -EINVAL,
				  "cannot watch: %s; the options have kinds "
				  "0x%x and %zu of at most %d GIDs",
				  fault, options->kinds, options->gid_count,
				  IBSA_EVENT_GIDS_MAX);
	if (!audit_nodes_is_useful(options))
		return ibsa__fail(error, -EINVAL,
				  "audit_nodes needs gid-in or gid-out events: "
				  "add one of them to kinds 0x%x",
				  options->kinds);
	return 0;
}

int ibsa__events_add(struct ibsa__events *events,
		     const struct ibsa_event_options *options,
		     ibsa_event_fn report, void *arg, struct ibsa_error *error,
		     struct ibsa_event_watch **out)
{
	const struct ibsa_event_options all = { 0 };
	struct ibsa_event_watch *watch;
	int err;

	if (events->registrations.closing)
		return ibsa__fail(error, -ESHUTDOWN,
				  "cannot watch: the client is being closed");
	options = options ? options : &all;
	err = watch_check(options, report, error);
	if (err)
		return err;
	if (watch_new(options, &watch))
		return ibsa__fail(error, -ENOMEM, "out of memory");
	err = events_start(events, error);
	if (err) {
		watch_free(watch);
		return err;
	}
	watch->events = events;
	watch->report = report;
	watch->arg = arg;
	watch->born = events->sequence;
	list_append(&events->watches, &watch->link);
	watches_update(events);
	ibsa__alarm_set(events->engine, &events->state_alarm, 0);
	if (out)
		*out = watch;
	return 0;
}

void ibsa_event_watch_stop(struct ibsa_event_watch *watch)
{
	struct ibsa__events *events;

	if (!watch || watch->ended ||
	    !ibsa__engine_is_ours(watch->events->engine))
		return;
	events = watch->events;
	watch->ended = true;
	if (!events->calling_back)
		ibsa__ended_watches_free(events);
	if (!events->registrations.closing)
		watches_update(events);
}

void ibsa__events_close(struct ibsa__events *events)
{
	ibsa__node_audit_end(events);
	ibsa__registration_cancel(&events->audit);
	for (int i = 0; i < IBSA__PRODUCERS; i++)
		events->subscriptions[i].wanted = false;
	ibsa__registrations_close(&events->registrations);
}

bool ibsa__events_is_empty(const struct ibsa__events *events)
{
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		const struct ibsa__registration *registration =
			&events->subscriptions[i].registration;

		if (registration->may_be_at_sa || registration->query_id)
			return false;
	}
	return true;
}

void ibsa__events_end(struct ibsa__events *events)
{
	struct watch_state last = {
		.kind = IBSA_EVENT_ENDED,
		.err = events->end_err,
		.status = events->end_status,
	};
	struct ibsa_event_watch *watch;

	if (!ibsa__events_is_empty(events))
		last = (struct watch_state){ .kind = IBSA_EVENT_ENDED,
					     .err = -ECANCELED };
	events->has_ended = true;
	events->calling_back = true;
	ibsa__engine_enter(events->engine);
	LIST_EACH(watch, &events->watches, link) {
		ibsa__watch_state_report(watch, &last);
		watch->ended = true;
	}
	ibsa__engine_leave(events->engine);
	events->calling_back = false;
	ibsa__ended_watches_free(events);
	ibsa__free(events->history);
	events->history = NULL;
	if (events->registrations.watch)
		(void)!ibsa__engine_listen(events->engine, NULL);
}

const char *ibsa_event_name(enum ibsa_event_kind kind)
{
	switch (kind) {
#define TEXT(name, bit, trap, producers, text) \
	case IBSA_EVENT_##name:                \
		return text;
		IBSA_EVENT_KINDS(TEXT)
#undef TEXT
	case IBSA_EVENT_SUBSCRIBED:
		return "subscribed";
	case IBSA_EVENT_LOST:
		return "lost";
	case IBSA_EVENT_FAILED:
		return "failed";
	case IBSA_EVENT_REFUSED:
		return "refused";
	case IBSA_EVENT_GAP:
		return "gap";
	case IBSA_EVENT_ENDED:
		return "ended";
	default:
		return NULL;
	}
}
