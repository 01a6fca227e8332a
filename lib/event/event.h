/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watches of a client for events of the subnet, and the subscriptions at the
 * SA that they need.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <ibsa/event.h>

#include "registration/registration.h"

/*
 * Number of types of event producers: CA, switch, router, SM. The types are
 * numbered from 1.
 */
enum { IBSA__PRODUCERS = 4 };

/*
 * The subscription to all traps of one producer type. The subscription is in
 * the list of registrations while a watch needs it, or while the SA may still
 * have it.
 */
struct ibsa__subscription {
	struct ibsa__registration registration;
	struct ibsa__events *events;
	uint8_t producer;
	bool wanted; /* a watch needs it */
	/*
	 * When the client last sent a query for the SA's table of
	 * subscriptions, this subscription was set at the SA.
	 */
	bool is_read;
};

struct ibsa__audited_port;

/*
 * The audit of nodes: it compares each table of NodeRecords from the SA with
 * the ports that the watches with audit_nodes know.
 */
struct ibsa__node_audit {
	/*
	 * Schedule of the audit of nodes; its audit_ms is 0 if no watch needs
	 * the audit.
	 */
	struct ibsa__registration registration;
	struct ibsa__audited_port *ports; /* sorted by GUID */
	size_t count, room;
	bool is_known; /* a table has been read */
};

/*
 * The events of a client: its watches and subscriptions. @history is NULL
 * while there are neither.
 */
struct ibsa__events {
	struct ibsa__listener listener;
	struct ibsa__engine *engine;
	struct ibsa__registrations registrations;
	struct ibsa__history *history;
	struct list watches;
	struct ibsa__subscription subscriptions[IBSA__PRODUCERS];
	struct ibsa__registration audit; /* the read of all subscriptions */
	struct ibsa__node_audit node_audit;
	/*
	 * Alarm that expires at once, so that the next dispatch reports the
	 * state to new watches.
	 */
	struct ibsa__alarm state_alarm;
	uint64_t sequence;
	unsigned int deadline_ms;
	uint16_t end_status; /* @status of the ENDED event */
	int end_err;	     /* @err of the ENDED event */
	/*
	 * False after the SA has shown that it does not return this port's
	 * subscriptions when the client reads the table of InformInfoRecords.
	 */
	bool can_read;
	/*
	 * Reports may have been lost since the subscriptions were last read
	 * from the SA.
	 */
	bool needs_read;
	bool is_down; /* the port is down */
	/*
	 * Callbacks of watches are running: a watch that ends now stays in the
	 * list until they have returned.
	 */
	bool calling_back;
	/* the client is closing: from now on, only memory is freed */
	bool has_ended;
};

void ibsa__events_init(struct ibsa__events *events,
		       struct ibsa__engine *engine);

/*
 * Whether the options select existing kinds of events, and have a valid number
 * of GIDs.
 */
bool ibsa__event_options_are_valid(const struct ibsa_event_options *options);

/* Add a watch: the arguments and results of ibsa_event_watch_start(). */
int ibsa__events_add(struct ibsa__events *events,
		     const struct ibsa_event_options *options,
		     ibsa_event_fn report, void *arg, struct ibsa_error *error,
		     struct ibsa_event_watch **out) IBSA_MUST_USE;

/*
 * Start to delete all subscriptions at the SA; further watches are refused
 * with -ESHUTDOWN.
 */
void ibsa__events_close(struct ibsa__events *events);

/*
 * Whether the client has no subscription left at the SA, and no request about a
 * subscription in flight.
 */
bool ibsa__events_is_empty(const struct ibsa__events *events);

/*
 * Report ENDED to all watches and free them. Requests of the watches in flight
 * end when the engine is freed.
 */
void ibsa__events_end(struct ibsa__events *events);

#endif
