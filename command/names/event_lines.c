/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events of a watch, in their order, each with the name of its node. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/complain.h"
#include "names/event_lines.h"
#include "output/fields.h"
#include "session/event_text.h"

/* Largest number of events that wait for the name of a node. */
enum { LINES_MAX = 65536 };

bool event_has_gid(const struct ibsa_event *event)
{
	return event->kind & IBSA_EVENT_OF_SM;
}

const char *link_change_text(const struct link_change *change,
			     char out[LINK_CHANGE_TEXT])
{
	snprintf(out, LINK_CHANGE_TEXT, "port %u: %s -> %s", change->port,
		 change->before, change->after);
	return out;
}

const char *event_line_reason(const struct event_line *line)
{
	return *line->left_out ? line->left_out : event_reason(&line->event);
}

static const char *line_name(const struct event_lines *lines,
			     const struct event_line *line)
{
	const struct ibsa_event *event = &line->event;

	if (event_has_gid(event))
		return names_of_guid(&lines->names,
				     fields_gid_guid(&event->gid));
	if (event->lid && event->lid <= IBSA_LID_UNICAST_MAX)
		return names_of_lid(&lines->names, (uint16_t)event->lid);
	return NULL;
}

static bool is_ready(const struct event_lines *lines,
		     const struct event_line *line)
{
	return lines->is_ending || lines->count > LINES_MAX ||
	       lines->names.answered >= line->ticket || line_name(lines, line);
}

/*
 * Print, in order, the events up to the first one that waits for the name of
 * its node.
 */
static void lines_flush(void *arg)
{
	struct event_lines *lines = arg;

	while (lines->first && is_ready(lines, lines->first)) {
		struct event_line *line = lines->first;
		const char *name = line_name(lines, line);
		char clean[IBSA_VALUE_TEXT];

		lines->print(line, name ? fields_clean(name, clean) : NULL,
			     lines->arg);
		lines->first = line->next;
		if (!line->next)
			lines->last = &lines->first;
		lines->count--;
		free(line);
	}
}

/*
 * Request the name of the event's node from the SA; after a gap, and at the
 * first subscription, the names of all nodes. Nothing is requested if a port
 * has left the subnet: the SA does not have the name of its node any more.
 */
static void name_request(struct event_lines *lines,
			 const struct ibsa_event *event)
{
	if (event->kind == IBSA_EVENT_GID_IN)
		names_request_guid(&lines->names, fields_gid_guid(&event->gid));
	else if (event->lid && event->lid <= IBSA_LID_UNICAST_MAX)
		names_request_lid(&lines->names, (uint16_t)event->lid);
	else if (event->kind == IBSA_EVENT_GAP ||
		 (event->kind == IBSA_EVENT_SUBSCRIBED &&
		  !lines->was_subscribed))
		names_load(&lines->names);
}

/* Return: a new last line, or NULL after a message. */
static struct event_line *line_add(struct event_lines *lines,
				   const struct ibsa_event *event)
{
	struct event_line *line = calloc(1, sizeof(*line));

	if (!line) {
		complain("an event was not printed: out of memory");
		return NULL;
	}
	line->event = *event;
	line->event.notice = NULL;
	clock_gettime(CLOCK_REALTIME, &line->when);
	*lines->last = line;
	lines->last = &line->next;
	lines->count++;
	return line;
}

void event_lines_room_check(struct event_lines *lines)
{
	const struct ibsa_event gap = {
		.kind = IBSA_EVENT_GAP,
		.sequence = lines->limit.sequence,
	};
	uint64_t count = event_limit_left_out(&lines->limit, lines->is_ending);
	struct event_line *line = count ? line_add(lines, &gap) : NULL;

	if (line)
		snprintf(line->left_out, sizeof(line->left_out),
			 "%" PRIu64 " events left out: too many", count);
	lines_flush(lines);
}

int event_lines_wait_ms(const struct event_lines *lines)
{
	return lines->limit.left_out ? EVENT_ROOM_CHECK_MS : -1;
}

static void line_append(struct event_lines *lines,
			const struct ibsa_event *event,
			const struct link_change *change)
{
	struct event_line *line = line_add(lines, event);

	if (!line)
		return;
	line->is_generic = event->notice && event->notice->is_generic;
	if (event->holder) {
		snprintf(line->holder, sizeof(line->holder), "%s; %s",
			 event_failure(event->err), event->holder);
		line->event.holder = line->holder;
	}
	line->has_change = change;
	if (change)
		line->change = *change;
	/* Events of the subscription have no node. */
	line->ticket = event->kind & IBSA_EVENT_ALL ? lines->names.asked : 0;
}

void event_lines_start(struct event_lines *lines, struct ibsa_client *client,
		       event_line_fn print, void *arg)
{
	*lines = (struct event_lines){
		.names = { .client = client,
			   .changed = lines_flush,
			   .arg = lines },
		.last = &lines->first,
		.print = print,
		.arg = arg,
	};
}

void event_lines_add(struct event_lines *lines, const struct ibsa_event *event)
{
	event_lines_add_link(lines, event, NULL);
}

void event_lines_add_link(struct event_lines *lines,
			  const struct ibsa_event *event,
			  const struct link_change *change)
{
	if (event->kind & IBSA_EVENT_ALL &&
	    !event_limit_take(&lines->limit, event->sequence))
		return;
	event_lines_room_check(lines);
	/* The client may be closed at the end. */
	if (event->kind != IBSA_EVENT_ENDED && !lines->is_ending)
		name_request(lines, event);
	line_append(lines, event, change);
	lines->was_subscribed |= event->kind == IBSA_EVENT_SUBSCRIBED;
	lines_flush(lines);
}

void event_lines_end(struct event_lines *lines)
{
	lines->is_ending = true;
	if (lines->print)
		event_lines_room_check(lines);
	names_done(&lines->names);
}
