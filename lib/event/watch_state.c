/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a watch: whether the SA sends it Reports, and the events that
 * tell a program of it. */
#include <errno.h>

#include <ibsa/text.h>

#include "common/clean.h"
#include "event/state.h"

static bool watch_needs(const struct ibsa_event_watch *watch,
			const struct ibsa__subscription *subscription)
{
	return watch->producers & 1u << subscription->producer;
}

static struct watch_state failure_state(int err, uint16_t status)
{
	const bool refused = is_refusal(err, status);

	return (struct watch_state){
		.kind = refused ? IBSA_EVENT_REFUSED : IBSA_EVENT_FAILED,
		.err = err,
		.status = status,
	};
}

/*
 * Return: the state, as to its audit of nodes, of a watch with audit_nodes
 * whose subscriptions are all set.
 */
static struct watch_state node_audit_state(const struct ibsa__node_audit *audit)
{
	const struct ibsa__registration *registration = &audit->registration;
	struct watch_state state = failure_state(registration->err,
						 registration->status);

	state.audited = true;
	if (registration->is_troubled)
		return state;
	return (struct watch_state){ .kind = audit->is_known
						     ? IBSA_EVENT_SUBSCRIBED
						     : 0 };
}

static struct watch_state watch_state_get(const struct ibsa_event_watch *watch)
{
	const struct ibsa__events *events = watch->events;
	bool held = true;

	if (events->is_down)
		return (struct watch_state){ .kind = IBSA_EVENT_LOST,
					     .err = -ENETDOWN };
	for (int i = 0; i < IBSA__PRODUCERS; i++) {
		const struct ibsa__subscription *subscription =
			&events->subscriptions[i];
		const struct ibsa__registration *registration =
			&subscription->registration;

		if (!watch_needs(watch, subscription))
			continue;
		if (registration->is_troubled)
			return failure_state(registration->err,
					     registration->status);
		held = held && registration->is_registered;
	}
	if (!held)
		return (struct watch_state){ .kind = watch->was_subscribed
							     ? IBSA_EVENT_LOST
							     : 0 };
	if (events->audit.is_troubled)
		return failure_state(events->audit.err, events->audit.status);
	if (watch->audit_nodes)
		return node_audit_state(&events->node_audit);
	return (struct watch_state){ .kind = IBSA_EVENT_SUBSCRIBED };
}

const char *ibsa__events_holder_text(struct ibsa__events *events,
				     struct ibsa_error *out)
{
	struct ibsa_error holder;
	const char *text = holder.text;

	if (!ibsa__engine_holder(events->engine, &holder))
		return NULL;
	ibsa__text_clean(&text, out->text, sizeof(out->text));
	return out->text;
}

void ibsa__watch_state_report(struct ibsa_event_watch *watch,
			      const struct watch_state *state)
{
	struct ibsa__events *events = watch->events;
	struct ibsa_event event = {
		.kind = state->kind,
		.err = state->err,
		.status = state->status,
		.audited = state->audited,
		.port_num = ibsa__events_port_num(events),
		.sequence = ++events->sequence,
		.time_ns = ibsa__engine_now_ns(events->engine),
	};
	struct ibsa_error holder;

	if (state->kind == IBSA_EVENT_FAILED && state->err == -EBUSY)
		event.holder = ibsa__events_holder_text(events, &holder);
	ibsa__watch_call_back(watch, &event);
}

/*
 * Whether the state of a watch was already reported. If LOST was reported last
 * and the state is still LOST, only a new error is reported.
 */
static bool state_is_reported(const struct watch_state *reported,
			      const struct watch_state *now)
{
	if (!now->kind)
		return true;
	if (reported->kind == IBSA_EVENT_LOST && now->kind == IBSA_EVENT_LOST)
		return !now->err || reported->err == now->err;
	return reported->kind == now->kind && reported->err == now->err &&
	       reported->status == now->status &&
	       reported->audited == now->audited;
}

static void watch_announce(struct ibsa_event_watch *watch)
{
	const struct watch_state gap = { .kind = IBSA_EVENT_GAP };
	const struct watch_state now = watch_state_get(watch);

	if (!state_is_reported(&watch->reported, &now)) {
		watch->reported = now;
		watch->was_subscribed |= now.kind == IBSA_EVENT_SUBSCRIBED;
		ibsa__watch_state_report(watch, &now);
	}
	/*
	 * A failed audit of nodes does not change the state of the
	 * subscriptions.
	 */
	if ((now.kind != IBSA_EVENT_SUBSCRIBED && !now.audited) ||
	    !watch->has_gap || watch->events->needs_read)
		return;
	watch->has_gap = false;
	ibsa__watch_state_report(watch, &gap);
}

void ibsa__events_state_report(struct ibsa__events *events)
{
	struct ibsa_event_watch *watch;

	if (events->registrations.closing)
		return;
	events->calling_back = true;
	LIST_EACH(watch, &events->watches, link)
		watch_announce(watch);
	events->calling_back = false;
	ibsa__ended_watches_free(events);
}

/* A watch that was never subscribed cannot have missed events. */
void ibsa__events_gap(struct ibsa__events *events, unsigned int producers)
{
	struct ibsa_event_watch *watch;

	LIST_EACH(watch, &events->watches, link)
		watch->has_gap |= watch->was_subscribed &&
				  watch->producers & producers;
}
