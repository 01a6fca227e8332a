/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events that a client's watches are told of, on top of its engine. */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <ibsa/event.h>

#include "base/list.h"
#include "engine/engine.h"

/* Producer types: CA, switch, router, and SM, from 1. */
enum { IBSA__PRODUCERS = 4 };

/*
 * The subscription to all that one type of producer reports. While it is
 * @wanted or @is_out, there is either a request on its way, an alarm set for
 * the next step, or nothing to do but wait for the port or the audit.
 */
struct ibsa__subscription {
	struct ibsa__events *events;
	struct ibsa__alarm alarm;
	uint64_t query_id;
	unsigned int failures; /* in a row */
	int err;	       /* of the trouble it is in */
	uint16_t status;
	uint8_t producer;
	bool wanted;	  /* by a watch */
	bool is_out;	  /* a Set was sent: the SA may have it */
	bool held;	  /* the SA has it, as far as is known */
	bool is_fresh;	  /* it was just set, and not read back yet */
	bool is_read;	  /* was held when the reading was sent */
	bool is_troubled; /* @err and @status */
	bool is_stale;	  /* the port has changed under the request */
};

struct ibsa__audited_port;

/* The ports that are known to the watches with audit_nodes, and the reading of
 * the SA's nodes that they are compared with. */
struct ibsa__node_audit {
	struct ibsa__alarm alarm;
	struct ibsa__audited_port *ports; /* sorted by GUID */
	size_t count, room;
	uint64_t query_id;
	uint64_t read_ns;	  /* of the last table */
	unsigned int interval_ms; /* 0: no watch needs it */
	unsigned int failures;	  /* in a row */
	int err;		  /* of the trouble it is in */
	uint16_t status;
	bool is_known;	  /* there was a table */
	bool is_troubled; /* @err and @status */
	bool is_stale;	  /* the table under way is not to be used */
	bool is_routine;  /* @alarm waits for its interval, and nothing else */
};

/* A client's. @port_watch and @history are there while it is active. */
struct ibsa__events {
	struct ibsa__listener listener;
	struct ibsa__engine *engine;
	struct ibsa_port_watch *port_watch;
	struct ibsa__history *history;
	struct list watches;
	struct ibsa__subscription subscriptions[IBSA__PRODUCERS];
	struct ibsa__node_audit node_audit;
	struct ibsa__alarm audit;
	struct ibsa__alarm news; /* has new watches told how things stand */
	uint64_t audit_id;
	uint64_t audit_ns; /* since when its interval runs */
	uint64_t sequence;
	unsigned int audit_ms;
	unsigned int deadline_ms;
	unsigned int failures; /* of audits, in a row */
	int err;	       /* of the trouble that the audit is in */
	uint16_t status;
	uint16_t end_status;
	int end_err; /* of ENDED */
	bool is_troubled;
	bool reads;	 /* the SA shows its subscriptions */
	bool is_stale;	 /* the port has changed under the reading */
	bool is_routine; /* @audit waits for its interval, and nothing else */
	bool is_unsure;	 /* reports were lost, and the SA not asked since */
	bool is_down;	 /* the port is */
	bool telling;	 /* watches that end stay in the list */
	bool closing;
	bool is_over; /* nothing may be touched any more but memory */
};

void ibsa__events_init(struct ibsa__events *events,
		       struct ibsa__engine *engine);

/* Whether there are such kinds, and such a number of GIDs. */
bool ibsa__event_is_sound(const struct ibsa_event_options *options);

/* As ibsa_event_watch() says. */
int ibsa__events_add(struct ibsa__events *events,
		     const struct ibsa_event_options *options,
		     ibsa_event_fn happened, void *arg,
		     struct ibsa_error *error,
		     struct ibsa_event_watch **out) IBSA_MUST_USE;

/* Begin to unsubscribe from all, and take no more watches. */
void ibsa__events_close(struct ibsa__events *events);

/* Whether no subscription is left at the SA. */
bool ibsa__events_is_empty(const struct ibsa__events *events);

/* Tell the watches that they have ended; what is still on its way is left to
 * the engine's end. */
void ibsa__events_end(struct ibsa__events *events);

#endif
