/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State and functions shared by the files of lib/event; no other folder
 * includes this header. */
#ifndef EVENT_STATE_H
#define EVENT_STATE_H

#include "event/event.h"

enum {
	TRAP_GID_IN = 64,
	TRAP_GID_OUT = 65,
};

/* State of a watch, as the event that reports this state presents it. */
struct watch_state {
	/* The kind that reports this state; 0 if there is nothing to report. */
	enum ibsa_event_kind kind;
	int err;
	uint16_t status;
	bool audited;
};

struct ibsa_event_watch {
	struct list link;
	struct ibsa__events *events;
	ibsa_event_fn report;
	void *arg;
	struct ibsa_gid *gids;
	size_t gid_count;
	unsigned int kinds;
	unsigned int producers; /* a bit for each producer type */
	unsigned int audit_ms;
	unsigned int deadline_ms;
	/*
	 * Sequence number of the last event before the watch was added: the
	 * watch gets only later events.
	 */
	uint64_t born;
	struct watch_state reported;
	/* The event IBSA_EVENT_SUBSCRIBED was reported at least once. */
	bool was_subscribed;
	bool has_gap; /* a GAP is to be reported */
	bool audit_nodes;
	/*
	 * The watch has ended and is freed after the callbacks of the current
	 * event.
	 */
	bool ended;
};

/*
 * An event for the watches: from a Report, or from an audit of nodes that
 * found a change.
 */
struct report {
	uint64_t transaction_id;
	uint64_t now_ns;
	uint32_t source_lid;
	uint32_t lid;
	uint16_t trap;
	enum ibsa_event_kind kind;
	struct ibsa_gid gid;
	const struct ibsa_notice *notice;
	/*
	 * An audit of nodes found this change: only the watches with
	 * audit_nodes get it.
	 */
	bool is_audited;
	/*
	 * An audit has already reported this change to the watches with
	 * audit_nodes: only the other watches get it.
	 */
	bool was_audited;
};

/*
 * watch.c. ibsa__events_deliver() calls back the watches that select @report.
 * ibsa__watch_call_back() calls back one watch, unless it has ended.
 * ibsa__ended_watches_free() frees the watches that ended during callbacks.
 * ibsa__events_port_num() returns the number of the client's port, 0 if the
 * port's state cannot be read.
 */
void ibsa__events_deliver(struct ibsa__events *events,
			  const struct report *report);
void ibsa__watch_call_back(struct ibsa_event_watch *watch,
			   struct ibsa_event *event);
void ibsa__ended_watches_free(struct ibsa__events *events);
uint8_t ibsa__events_port_num(const struct ibsa__events *events);

/*
 * watch_state.c. ibsa__events_state_report() reports the state of each watch if
 * it has changed; ibsa__watch_state_report() reports @state to one watch.
 * ibsa__events_gap() makes the watches that need one of @producers report a
 * GAP. ibsa__events_holder_text() returns a printable text, in @out, that names
 * the process which receives the SA's Reports on this port instead; NULL if the
 * process is not known.
 */
void ibsa__events_state_report(struct ibsa__events *events);
void ibsa__watch_state_report(struct ibsa_event_watch *watch,
			      const struct watch_state *state);
void ibsa__events_gap(struct ibsa__events *events, unsigned int producers);
const char *ibsa__events_holder_text(struct ibsa__events *events,
				     struct ibsa_error *out);

/* subscription.c */
void ibsa__subscriptions_init(struct ibsa__events *events);
/*
 * Assume again that the SA returns subscriptions when they are read, and forget
 * earlier failures of that read.
 */
void ibsa__subscriptions_reset(struct ibsa__events *events);
/*
 * Called when a watch begins or ends: @producers are the producer types that
 * the watches need, @audit_ms is the interval between two reads of the
 * subscriptions.
 */
void ibsa__subscriptions_update(struct ibsa__events *events,
				unsigned int producers, unsigned int audit_ms);
/*
 * Called when the port or its SM has changed: the SA may have lost all
 * subscriptions.
 */
void ibsa__subscriptions_port_changed(struct ibsa__events *events);
/* Reports may have been lost: read the subscriptions from the SA soon. */
void ibsa__subscriptions_read_soon(struct ibsa__events *events);

/* node_audit.c */
void ibsa__node_audit_init(struct ibsa__events *events);
/* Audit the nodes every @interval_ms from now on; 0 stops the audit. */
void ibsa__node_audit_interval_set(struct ibsa__events *events,
				   unsigned int interval_ms);
/*
 * Reports may have been lost, or the SA has changed: read the table of
 * NodeRecords soon.
 */
void ibsa__node_audit_soon(struct ibsa__events *events);
/*
 * Note a Report before it is delivered. Return: true if an audit of nodes has
 * already reported this change of the port to the watches with audit_nodes, and
 * no Report of another change of the port came since.
 */
bool ibsa__node_audit_report(struct ibsa__events *events,
			     const struct report *report);
/* Stop the audit of nodes and free its table of ports. */
void ibsa__node_audit_end(struct ibsa__events *events);

/*
 * report.c. ibsa__history_new() creates the history of recent Reports,
 * ibsa__history_forget() empties it. ibsa__events_report() is the report
 * function of struct ibsa__listener.
 */
struct ibsa__history *ibsa__history_new(void);
void ibsa__history_forget(struct ibsa__history *history);
void ibsa__events_report(struct ibsa__listener *listener,
			 const struct ibsa_message *message, bool is_sa);

/*
 * watch.c. If there are no watches and no subscriptions, stop listening for
 * Reports and free the history.
 */
void ibsa__events_idle_release(struct ibsa__events *events);

#endif
