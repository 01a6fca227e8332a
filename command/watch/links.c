/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the port of a switch whose link has changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "base/clock.h"
#include "output/codes.h"
#include "watch/links.h"

enum {
	LINKS_TRIES = 4, /* at 0, 1, 3 and 7 s */
	LINKS_FIRST_MS = 1000,
	LINKS_LOAD_MS = 10000,
};

/* The link of a port, as a PortInfoRecord has it. */
struct links_port {
	uint16_t lid;
	uint8_t number;
	char text[LINK_TEXT];
};

struct links_event {
	struct links_event *next;
	struct links *links;
	struct ibsa_event event;
	int64_t due_ms; /* of the next try; 0: a query is in flight */
	unsigned int tries;
	bool is_found;
};

/* Return: the meaning of a field's code; NULL: it is 0 or has no meaning. */
static const char *code_of(const char *name, const struct ibsa_port_info *info,
			   char room[CODE_TEXT])
{
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(&ibsa_port_info_record,
							 name, &index);
	const uint64_t code = field ? ibsa_field_get(field, 0, info) : 0;

	return code ? codes_text(field, code, room) : NULL;
}

/* Write width and speed, such as "4xEDR", or "down". Return: @out. */
static char *link_text(const struct ibsa_port_info *info, char out[LINK_TEXT])
{
	char room[2][CODE_TEXT];
	const char *width = code_of("link_width_active", info, room[0]);
	const char *speed = code_of("link_speed_ext_active2", info, room[1]);

	if (!speed)
		speed = code_of("link_speed_ext_active", info, room[1]);
	if (!speed)
		speed = code_of("link_speed_active", info, room[1]);
	if (info->port_state == IBSA_PORT_DOWN || !width || !speed)
		snprintf(out, LINK_TEXT, "down");
	else
		snprintf(out, LINK_TEXT, "%s%s", width, speed);
	return out;
}

static int port_compare(const void *a, const void *b)
{
	const struct links_port *one = a, *other = b;

	return one->lid != other->lid ? one->lid - other->lid
				      : one->number - other->number;
}

/* Return: the port with the LID and number of @key, among the first @sorted. */
static struct links_port *port_find(const struct links *links, size_t sorted,
				    const struct links_port *key)
{
	return sorted ? bsearch(key, links->ports, sorted, sizeof(*key),
				port_compare)
		      : NULL;
}

/* Report the change of a port that is known, and store the new link. */
static bool port_update(struct links_event *event, struct links_port *known,
			const struct links_port *now)
{
	struct link_change change = { .port = now->number };
	const bool has_changed = strcmp(known->text, now->text) != 0;

	memcpy(change.before, known->text, sizeof(change.before));
	memcpy(change.after, now->text, sizeof(change.after));
	*known = *now;
	if (has_changed && event)
		event->links->found(&event->event, &change, event->links->arg);
	return has_changed;
}

/*
 * Compare the records of a reply with the known ports, and store the records.
 * Return: whether a known port has changed.
 */
static bool ports_update(struct links *links, struct links_event *event,
			 const struct ibsa_reply *reply)
{
	const size_t sorted = links->count;
	struct links_port *all = realloc(
		links->ports, (sorted + reply->count + 1) * sizeof(*all));
	bool has_changed = false;

	if (!all)
		return false;
	links->ports = all;
	for (size_t i = 0; i < reply->count; i++) {
		struct ibsa_port_info info;
		struct links_port now = { .lid = 0 };
		struct links_port *known;

		if (ibsa_reply_decode(reply, i, &info, sizeof(info)) != 0)
			continue;
		now.lid = info.endport_lid;
		now.number = info.port_num;
		link_text(&info, now.text);
		known = port_find(links, sorted, &now);
		if (known)
			has_changed |= port_update(event, known, &now);
		else
			all[links->count++] = now;
	}
	if (links->count > sorted)
		qsort(all, links->count, sizeof(*all), port_compare);
	return has_changed;
}

/* Query the ports with this LID; of all LIDs if it is 0. */
static int ports_query(struct links *links, uint16_t lid, ibsa_reply_fn done,
		       void *arg)
{
	/* Without 0x80, an SA may return QDR for higher speeds. */
	const struct ibsa_port_info match = { .options = 0x80,
					      .endport_lid = lid };
	const struct ibsa_query query = {
		.record = &ibsa_port_info_record,
		.match = &match,
		.mask = IBSA_PORT_INFO_CM(options) |
			(lid ? IBSA_PORT_INFO_CM(endport_lid) : 0),
		.method = IBSA_METHOD_GET_TABLE,
		.deadline_ms = LINKS_LOAD_MS,
	};

	return ibsa_query_start(links->client, &query, done, arg, NULL);
}

/* End the search, and report the event if no change was found. */
static void event_end(struct links *links, struct links_event *event)
{
	struct links_event **at = &links->events;

	while (*at != event)
		at = &(*at)->next;
	*at = event->next;
	if (!event->is_found)
		links->found(&event->event, NULL, links->arg);
	free(event);
}

static void event_note(const struct ibsa_reply *reply, void *arg)
{
	struct links_event *event = arg;

	event->is_found = ports_update(event->links, event, reply);
	if (event->is_found || reply->err == -ECANCELED ||
	    event->tries == LINKS_TRIES)
		event_end(event->links, event);
	else
		event->due_ms = now_ms() +
				(LINKS_FIRST_MS << (event->tries - 1));
}

static void event_try(struct links *links, struct links_event *event)
{
	event->due_ms = 0;
	event->tries++;
	if (ports_query(links, (uint16_t)event->event.lid, event_note, event))
		event_end(links, event);
}

/*
 * Copy an event, and insert the copy first into the list of @links. Return: the
 * copy; NULL: out of memory, and @event was reported without a change.
 */
static struct links_event *event_new(struct links *links,
				     const struct ibsa_event *event)
{
	struct links_event *one = calloc(1, sizeof(*one));

	if (!one) {
		links->found(event, NULL, links->arg);
		return NULL;
	}
	one->links = links;
	one->event = *event;
	one->event.notice = NULL;
	one->next = links->events;
	links->events = one;
	return one;
}

void links_seek(struct links *links, const struct ibsa_event *event)
{
	struct links_event *one = event_new(links, event);

	if (one)
		event_try(links, one);
}

static void load_note(const struct ibsa_reply *reply, void *arg)
{
	struct links_event *event = arg;

	(void)ports_update(event->links, NULL, reply);
	event_end(event->links, event);
}

void links_load(struct links *links, const struct ibsa_event *event)
{
	struct links_event *one = event_new(links, event);

	if (one && ports_query(links, 0, load_note, one))
		event_end(links, one);
}

int links_run(struct links *links)
{
	const int64_t now = now_ms();
	int64_t wait_ms = -1;
	struct links_event *next;

	for (struct links_event *event = links->events; event; event = next) {
		next = event->next;
		if (!event->due_ms)
			continue;
		if (event->due_ms <= now)
			event_try(links, event);
		else if (wait_ms < 0 || event->due_ms - now < wait_ms)
			wait_ms = event->due_ms - now;
	}
	return (int)wait_ms;
}

void links_end(struct links *links)
{
	while (links->events)
		event_end(links, links->events);
	free(links->ports);
	links->ports = NULL;
	links->count = 0;
}
