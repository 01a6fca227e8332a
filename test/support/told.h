/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client with a service and a watch, and counters of their events. */
#ifndef TEST_TOLD_H
#define TEST_TOLD_H

#include <ibsa/event.h>
#include <ibsa/service.h>

/* Number of events, and the watch and the service that they are of. */
struct told {
	struct ibsa_event_watch *watch;
	struct ibsa_registration *registration;
	int answers, good;			    /* of queries */
	int registered, missing, released;	    /* of the service */
	int subscribed, lost, gaps, reports, ended; /* of the watch */
};

/* The ibsa_reply_fn of a struct told. */
void told_reply(const struct ibsa_reply *reply, void *arg);

/*
 * Watch the events that the SM reports and register a service, and wait until
 * the SA has confirmed both.
 */
void told_watch(struct ibsa_client *client, uint64_t service_id,
		struct told *told);

/* Dispatch until a counter has reached @times. */
void told_await(struct ibsa_client *client, const int *what, int times);

#endif
