/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client on a puppet transport, and an SA that stores and returns
 * subscriptions and sends Reports, with faults that a test sets. */
#ifndef TEST_EVENT_RIG_H
#define TEST_EVENT_RIG_H

#include <ibsa/event.h>

#include "test/support/puppet.h"

enum {
	MS = 1000000,
	SEEN = 64,
	NOTICE_AT = IBSA_SA_HEADER_BYTES,
	NOTICE_BYTES = 80
};

/* The client's transport. */
extern struct puppet puppet;
extern struct ibsa_client *client;

/* State and faults of the SA. */
extern struct rig_sa {
	unsigned int has; /* a bit for each producer type */
	bool is_silent;
	bool loses_unset;    /* answers an unsubscription at its second try */
	bool hides;	     /* does not return subscriptions */
	uint16_t set_status; /* status of Set(InformInfo) ... */
	unsigned int set_of; /* ... for these producer types */
	uint16_t get_status; /* of GetTable(InformInfoRecord) */
	uint32_t qpn;	     /* in its InformInfoRecords */
	uint8_t nodes[8];    /* last byte of each port GUID */
	unsigned int node_count;
	uint8_t without_lid; /* last byte of the GUID of the port without LID */
	/*
	 * the first @hollow records of the table have no LID; if @hollow is not
	 * 0, the record after these has no GUID
	 */
	unsigned int hollow;
	uint16_t node_status;		 /* of GetTable(NodeRecord) */
	bool holds_table;		 /* the table waits for serve_table() */
	struct puppet_mad table;	 /* the last request for the table */
	unsigned int tables;		 /* requests for the table */
	unsigned int sets, unsets, gets; /* requests received */
	unsigned int answers;		 /* ReportResps received */
	unsigned int processed;		 /* MADs processed so far */
	uint64_t next_id;		 /* TransactionID of the next Report */
	struct puppet_mad last;		 /* the last Set or GetTable */
	struct puppet_mad last_answer;
} sa;

/*
 * Events of a watch, and what its callback does. The tear-down causes its ENDED
 * event, so its storage must be static.
 */
struct diary {
	int count;
	struct ibsa_event events[SEEN];
	struct ibsa_notice notices[SEEN];
	unsigned int answered[SEEN]; /* sent ReportResps at that time */
	struct ibsa_event_watch *watch;
	struct ibsa_event_watch *victim; /* watch to end at the next event */
	struct diary *starts;		 /* watch to begin at the next event */
	int close_err;
};

int rig_set_up(void **state);
int rig_tear_down(void **state);

/* Begin a watch whose events go to an empty @diary. */
void watch_begin(const struct ibsa_event_options *options, struct diary *diary);

/* Watch @kinds and let the SA answer: @diary has only SUBSCRIBED. */
void watch_subscribed(unsigned int kinds, struct diary *diary);

void note(const struct ibsa_event *event, void *arg);

/* Let @ms pass in steps of 1 ms; meanwhile the SA answers requests. */
void time_pass(unsigned int ms);

/* Let the SA answer all requests. Functions that let time pass call it, too. */
void sa_serve(void);

/*
 * Answer the last query for the table of NodeRecords with the SA's current
 * nodes.
 */
void serve_table(void);

/*
 * Set the nodes that the SA has: @tails has the last byte of each GUID; a 0
 * byte ends the list.
 */
void set_nodes(const char *tails);

/* Let time pass until @counter grows. Return: how many ms have passed. */
unsigned int time_pass_until(const unsigned int *counter);

/*
 * Return: a Report as OpenSM sends it, of a GID that ends with @tail, or of a
 * LID.
 */
struct puppet_mad report_of(uint16_t trap, uint8_t tail);
struct puppet_mad report_of_lid(uint16_t trap, uint16_t lid);

/* Deliver a Report. */
void send_report(const struct puppet_mad *report);

/* Check the kind of the @n-th event, from 0. Return: the event. */
const struct ibsa_event *expect_event(const struct diary *diary, int n,
				      enum ibsa_event_kind kind);

/*
 * Check that the events from the @n-th to the last are of these kinds; 0 ends
 * the list.
 */
#define EXPECT(diary, n, ...) \
	expect_all((diary), (n), (const int[]){ __VA_ARGS__, 0 })
void expect_all(const struct diary *diary, int n, const int *kinds);

#endif
