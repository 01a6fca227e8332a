/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way between one client and the SA, with all that can befall a MAD. */
#ifndef SIM_FABRIC_LINK_H
#define SIM_FABRIC_LINK_H

#include "sim/fabric/fabric.h"
#include "sim/mad/way.h"

/* A client's end; the fabric's lock guards all that changes. */
struct link {
	struct ibsa_transport base;
	struct ibsa_fabric *fabric;
	struct link *next;   /* client of the fabric */
	uint32_t port;	     /* index in the topology */
	uint32_t end;	     /* index of the end port */
	struct way answers;  /* Reports too; its queue is the pool of both */
	struct way requests; /* those that do not reach the SA at once */
	struct message *received; /* the client reads it */
	uint64_t alarm_ns;	  /* what the timer is set to; 0: off */
	int fd;			  /* the timer; -1 on a virtual clock */
	struct report_listener listener;
	bool is_watched;      /* somebody may poll the fd */
	bool is_woken;	      /* until the next wait ends */
	bool is_wake_pending; /* until the client has looked */
};

static inline struct queue *link_pool(struct link *link)
{
	return link->answers.pool;
}

/*
 * Send a request; the fabric is locked. Return: 0; -EINVAL it has no GRH and
 * the port needs one; -ENOMEM.
 */
int ibsa__link_send(struct link *link, const struct ibsa_address *to,
		    const uint8_t *mad, size_t len);

/* When something will happen next; UINT64_MAX: nothing will. */
uint64_t ibsa__link_due(const struct link *link);

/* Whether an answer is there; requests that are due reach the SA first. */
bool ibsa__link_is_ready(struct link *link);

/* Let what is due happen: requests reach the SA, and Reports are sent. */
void ibsa__link_settle(struct link *link);

/* As struct report_listener has them; @arg is the link. */
void ibsa__link_report(void *arg, const struct ibsa_address *sa,
		       const uint8_t *mad, uint64_t now_ns);
bool ibsa__link_hear(void *arg, uint64_t until_ns);

/*
 * Begin or end listening to Reports. Return: 0; -EBUSY another client of the
 * port does.
 */
int ibsa__link_listen(struct link *link, bool on);

/* Somebody else has put something into its queue (transport.c). */
void ibsa__link_alert(struct link *link);

/*
 * After a sweep, what has not arrived at clients that the SM does not see never
 * will; as in struct subnet_observer, @arg is the fabric.
 */
void ibsa__links_observe(void *arg, const struct subnet_change *change);

/*
 * Show the fabric's tap a request of IBSA_MAD_BYTES that a client sends, and
 * a message that arrives at a client (tap.c).
 */
void ibsa__link_tap_sent(struct link *link, const struct ibsa_address *to,
			 const uint8_t *mad, uint64_t time_ns);
void ibsa__link_tap_arrived(struct link *link, const struct message *message);

/* The next answer that is there, or NULL. */
struct message *ibsa__link_receive(struct link *link);

#endif
