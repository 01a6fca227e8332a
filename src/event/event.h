/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of a client: watches, and the subscriptions at the SA that they need.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <ibsa/event.h>

#include "registration/registration.h"

/* Number of producer types, which count from 1: CA, switch, router, SM. */
enum { IBSA__PRODUCERS = 4 };

/* The subscription to all traps of one producer type. It is in the list of
 * registrations while a watch needs it, or while the SA may have it. */
struct ibsa__subscription {
	struct ibsa__registration registration;
	struct ibsa__events *events;
	uint8_t producer;
	bool wanted;  /* a watch needs it */
	bool is_read; /* whether the subscription was registered when the last
		       * read was sent */
};

struct ibsa__audited_port;

/* The audit of nodes: ports as the watches with audit_nodes know them, which
 * each table of NodeRecords is compared with. */
struct ibsa__node_audit {
	/*
	 * the schedule of the audit; its audit_ms is 0 if no watch needs the
	 * audit
	 */
	struct ibsa__registration registration;
	struct ibsa__audited_port *ports; /* sorted by GUID */
	size_t count, room;
	bool is_known; /* a table has been read */
};

/*
 * The events of a client. @history is NULL while there are no watches and no
 * subscriptions.
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
	/* alarm that expires at once, to report the state to new watches */
	struct ibsa__alarm state_alarm;
	uint64_t sequence;
	unsigned int deadline_ms;
	uint16_t end_status; /* @status of the ENDED event */
	int end_err;	     /* @err of the ENDED event */
	bool can_read;	     /* the SA returns the subscriptions of this port
			      * when they are read */
	/* Reports may be lost, and the subscriptions were not read since. */
	bool needs_read;
	bool is_down;	   /* the port is down */
	bool calling_back; /* callbacks are running: a watch that ends now stays
			    * in the list */
	bool has_ended;	   /* only memory is freed from now on */
};

void ibsa__events_init(struct ibsa__events *events,
		       struct ibsa__engine *engine);

/* Whether the kinds of events exist, and the number of GIDs is valid. */
bool ibsa__event_options_are_valid(const struct ibsa_event_options *options);

/* Arguments and return values are those of ibsa_event_watch(). */
int ibsa__events_add(struct ibsa__events *events,
		     const struct ibsa_event_options *options,
		     ibsa_event_fn happened, void *arg,
		     struct ibsa_error *error,
		     struct ibsa_event_watch **out) IBSA_MUST_USE;

/*
 * Start to delete all subscriptions; more watches are refused with -ESHUTDOWN.
 */
void ibsa__events_close(struct ibsa__events *events);

/*
 * Return: whether no subscription is left at the SA, and no request in flight.
 */
bool ibsa__events_is_empty(const struct ibsa__events *events);

/* Report ENDED to all watches and free them. Requests in flight end with the
 * engine. */
void ibsa__events_end(struct ibsa__events *events);

#endif
