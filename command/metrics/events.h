/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts events of the fabric while ibsa metrics --listen runs. */
#ifndef COMMAND_METRICS_EVENTS_H
#define COMMAND_METRICS_EVENTS_H

#include "metrics/metrics.h"

/* @client is NULL until metrics_events_start() has opened it. */
struct metrics_events {
	struct ibsa_client *client;
	struct metrics_totals totals;
	bool is_explained; /* why there are no events */
};

/*
 * Open a client at the port of the collection and subscribe to all events,
 * unless this was done before. Failures are printed once; the next collection
 * may succeed.
 */
void metrics_events_start(struct metrics_events *events,
			  const struct metrics *metrics);

/* End the subscription; waits for the SA, for up to two seconds. */
void metrics_events_stop(struct metrics_events *events);

#endif
