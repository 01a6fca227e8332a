/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State and functions shared by the files of src/event; no other folder
 * includes this header. */
#ifndef EVENT_STATE_H
#define EVENT_STATE_H

#include "event/event.h"

enum {
	TRAP_GID_IN = 64,
	TRAP_GID_OUT = 65,
};

/* State of a watch, in the terms of the event that reports it. */
struct watch_state {
	int kind; /* an IBSA_EVENT_ constant, or 0: nothing to report */
	int err;
	uint16_t status;
	bool audited;
};

struct ibsa_event_watch {
	struct list link;
	struct ibsa__events *events;
	ibsa_event_fn happened;
	void *arg;
	struct ibsa_gid *gids;
	size_t gid_count;
	unsigned int kinds;
	unsigned int producers; /* a bit for each producer type */
	unsigned int audit_ms;
	unsigned int deadline_ms;
	uint64_t born; /* sequence number of the last event before it */
	struct watch_state reported;
	bool was_subscribed; /* SUBSCRIBED has been reported once */
	bool has_gap;	     /* a GAP is to be reported */
	bool audit_nodes;
	bool ended; /* the watch is to be freed after the callbacks of this
		     * event */
};

/* A Report, or a change that an audit of nodes has found. */
struct report {
	uint64_t transaction_id;
	uint64_t now_ns;
	uint32_t source_lid;
	uint32_t lid;
	uint16_t trap;
	int kind;
	struct ibsa_gid gid;
	const struct ibsa_notice *notice;
	/* an audit found the change, for watches with audit_nodes only */
	bool is_audited;
	bool was_audited; /* an audit has already reported the change to the
			   * watches with audit_nodes */
};

/*
 * watch.c. Call back the watches that select @report; report the state of each
 * watch if it has changed; have a GAP reported to the watches that need one of
 * @producers.
 */
void ibsa__events_deliver(struct ibsa__events *events,
			  const struct report *report);
void ibsa__events_state_report(struct ibsa__events *events);
void ibsa__events_gap(struct ibsa__events *events, unsigned int producers);

/* subscription.c */
void ibsa__subscriptions_init(struct ibsa__events *events);
/* Discard what was learned about the SA's behaviour. */
void ibsa__subscriptions_reset(struct ibsa__events *events);
/* A watch began or ended: set the producer types that are needed and the
 * interval between two reads. */
void ibsa__subscriptions_update(struct ibsa__events *events,
				unsigned int producers, unsigned int audit_ms);
/* The port or its SM has changed: the SA may have lost all subscriptions. */
void ibsa__subscriptions_port_changed(struct ibsa__events *events);
/* Reports may be lost: read the subscriptions soon. */
void ibsa__subscriptions_read_soon(struct ibsa__events *events);
void ibsa__subscriptions_close(struct ibsa__events *events);

/* node_audit.c */
void ibsa__node_audit_init(struct ibsa__events *events);
/* Audit nodes every @interval_ms from now on; 0: stop. */
void ibsa__node_audit_interval_set(struct ibsa__events *events,
				   unsigned int interval_ms);
/* Reports may be lost, or the SA has changed: read the table soon. */
void ibsa__node_audit_soon(struct ibsa__events *events);
/*
 * Account for a Report that is going to be delivered. Return: true if an audit
 * has reported the same change of this port to the watches with audit_nodes,
 * and no Report came since.
 */
bool ibsa__node_audit_report(struct ibsa__events *events,
			     const struct report *report);
/* Stop the audit and free the table of ports. */
void ibsa__node_audit_end(struct ibsa__events *events);

/* report.c. The report function of struct ibsa__listener, and the history of
 * recent Reports. */
struct ibsa__history *ibsa__history_new(void);
void ibsa__history_forget(struct ibsa__history *history);
void ibsa__events_report(struct ibsa__listener *listener,
			 const struct ibsa_message *message, bool is_sa);

/* watch.c. Without watches and subscriptions, stop listening and free the
 * history. */
void ibsa__events_idle_release(struct ibsa__events *events);

#endif
