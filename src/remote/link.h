/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A umad file at a fabric server for a transport: its state, for its own files. */
#ifndef REMOTE_LINK_H
#define REMOTE_LINK_H

#include "remote/control.h"
#include "remote/file.h"
#include "umad/transport.h"

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

/* What is asked on a new connection, in this order. */
enum link_step {
	LINK_DOWN, /* there is no connection */
	LINK_HELLO,
	LINK_ATTACH,
	LINK_WATCH,
	LINK_UP,
};

struct remote_link {
	struct umad_file base;
	struct umad_transport transport;
	struct remote_address address;
	struct remote_connection connection;
	struct remote_control control; /* guarded by @renewing */
	enum link_step step;
	int data;	  /* -1 unless @step is LINK_UP */
	bool is_quiet;	  /* the last wait has seen nothing on the connection */
	bool has_methods; /* an agent has taken methods from other clients */
	/* An agent that is to be asked for, once nothing else is asked. */
	bool has_wanted;
	struct umad_agent_request2 wanted;
	struct ibsa_error refusal; /* the server's sentence on the last one */
	struct remote_inbox inbox;
	struct remote_outbox outbox;

	/* Another thread may read the port while it is renewed. */
	pthread_mutex_t renewing;
	uint64_t renew_ns; /* not to be looked for before */
	/* As the server last counted, and as they are shown. */
	uint32_t counted;
	uint32_t reregisters;

	int epoll_fd; /* of the connection, the data end and the timer */
	int timer_fd; /* to look for a server that has gone, or gives up a
		       * packet half-way */
	int wake_fd;
};

static inline struct remote_link *link_of(struct umad_file *file)
{
	return (struct remote_link *)file;
}

/* The port as the server has last sent it. @renewing is held. */
void ibsa__remote_link_state(struct remote_link *link,
			     struct ibsa_port_state *out);

/*
 * Read what has come on the connection. @renewing is held. Return: 0; -ENODEV
 * the server has gone, which ibsa__remote_link_shut() is to be told.
 */
int ibsa__remote_link_read(struct remote_link *link) IBSA_MUST_USE;

/* Have the fd readable, so that the dispatcher asks what has changed. */
void ibsa__remote_link_nudge(struct remote_link *link);
void ibsa__remote_link_nudge_end(struct remote_link *link);

/*
 * A packet that has begun to come, or to go, has to be through within the
 * patience: have the fd readable at that time, and see whether it has come.
 * The former is to be called when a packet begins or ends.
 */
void ibsa__remote_link_limit_set(struct remote_link *link);
bool ibsa__remote_link_is_late(const struct remote_link *link);

/* Wait for the data end to be writable, too, or no longer. */
void ibsa__remote_link_watch_writable(struct remote_link *link, bool on);

/* Ask for all that a new connection needs, from @step on. Return: 0; or an
 * error, and it is disconnected. */
int ibsa__remote_link_up_begin(struct remote_link *link,
			       enum link_step step) IBSA_MUST_USE;

/*
 * Read the answers that have come, and ask on, without waiting. Return: 1 the
 * link is up; 0 an answer is awaited; or an error, and the caller disconnects.
 */
int ibsa__remote_link_up_go(struct remote_link *link,
			    struct ibsa_error *error) IBSA_MUST_USE;

/* Wait for all answers, within the patience from connecting on. Return: 0; or an
 * error, and the link is disconnected. */
int ibsa__remote_link_up_wait(struct remote_link *link,
			      struct ibsa_error *error) IBSA_MUST_USE;

/* What is left of the patience from connecting on. */
int ibsa__remote_link_left_ms(const struct remote_link *link);

/* Disconnect, whatever has been asked. */
void ibsa__remote_link_down(struct remote_link *link);

/* Close what is open. */
void ibsa__remote_link_shut(struct umad_file *file, bool is_gone);

/* Look for a server. Return: 0; -ENODEV there is none, or not yet again. */
int ibsa__remote_link_open(struct umad_file *file,
			   bool *out_is_other) IBSA_MUST_USE;

int ibsa__remote_link_wait_init(struct remote_link *link) IBSA_MUST_USE;
void ibsa__remote_link_wait_done(struct remote_link *link);
/* Have the fd readable when one of the connection's is; none of them. */
int ibsa__remote_link_watch(struct remote_link *link, int fd) IBSA_MUST_USE;
void ibsa__remote_link_unwatch(const struct remote_link *link);
int ibsa__remote_link_fd(const struct umad_file *file);
int ibsa__remote_link_wait(struct umad_file *file, int timeout_ms);
void ibsa__remote_link_wake(struct umad_file *file);

int ibsa__remote_link_send(struct umad_file *file, const void *packet,
			   size_t len);
int ibsa__remote_link_receive(struct umad_file *file,
			      struct umad_buffer *buffers, size_t count);

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
