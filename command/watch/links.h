/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What has changed at a switch that reports a link: the port, and its width and
 * speed before and after. An event has the switch only.
 */
#ifndef COMMAND_WATCH_LINKS_H
#define COMMAND_WATCH_LINKS_H

#include <ibsa/event.h>

#include "names/event_lines.h"

struct links_port;
struct links_event;

/* Called once for each changed port; @change: NULL: there is none to report. */
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
 * Read all ports, and then report @event, with no change: from then on, changes
 * can be found.
 */
void links_load(struct links *links, const struct ibsa_event *event);

/*
 * Find the change that an event IBSA_EVENT_LINK_STATE is about. An SM may need
 * some seconds until it shows the change: the SA is asked again, at most
 * LINKS_TRIES times.
 */
void links_seek(struct links *links, const struct ibsa_event *event);

/*
 * Ask again for what is due, and return how long to wait until the next is; -1:
 * no limit.
 */
int links_run(struct links *links);

/* Report the events for which no change was found. @links->client is closed. */
void links_end(struct links *links);

#endif
