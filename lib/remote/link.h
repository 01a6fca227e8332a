/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport's umad file at a server: state that the source files of
 * the transport share.
 */
#ifndef REMOTE_LINK_H
#define REMOTE_LINK_H

#include "remote/control.h"
#include "remote/data.h"
#include "remote/file.h"
#include "umad/transport.h"

/*
 * Bytes received from the data socket and not taken yet: from @at to @end, in
 * a buffer of @room bytes.
 */
struct remote_inbox {
	uint8_t *bytes;
	size_t room;
	size_t at;
	size_t end;
	size_t most; /* maximum of @room */
	/*
	 * Number of bytes of a packet that is too large which are still to be
	 * discarded.
	 */
	size_t skipped;
	/*
	 * The last recv() from the data socket returned everything that had
	 * arrived.
	 */
	bool is_dry;
	/*
	 * A complete packet was taken from the inbox since @begun_ns was set.
	 */
	bool has_taken;
	/*
	 * Time at which the incomplete packet in the inbox began to arrive; 0:
	 * there is none.
	 */
	uint64_t begun_ns;
};

/*
 * Size of the outbox: the largest MAD that a transport sends has 2048 bytes,
 * on Omni-Path.
 */
enum { OUTBOX_BYTES = UMAD_HEADER_BYTES + 2048 };

/*
 * The bytes from @at to @end of a packet that the data socket did not accept
 * yet.
 */
struct remote_outbox {
	uint8_t bytes[OUTBOX_BYTES];
	size_t at;
	size_t end;
	/*
	 * Time at which sending of the packet in the outbox began; 0: the
	 * outbox is empty.
	 */
	uint64_t begun_ns;
};

/* State of the connection to a server. */
enum link_step {
	LINK_DOWN, /* not connected */
	/* TCP: the connection is not established yet */
	LINK_CONNECTING,
	/*
	 * the answers to the requests of a new connection have not all arrived
	 */
	LINK_OPENING,
	/* TCP: the data socket is not connected yet */
	LINK_JOINING,
	LINK_UP,
};

struct remote_link {
	struct umad_file base;
	struct umad_transport transport;
	struct remote_address address;
	struct remote_connection connection;
	struct remote_control control; /* guarded by @renewing */
	enum link_step step;
	/* Sockets and rings for packets; open only while @step is LINK_UP. */
	struct remote_data data;
	int join_fd; /* while @step is LINK_JOINING, the data socket */
	/* The last wait found nothing to read on the connection. */
	bool is_quiet;
	/*
	 * A registered agent has methods; until it is unregistered, other
	 * clients of the server cannot register them.
	 */
	bool has_methods;
	/*
	 * An agent is to be registered as soon as no other request is in
	 * flight.
	 */
	bool has_wanted;
	struct umad_agent_request2 wanted;
	/* The text in the server's last answer, if it was an error. */
	struct ibsa_error refusal;
	struct remote_inbox inbox;
	struct remote_outbox outbox;

	/*
	 * Lock of the connection: other threads may read the port's state
	 * while the dispatcher reconnects.
	 */
	pthread_mutex_t renewing;
	/* The time of the next attempt to connect. */
	uint64_t renew_ns;
	/*
	 * The number of client re-register events in the server's last
	 * message, and the sum over all connections, which is reported.
	 */
	uint32_t counted;
	uint32_t reregisters;

	/*
	 * The descriptor that programs poll: an epoll set that contains the
	 * connection, the data socket and the timer. The timer expires at the
	 * next attempt to connect, when a packet has been incomplete for too
	 * long, or at once by ibsa__remote_link_nudge(). The epoll set and the
	 * timer are -1 until a program asks for the descriptor.
	 */
	int epoll_fd;
	int timer_fd;
	int wake_fd;
};

static inline struct remote_link *link_of(struct umad_file *file)
{
	return (struct remote_link *)file;
}

/* A socket that is being connected becomes writable. */
static inline bool link_is_connecting(const struct remote_link *link)
{
	return link->address.is_tcp && link->step == LINK_CONNECTING;
}

/*
 * ibsa__remote_link_nudge() makes the transport's fd readable, so that the
 * dispatcher calls the changed operation; ibsa__remote_link_nudge_end() undoes
 * this.
 */
void ibsa__remote_link_nudge(struct remote_link *link);
void ibsa__remote_link_nudge_end(struct remote_link *link);

/*
 * A packet must be received or sent completely within the timeout.
 * ibsa__remote_link_limit_set() makes the fd readable at that time; it is
 * called whenever a packet begins or ends. ibsa__remote_link_is_late() returns
 * whether the time has passed.
 */
void ibsa__remote_link_limit_set(struct remote_link *link);
bool ibsa__remote_link_is_late(const struct remote_link *link);

/* Start or stop waiting until the data socket is writable. */
void ibsa__remote_link_watch_writable(struct remote_link *link, bool on);

/*
 * Begin to set up a new connection. Return: 0; or an error, after the connection
 * was closed.
 */
int ibsa__remote_link_up_begin(struct remote_link *link) IBSA_MUST_USE;

/*
 * Continue to set up a connection, without waiting: read the server's answers
 * that have arrived. Return: 1 the link is up; 0 an answer, or TCP's connection,
 * is outstanding; or an error, after which the caller closes the connection.
 */
int ibsa__remote_link_up_go(struct remote_link *link,
			    struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Wait until the link to the server is up, or the timeout for connecting has
 * passed. Return: 0; or an error, after the connection was closed.
 */
int ibsa__remote_link_up_wait(struct remote_link *link,
			      struct ibsa_error *error) IBSA_MUST_USE;

/* Milliseconds until the timeout after connecting. */
int ibsa__remote_link_left_ms(const struct remote_link *link);

/* Close the connection to the server, even if a request is in flight. */
void ibsa__remote_link_down(struct remote_link *link);

/* If the link to the server is up, close it, and try to connect again later. */
void ibsa__remote_link_shut(struct umad_file *file, bool is_gone);

/*
 * Connect to the server again, in steps that do not wait. Return: 0 connected;
 * -ENODEV not connected yet.
 */
int ibsa__remote_link_open(struct umad_file *file,
			   bool *out_is_other) IBSA_MUST_USE;

int ibsa__remote_link_wait_init(struct remote_link *link) IBSA_MUST_USE;
void ibsa__remote_link_wait_done(struct remote_link *link);
/*
 * Wait for @events of a socket, or remove all sockets from the epoll set, if
 * there is an epoll set.
 */
int ibsa__remote_link_watch(const struct remote_link *link, int fd,
			    uint32_t events) IBSA_MUST_USE;
void ibsa__remote_link_unwatch(const struct remote_link *link);
int ibsa__remote_link_fd(struct umad_file *file);
int ibsa__remote_link_wait(struct umad_file *file, int timeout_ms);
void ibsa__remote_link_wake(struct umad_file *file);

/*
 * Send a packet. If the data socket accepts only a part of it, store the rest
 * in the outbox; a ring accepts a packet as a whole or not at all. Return: 0;
 * -EBUSY the server has not read the earlier packets; -EINVAL @len is too
 * large; -EIO the server has gone.
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
 * Send the rest of a packet from the outbox. Return: 0 the outbox is empty;
 * -EBUSY the socket's buffer is full; -EIO the server has gone.
 */
int ibsa__outbox_push(struct remote_link *link) IBSA_MUST_USE;

#endif
