/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the event layer share, and nobody else sees. */
#ifndef EVENT_STATE_H
#define EVENT_STATE_H

#include "event/event.h"

enum {
	TRAP_GID_IN = 64,
	TRAP_GID_OUT = 65,
};

/* How a watch stands, as it was told: an event's kind, err and status. */
struct watch_state {
	int kind; /* 0: nothing */
	int err;
	uint16_t status;
	bool audited;
};

struct ibsa_event_watch {
	struct list link;
	struct ibsa__events *events;
	ibsa_event_fn happened;
	void *arg;
	struct ibsa_gid *gids; /* sorted */
	size_t gid_count;
	unsigned int kinds;
	unsigned int producers; /* bits of producer types */
	unsigned int audit_ms;
	unsigned int deadline_ms;
	uint64_t born; /* the sequence number it came after */
	struct watch_state reported;
	bool was_subscribed; /* it was told so once */
	bool has_gap;	     /* that it is to be told of */
	bool audit_nodes;
	bool ended; /* it is taken out of the list after the telling */
};

/* A report on its way to the watches, or what an audit has found. */
struct report {
	uint64_t transaction_id;
	uint64_t now_ns;
	uint32_t source_lid;
	uint32_t lid;
	uint16_t trap;
	int kind;
	struct ibsa_gid gid;
	const struct ibsa_notice *notice;
	bool is_audited;  /* found by an audit: for those with audit_nodes */
	bool was_audited; /* an audit has told those of it */
};

/* watch.c: tell those who want it of a report; all how they now stand; that
 * those have a gap who need one of @producers. */
void ibsa__events_deliver(struct ibsa__events *events,
			  const struct report *report);
void ibsa__events_state_report(struct ibsa__events *events);
void ibsa__events_gap(struct ibsa__events *events, unsigned int producers);

/* subscription.c */
void ibsa__subscriptions_init(struct ibsa__events *events);
/* Nothing is known of the SA. */
void ibsa__subscriptions_reset(struct ibsa__events *events);
/* Those who watch are more or fewer than before: which producers they need,
 * and how often to read. */
void ibsa__subscriptions_update(struct ibsa__events *events,
				unsigned int producers, unsigned int audit_ms);
/* The port, or its SM, is another. */
void ibsa__subscriptions_port_changed(struct ibsa__events *events);
/* Reports were lost: the SA is to be asked, soon. */
void ibsa__subscriptions_read_soon(struct ibsa__events *events);
void ibsa__subscriptions_close(struct ibsa__events *events);

/* node_audit.c */
void ibsa__node_audit_init(struct ibsa__events *events);
/* Audit nodes each @interval_ms from now on; 0: not any more. */
void ibsa__node_audit_interval_set(struct ibsa__events *events,
				   unsigned int interval_ms);
/* Reports may have been lost, or the SA is another: read the table soon. */
void ibsa__node_audit_soon(struct ibsa__events *events);
/* A Report is to be told. Return: whether an audit has told the watches with
 * audit_nodes the same of that port, and nothing since. */
bool ibsa__node_audit_report(struct ibsa__events *events,
			     const struct report *report);
/* Forget all. */
void ibsa__node_audit_end(struct ibsa__events *events);

/* report.c: the listener's report, and what came lately. */
struct ibsa__history *ibsa__history_new(void);
void ibsa__history_forget(struct ibsa__history *history);
void ibsa__events_report(struct ibsa__listener *listener,
			 const struct ibsa_message *message, bool is_sa);

/* watch.c: let go of all that is not needed without a subscription, if there
 * is none any more. */
void ibsa__events_idle_release(struct ibsa__events *events);

#endif
