/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds what has changed when a switch reports that the state of a link has
 * changed: the number of the port, and its width and speed before and after.
 * The event contains only the LID of the switch.
 */
#ifndef COMMAND_WATCH_LINKS_H
#define COMMAND_WATCH_LINKS_H

#include <ibsa/event.h>

#include "names/event_lines.h"

struct links_port;
struct links_event;

/*
 * Called once for each port that has changed; or once with the @change NULL, if
 * no change was found.
 */
typedef void (*links_fn)(const struct ibsa_event *event,
			 const struct link_change *change, void *arg);

struct links {
	struct ibsa_client *client;
	struct links_port *ports; /* sorted by LID and number */
	size_t count;
	struct links_event *events; /* for which a change is sought */
	links_fn found;
	void *arg;
};

/*
 * Read all ports, and then report @event without a change. links_seek()
 * compares later records with these.
 */
void links_load(struct links *links, const struct ibsa_event *event);

/*
 * Find the change that an event IBSA_EVENT_LINK_STATE is about. An SM may need
 * some seconds until its records show the change, so there are up to
 * LINKS_TRIES queries.
 */
void links_seek(struct links *links, const struct ibsa_event *event);

/*
 * Send the queries that are due again. Return: how long to wait until the next
 * query is due, in ms; -1: no limit.
 */
int links_run(struct links *links);

/* Report the events for which no change was found. @links->client is closed. */
void links_end(struct links *links);

#endif
