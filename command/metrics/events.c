/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts events of the fabric while ibsa metrics --listen runs. */
#include <errno.h>
#include <string.h>

#include "metrics/events.h"

static void event_count(const struct ibsa_event *event, void *arg)
{
	struct metrics_events *events = arg;
	struct metrics_totals *totals = &events->totals;

	for (int i = 0; i < METRICS_EVENT_KINDS; i++)
		totals->events[i] += event->kind == 1U << i;
	totals->gaps += event->kind == IBSA_EVENT_GAP;
	if (event->kind == IBSA_EVENT_SUBSCRIBED)
		totals->is_subscribed = true;
	else if (event->kind == IBSA_EVENT_LOST ||
		 event->kind == IBSA_EVENT_REFUSED)
		totals->is_subscribed = false;
}

static void port_note(unsigned int changes, const struct ibsa_port_state *now,
		      void *arg)
{
	struct metrics_events *events = arg;

	(void)now;
	events->totals.sm_changes += (changes & IBSA_PORT_CHANGE_SM) != 0;
}

static int subscribe(struct metrics_events *events, struct ibsa_error *error)
{
	const struct ibsa_event_options all = { .kinds = IBSA_EVENT_ALL };
	struct ibsa_event_watch *events_watch;
	struct ibsa_port_watch *port_watch;
	int err = ibsa_event_watch_start(events->client, &all, event_count,
					 events, error, &events_watch);

	if (!err)
		err = ibsa_port_watch_start(events->client, 0, port_note,
					    events, &port_watch);
	return err;
}

/*
 * Only one program can receive the Reports at a port: if another program
 * receives them, subscribing fails. On an embedded fabric, the client loads the
 * fabric from its file again, because the fabric of @metrics is freed after the
 * collection.
 */
void metrics_events_start(struct metrics_events *events,
			  const struct metrics *metrics)
{
	const struct port_check *at = metrics_port(metrics);
	struct ibsa_options options = metrics->cli->open;
	struct ibsa_error error = { .text = "" };
	int err;

	if (events->client || !at)
		return;
	options.device = at->port->opened_as;
	options.port = at->port->number;
	err = ibsa_open(&options, &error, &events->client);
	if (err)
		events->client = NULL;
	else
		err = subscribe(events, &error);
	if (!err)
		return;
	if (!events->is_explained)
		complain("events are not counted: %s",
			 *error.text ? error.text : strerror(-err));
	events->is_explained = true;
	(void)ibsa_close(events->client);
	events->client = NULL;
}

void metrics_events_stop(struct metrics_events *events)
{
	(void)ibsa_close(events->client);
	events->client = NULL;
}
