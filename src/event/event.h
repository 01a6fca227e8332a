/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events that a client's watches are told of, on top of its engine. */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <ibsa/event.h>

#include "registration/registration.h"

/* Producer types: CA, switch, router, and SM, from 1. */
enum { IBSA__PRODUCERS = 4 };

/* The subscription to all that one type of producer reports. It is added to the
 * client's registrations while it is @wanted, or the SA may have it. */
struct ibsa__subscription {
	struct ibsa__registration registration;
	struct ibsa__events *events;
	uint8_t producer;
	bool wanted;  /* by a watch */
	bool is_read; /* was registered when the last read was sent */
};

struct ibsa__audited_port;

/* The ports that are known to the watches with audit_nodes, and the reading of
 * the SA's nodes that they are compared with. */
struct ibsa__node_audit {
	struct ibsa__registration registration; /* audit_ms 0: not needed */
	struct ibsa__audited_port *ports;	/* sorted by GUID */
	size_t count, room;
	bool is_known; /* there was a table */
};

/* A client's. @history is there while it is active. */
struct ibsa__events {
	struct ibsa__listener listener;
	struct ibsa__engine *engine;
	struct ibsa__registrations registrations;
	struct ibsa__history *history;
	struct list watches;
	struct ibsa__subscription subscriptions[IBSA__PRODUCERS];
	struct ibsa__registration audit; /* reads all subscriptions */
	struct ibsa__node_audit node_audit;
	struct ibsa__alarm state_alarm; /* @S */
	uint64_t sequence;
	unsigned int deadline_ms;
	uint16_t end_status;
	int end_err;	   /* of ENDED */
	bool can_read;	   /* the SA shows its subscriptions */
	bool needs_read;   /* reports were lost, and the SA not asked since */
	bool is_down;	   /* the port is */
	bool calling_back; /* watches that end stay in the list */
	bool has_ended;	   /* nothing may be touched any more but memory */
};

void ibsa__events_init(struct ibsa__events *events,
		       struct ibsa__engine *engine);

/* Whether there are such kinds, and such a number of GIDs. */
bool ibsa__event_options_are_valid(const struct ibsa_event_options *options);

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
