/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a fabric server, for a transport: state that its source files
 * share.
 */
#ifndef REMOTE_LINK_H
#define REMOTE_LINK_H

#include "remote/control.h"
#include "remote/file.h"
#include "umad/transport.h"

/*
 * Received bytes that are not read yet: from @at to @end, in a buffer of @room.
 */
struct remote_inbox {
	uint8_t *bytes;
	size_t room;
	size_t at;
	size_t end;
	size_t most; /* maximum of @room */
	/* Bytes of a packet that is too large, still to be discarded. */
	size_t skipped;
	bool is_dry; /* whether the last recv() returned everything that had
		      * arrived */
	/* A complete packet was taken since @begun_ns was set. */
	bool has_taken;
	/* When an incomplete packet began to arrive; 0: none. */
	uint64_t begun_ns;
};

/* The largest MAD that a transport sends is one of Omni-Path. */
enum { OUTBOX_BYTES = UMAD_HEADER_BYTES + 2048 };

/* The rest of a packet that the socket took a part of: from @at to @end. */
struct remote_outbox {
	uint8_t bytes[OUTBOX_BYTES];
	size_t at;
	size_t end;
	uint64_t begun_ns; /* when sending of it began; 0: there is no rest */
};

/* The requests on a new connection, in order. */
enum link_step {
	LINK_DOWN, /* not connected */
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
	int data;      /* data socket; -1 unless @step is LINK_UP */
	bool is_quiet; /* the last wait found nothing on the connection */
	/* An agent has methods, which other clients cannot register. */
	bool has_methods;
	/* The agent to register once no other request is in flight. */
	bool has_wanted;
	struct umad_agent_request2 wanted;
	struct ibsa_error refusal; /* the server's text on the last answer */
	struct remote_inbox inbox;
	struct remote_outbox outbox;

	/* Other threads may read the port's state while it is renewed. */
	pthread_mutex_t renewing;
	uint64_t renew_ns; /* when to try the next connection */
	/*
	 * The server's count at its last message, and the sum that is reported.
	 */
	uint32_t counted;
	uint32_t reregisters;

	int epoll_fd; /* epoll set of the connection, the data socket and the
		       * timer */
	/*
	 * Expires for the next connection attempt, or when a packet is
	 * incomplete for too long.
	 */
	int timer_fd;
	int wake_fd;
};

static inline struct remote_link *link_of(struct umad_file *file)
{
	return (struct remote_link *)file;
}

/* The port's state as the server last sent it. @renewing is held. */
void ibsa__remote_link_state(struct remote_link *link,
			     struct ibsa_port_state *out);

/*
 * Read what has arrived on the connection. @renewing is held. Return: 0;
 * -ENODEV the server has gone, and ibsa__remote_link_shut() is to be called.
 */
int ibsa__remote_link_read(struct remote_link *link) IBSA_MUST_USE;

/*
 * Make the fd readable, so that the dispatcher calls the changed operation; and
 * end that.
 */
void ibsa__remote_link_nudge(struct remote_link *link);
void ibsa__remote_link_nudge_end(struct remote_link *link);

/*
 * A packet must arrive, or be sent, completely within the timeout. limit_set
 * makes the fd readable at that time, and is called whenever a packet begins or
 * ends; is_late tells whether the time has passed.
 */
void ibsa__remote_link_limit_set(struct remote_link *link);
bool ibsa__remote_link_is_late(const struct remote_link *link);

/* Start or stop polling the data socket for writing. */
void ibsa__remote_link_watch_writable(struct remote_link *link, bool on);

/*
 * Send the requests of a new connection from @step on. Return: 0; or an error,
 * after disconnecting.
 */
int ibsa__remote_link_up_begin(struct remote_link *link,
			       enum link_step step) IBSA_MUST_USE;

/*
 * Read the answers that have arrived and send the next request, without
 * waiting.
 * Return: 1 the link is up; 0 an answer is outstanding; or an error, and the
 * caller disconnects.
 */
int ibsa__remote_link_up_go(struct remote_link *link,
			    struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Wait until the link is up, until the timeout after connecting. Return: 0; or
 * an error, after disconnecting.
 */
int ibsa__remote_link_up_wait(struct remote_link *link,
			      struct ibsa_error *error) IBSA_MUST_USE;

/* Milliseconds until the timeout after connecting. */
int ibsa__remote_link_left_ms(const struct remote_link *link);

/* Disconnect, even if a request is in flight. */
void ibsa__remote_link_down(struct remote_link *link);

/* If the link is up, disconnect, and try to reconnect later. */
void ibsa__remote_link_shut(struct umad_file *file, bool is_gone);

/* Reconnect, in steps that do not wait. Return: 0; -ENODEV not yet. */
int ibsa__remote_link_open(struct umad_file *file,
			   bool *out_is_other) IBSA_MUST_USE;

int ibsa__remote_link_wait_init(struct remote_link *link) IBSA_MUST_USE;
void ibsa__remote_link_wait_done(struct remote_link *link);
/* Remove the sockets from the epoll set. */
void ibsa__remote_link_unwatch(const struct remote_link *link);
int ibsa__remote_link_fd(const struct umad_file *file);
int ibsa__remote_link_wait(struct umad_file *file, int timeout_ms);
void ibsa__remote_link_wake(struct umad_file *file);

/*
 * If the socket takes only part of a packet, keep the rest. Return: 0; -EBUSY
 * the server has not read the packets before; -EINVAL @len is too large; -EIO
 * the server has gone.
 */
int ibsa__remote_link_send(struct umad_file *file, const void *packet,
			   size_t len);
int ibsa__remote_link_receive(struct umad_file *file,
			      struct umad_buffer *buffers, size_t count);

/* Discard the received bytes; the buffer stays. */
void ibsa__inbox_reset(struct remote_inbox *inbox);

/* Discard what has not been sent. */
void ibsa__outbox_reset(struct remote_outbox *outbox);

/*
 * Send the rest of a packet. Return: 0 there is no rest; -EBUSY the socket's
 * buffer is full; -EIO the server has gone.
 */
int ibsa__outbox_push(struct remote_link *link) IBSA_MUST_USE;

#endif
