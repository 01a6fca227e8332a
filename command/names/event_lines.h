/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the events of a watch in their order, each with the name of its node,
 * which is requested from the SA. The number of events per second is limited.
 */
#ifndef COMMAND_EVENT_LINES_H
#define COMMAND_EVENT_LINES_H

#include <time.h>

#include <ibsa/event.h>
#include <ibsa/text.h>

#include "names/names.h"

enum {
	/*
	 * Maximum number of events that are printed without delay: every port
	 * of a large fabric may come or go at once.
	 */
	EVENT_LIMIT_BURST = 65536,
	EVENT_LIMIT_PER_S = 1000,
	/*
	 * Milliseconds between two checks whether there is room again after
	 * events were left out.
	 */
	EVENT_ROOM_CHECK_MS = 500,
};

struct event_limit {
	/*
	 * the time at which a burst of EVENT_LIMIT_BURST events is possible
	 * again
	 */
	int64_t full_ms;
	/*
	 * Number of events left out since event_limit_left_out() has returned
	 * this number.
	 */
	uint64_t left_out;
	uint64_t sequence; /* of the last event left out */
};

/* Return: whether to print an event; if not, it is counted as left out. */
bool event_limit_take(struct event_limit *limit, uint64_t sequence);

/*
 * Return: the number of events that were left out; 0: none was, or @is_ending
 * is false and there is not yet room for the events of half a second.
 */
uint64_t event_limit_left_out(struct event_limit *limit, bool is_ending);

enum { LINK_TEXT = 16 };

/* A port of a switch whose link has changed; links such as "4xEDR" or "down". */
struct link_change {
	unsigned int port;
	char before[LINK_TEXT];
	char after[LINK_TEXT];
};

enum { LINK_CHANGE_TEXT = 2 * LINK_TEXT + 24 };

/* Write such as "port 8: 4xEDR -> down". Return: @out. */
const char *link_change_text(const struct link_change *change,
			     char out[LINK_CHANGE_TEXT]);

/*
 * An event that is to be printed after all earlier events, which may be waiting
 * for the name of a node.
 */
struct event_line {
	struct event_line *next;
	struct ibsa_event event;
	struct timespec when;
	unsigned long ticket;
	bool is_generic;
	char holder[IBSA_VALUE_TEXT + 64]; /* buffer of event.holder */
	char left_out[64];		   /* why this is a gap, or "" */
	bool has_change;
	struct link_change change;
};

/* @name: safe to print, or NULL: unknown. */
typedef void (*event_line_fn)(const struct event_line *line, const char *name,
			      void *arg);

/**
 * struct event_lines - events that wait to be printed
 * @was_subscribed: there was an event IBSA_EVENT_SUBSCRIBED
 * @is_ending:      print all events, also without the names of their nodes
 */
struct event_lines {
	struct names names;
	struct event_line *first, **last;
	unsigned int count;
	struct event_limit limit;
	bool was_subscribed;
	bool is_ending;
	event_line_fn print;
	void *arg;
};

/*
 * @lines must stay where it is until event_lines_end(), which prints the events
 * that are left. The caller closes @client, that of the watch, before
 * event_lines_end().
 */
void event_lines_start(struct event_lines *lines, struct ibsa_client *client,
		       event_line_fn print, void *arg);
void event_lines_add(struct event_lines *lines, const struct ibsa_event *event);

/* As event_lines_add(), for an event about @change; NULL: unknown. */
void event_lines_add_link(struct event_lines *lines,
			  const struct ibsa_event *event,
			  const struct link_change *change);
void event_lines_end(struct event_lines *lines);

/*
 * event_lines_room_check() prints how many events were left out, once there is
 * room for further events; call it after each wait. event_lines_wait_ms()
 * returns the maximum duration of a wait; -1: no limit.
 */
void event_lines_room_check(struct event_lines *lines);
int event_lines_wait_ms(const struct event_lines *lines);

/* Return: the reason that an event has, as text; NULL: it has none. */
const char *event_line_reason(const struct event_line *line);

/* Whether the event is about the port of a GID. */
bool event_has_gid(const struct ibsa_event *event);

#endif
