/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client on a puppet, and an SA behind it that stores subscriptions, shows
 * them and reports, as far as a test lets it.
 */
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

/* The client's other side. */
extern struct puppet puppet;
extern struct ibsa_client *client;

/* The SA behind it: what it has, and how it behaves. */
extern struct rig_sa {
	unsigned int has; /* bits of producer types */
	bool is_silent;
	bool hides;	     /* shows no subscription */
	uint16_t set_status; /* to a Set of InformInfo ... */
	unsigned int set_of; /* ... of these producer types */
	uint16_t get_status; /* to a GetTable of InformInfoRecord */
	uint32_t qpn;	     /* that it shows */
	uint8_t nodes[8];    /* last bytes of their port GUIDs */
	unsigned int node_count;
	uint8_t without_lid;		 /* one of them */
	unsigned int hollow;		 /* so many records, the first, have no
					  * LID, and one more no GUID */
	uint16_t node_status;		 /* to a GetTable of NodeRecord */
	bool holds_table;		 /* it is answered by serve_table() */
	struct puppet_mad table;	 /* the last request for it */
	unsigned int tables;		 /* such requests */
	unsigned int sets, unsets, gets; /* that it has seen */
	unsigned int answers;		 /* ReportResp */
	unsigned int processed;		 /* MADs looked at so far */
	uint64_t next_id;		 /* of a Report */
	struct puppet_mad last;		 /* Set or GetTable */
	struct puppet_mad last_answer;
} sa;

/* What a watch was told, and what it does then. It is told of its end by
 * the tear-down, so it is no variable of the test function. */
struct diary {
	int count;
	struct ibsa_event events[SEEN];
	struct ibsa_notice notices[SEEN];
	unsigned int answered[SEEN]; /* how many ReportResp were out by then */
	struct ibsa_event_watch *watch;
	struct ibsa_event_watch *victim; /* to be ended at the next event */
	struct diary *starts;		 /* a watch of its own then */
	int close_err;
};

int rig_set_up(void **state);
int rig_tear_down(void **state);

/* Watch; the diary begins with it. */
void watch(const struct ibsa_event_options *options, struct diary *diary);

/* Watch kinds and let the SA answer: the diary has SUBSCRIBED alone. */
void watch_subscribed(unsigned int kinds, struct diary *diary);

void note(const struct ibsa_event *event, void *arg);

/* Let @ms pass, to the millisecond, and the SA answer. */
void pass(unsigned int ms);

/* The SA answers what it was asked; pass() does so too. */
void serve(void);

/* Answer the last request for the table of nodes, as they are now. */
void serve_table(void);

/* The nodes that the SA has: the last bytes of their GUIDs; 0 ends. */
void set_nodes(const char *tails);

/* Let time pass until one more @counter; return how many ms. */
unsigned int until(const unsigned int *counter);

/* A Report as OpenSM makes it, of a GID that ends with @tail, or of a LID. */
struct puppet_mad report_of(uint16_t trap, uint8_t tail);
struct puppet_mad report_of_lid(uint16_t trap, uint16_t lid);

/* It arrives. */
void send_report(const struct puppet_mad *report);

/* The @n-th event, from 0, is of this kind. */
const struct ibsa_event *expect(const struct diary *diary, int n, int kind);

/* From the @n-th on, and to the end, the events are of these kinds; 0 ends. */
#define EXPECT(diary, n, ...) \
	expect_all((diary), (n), (const int[]){ __VA_ARGS__, 0 })
void expect_all(const struct diary *diary, int n, const int *kinds);

#endif
