/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The remote transport's state, for the files it is made of. */
#ifndef REMOTE_LINK_H
#define REMOTE_LINK_H

#include <stdatomic.h>

#include "remote/control.h"
#include "remote/file.h"

/* Bytes that came and are not read yet: @at to @end of @room. */
struct remote_inbox {
	uint8_t *bytes;
	size_t room;
	size_t at;
	size_t end;
	size_t most;	   /* that @room may become */
	size_t skipped;	   /* still to come of a packet that is too large */
	bool is_dry;	   /* the last look took all there was */
	bool has_taken;	   /* a whole packet, since @begun_ns was set */
	uint64_t begun_ns; /* a packet is coming of which not all is here: since
			    * when; else 0 */
};

/* The largest packet that a transport sends: a MAD of Omni-Path. */
enum { OUTBOX_BYTES = UMAD_HEADER_BYTES + 2048 };

/* The rest of a packet of which the server's end took a part: @at to @end. */
struct remote_outbox {
	uint8_t bytes[OUTBOX_BYTES];
	size_t at;
	size_t end;
	uint64_t begun_ns; /* since when there is a rest; else 0 */
};

struct remote_link {
	struct ibsa_transport base;
	struct remote_place place;
	struct remote_connection connection;
	struct remote_control control; /* guarded by @renewing */
	int data;		       /* -1: the server has gone */
	bool is_quiet; /* the last wait has seen nothing on the connection */
	bool is_opa;
	bool listens; /* is to take Reports, whether it has an agent or not */
	bool has_reports;
	bool asks_opa;			   /* to register the agent for OPA */
	int reports_err;		   /* why there are no Reports */
	struct ibsa_error reports_refusal; /* the server's sentence on that */
	uint32_t agent;
	uint32_t opa_agent;
	uint32_t report_agent;
	struct remote_inbox inbox;
	struct remote_outbox outbox;

	/* Another thread may read the port while it is renewed. */
	pthread_mutex_t renewing;
	uint64_t renew_ns;   /* not to be looked for before */
	bool is_greeting;    /* a server has not answered the hello */
	uint64_t greeted_ns; /* since when */
	int news;	     /* that the server has gone, until recv said so */
	bool is_renewed;     /* which was not reported yet */
	/* As the server last counted, and as they are shown. */
	uint32_t counted;
	uint32_t reregisters;

	int epoll_fd; /* of the connection, the data end and the timer */
	int timer_fd; /* to look for a server that has gone, or gives up a
		       * packet half-way */
	int wake_fd;
};

static inline struct remote_link *link_of(struct ibsa_transport *transport)
{
	return (struct remote_link *)transport;
}

/* The port as the server has last sent it. @renewing is held. */
void ibsa__away_state(struct remote_link *link, struct ibsa_port_state *out);

/*
 * Read what has come on the connection. @renewing is held. Return: 0; -ENODEV
 * the server has gone, which ibsa__away_lose() is to be told.
 */
int ibsa__away_hear(struct remote_link *link) IBSA_MUST_USE;

/* Ask to have Reports, or none, as @listens says; waits for no answer. */
void ibsa__away_reports_ask(struct remote_link *link);

/* Have the fd readable, so that the dispatcher asks what has changed. */
void ibsa__away_nudge(struct remote_link *link);
void ibsa__away_nudge_end(struct remote_link *link);

/*
 * A packet that has begun to come, or to go, has to be through within the
 * patience: have the fd readable at that time, and see whether it has come.
 * The former is to be called when a packet begins or ends.
 */
void ibsa__away_limit_set(struct remote_link *link);
bool ibsa__away_is_late(const struct remote_link *link);

/* Wait for the data end to be writable, too, or no longer. */
void ibsa__away_watch_writable(struct remote_link *link, bool on);

/* Attach and register, once connected. 0 or an error; then it is not. */
int ibsa__away_up(struct remote_link *link,
		  struct ibsa_error *error) IBSA_MUST_USE;

/* The server has gone. Return: -ENODEV. */
int ibsa__away_lose(struct remote_link *link);

/* Give up a renewal that has begun. */
void ibsa__away_renew_end(struct remote_link *link);

/* Have a server. Return: 0; -ENODEV there is none, or not yet again. */
int ibsa__away_have(struct remote_link *link) IBSA_MUST_USE;

int ibsa__away_wait_init(struct remote_link *link) IBSA_MUST_USE;
void ibsa__away_wait_done(struct remote_link *link);
int ibsa__away_watch(struct remote_link *link) IBSA_MUST_USE;
int ibsa__away_fd(struct ibsa_transport *transport);
int ibsa__away_wait(struct ibsa_transport *transport, int timeout_ms);
void ibsa__away_wake(struct ibsa_transport *transport);

int ibsa__away_send(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms);
int ibsa__away_recv(struct ibsa_transport *transport, struct ibsa_message *out);
int ibsa__away_listen(struct ibsa_transport *transport, bool on);

/* Forget what has not been read; the room stays. */
void ibsa__inbox_reset(struct remote_inbox *inbox);

/* Forget what has not been sent. */
void ibsa__outbox_reset(struct remote_outbox *outbox);

/* Send what is left of a packet. Return: 0 nothing is; -EBUSY; -EIO. */
int ibsa__outbox_push(struct remote_link *link) IBSA_MUST_USE;

/* Send a packet, or what the server's end takes of it now. Return: 0; -EBUSY
 * the server has not read what was sent before; -EINVAL; -EIO. */
int ibsa__outbox_send(struct remote_link *link,
		      const struct umad_header *header, const void *mad,
		      size_t len) IBSA_MUST_USE;

#endif
