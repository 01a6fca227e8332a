/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The insides of a server. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include <sys/socket.h>

#include "base/large.h"
#include "base/list.h"
#include "base/map.h"
#include "remote/ring.h"
#include "remote/tcp.h"
#include "serve/serve.h"

enum {
	SERVER_BATCH_BYTES = 65536, /* maximum of one read or write */
	SERVER_PATH_MAX = 108, /* as long as sun_path in struct sockaddr_un */
	SERVER_LOCK_MAX = SERVER_PATH_MAX + 5,
	TURN_NS = 1000000, /* of a client: see turn.c */
	/* Descriptors of connections over TCP that have sent no valid token. */
	SERVER_STRANGER_FILES = 128,
};

/*
 * A file descriptor for which the server waits, and the function that it
 * calls when an event arrives.
 */
struct server_source {
	void (*handle)(struct server_source *source, uint32_t events);
	struct server *server;
	int fd;
	uint32_t events; /* epoll events to wait for */
	/* The descriptor @fd is in the epoll set of the server. */
	bool is_watched;
	/*
	 * Time by which a frame or packet that has begun to arrive must be
	 * complete; UINT64_MAX: none has begun. The client is disconnected if
	 * it misses this deadline.
	 */
	uint64_t deadline_ns;
};

/* A user that has clients (user.c). */
struct serve_user {
	struct list link; /* in the server's list @users */
	struct server *server;
	uid_t id;
	uint64_t used[SERVE_QUOTAS];
	/*
	 * The time up to which the requests of the user have used the quota of
	 * requests; it may be up to a second ahead.
	 */
	uint64_t spent_ns;
};

/* A growing buffer. */
struct server_bytes {
	uint8_t *at;
	size_t count; /* bytes in use */
	size_t room;  /* allocated bytes */
};

/*
 * A client: its connection, and the umad file that it may
 * have opened.
 */
struct server_peer {
	/* Link in the server's list @peers or @gone. */
	struct list link;
	/* The client's connection, for requests and events. */
	struct server_source control;
	/* Socket for packets of the umad file; fd -1: no umad file is open. */
	struct server_source data;
	/*
	 * Rings for packets, in place of the data socket, which then only wakes
	 * the client; and the eventfd with which the client wakes the server.
	 */
	struct rings rings;
	struct server_source bell;
	struct list
		active; /* The client's link in the server's list @active. */
	/* Time of the server that the client has used, to compare clients. */
	uint64_t spent_ns;
	/* Time at which the client's turn ends; 0: not known yet. */
	uint64_t until_ns;
	/*
	 * Bytes of packets that the client may have sent before its unread
	 * request, or before it closed the connection: these packets are
	 * processed first.
	 */
	size_t bytes_ahead;
	struct server_bytes request_bytes; /* an incomplete request */
	struct umad_file *file;		   /* the umad file, or NULL */
	/* The beginning of an incomplete packet from the client. */
	struct server_bytes part;
	/*
	 * Bytes of packets to send when the client's socket or ring has room.
	 */
	struct server_bytes pending;
	/*
	 * How many bytes of the first packet in the queue of @file were sent.
	 */
	size_t head_sent;
	struct list ready; /* The client's link in the server's list @ready. */
	/* Link in the server's list @strangers; empty for another client. */
	struct list stranger;
	/*
	 * Process id of the client; 0: the client is in another PID namespace;
	 * SERVER_TCP_PID: it is connected over TCP.
	 */
	pid_t pid;
	/* The next data socket over TCP sends this ticket. */
	uint8_t ticket[REMOTE_TICKET_BYTES];
	bool has_ticket;
	/* Over TCP: the file that sets IsSM of a port; or NULL. */
	struct umad_file *issm;
	bool is_tcp;
	bool may_change; /* its commands may change something */
	struct serve_user *user;
	/*
	 * Time until which the client's requests and packets wait, because its
	 * user has used the quota of requests; 0: they do not wait.
	 */
	uint64_t held_until_ns;
	struct serve_port port;		/* that the client has selected */
	struct server_bytes sent_state; /* last port state sent to the client */
	bool is_greeted;		/* the client has sent a valid hello */
	/*
	 * The client has one of the slots above the limit of connections,
	 * which are for commands.
	 */
	bool is_reserved;
	bool has_rings; /* the client can use rings */
	/* The answer to REMOTE_ATTACH has given the client its descriptors. */
	bool has_attached;
	bool is_watching; /* the client has asked for events of its port */
	/*
	 * The client has closed its connection over TCP, but not its data
	 * socket, through which packets may still arrive.
	 */
	bool has_ended;
	/*
	 * The first request of @request_bytes waits until the umad file has got
	 * @packets_before packets.
	 */
	bool is_early;
	uint32_t packets_before;
	uint32_t packets; /* that the umad file has got */
	bool is_gone;	  /* disconnected, and in the server's list @gone */
	/*
	 * Bytes of memory for messages that are incomplete or not sent yet,
	 * without the queue of the umad file, at the end of the last turn.
	 */
	size_t memory;
	/* Work for the client's next turn: */
	/* The data socket of a client without rings has packets. */
	bool has_data;
	bool has_output;  /* the client may have room for packets */
	bool has_control; /* the connection has requests */
	bool has_request; /* @request_bytes has a complete request */
	bool is_ending;	  /* the client has closed its data socket */
};

/* Whether the client's next request waits for packets. */
static inline bool peer_awaits_packets(const struct server_peer *peer)
{
	return peer->is_early &&
	       (int32_t)(peer->packets_before - peer->packets) > 0;
}

/* Stands for the process ids of all clients over TCP; no process has it. */
enum { SERVER_TCP_PID = 0x7fffffff };

/*
 * A port and its FIFO: a program sets the port's bit IsSM by opening the FIFO.
 */
struct server_issm {
	struct list link;
	char *name;		/* file name of the FIFO */
	struct umad_file *file; /* sets the port's IsSM bit */
	int fd;			/* the write end of the FIFO */
	uint32_t device;
	/*
	 * Time since which neither a process has the FIFO open nor a client
	 * uses the device; 0: the FIFO is in use.
	 */
	uint64_t idle_ns;
	bool is_on; /* the IsSM bit is set by this file */
};

/* Slots for connections: those in use, in all and by each process. */
struct server_slots {
	uint32_t used;
	/*
	 * Map from a process id to its number of slots; without process id 0.
	 */
	struct map used_by;
};

/* The refused clients of which no note has been made yet. */
struct refusals {
	uint64_t count;
	uint64_t note_ns; /* time of the last note; 0: none */
};

struct server_closings;

struct server {
	/* Link in the list of objects that a forked child has closed. */
	struct list inherited;
	/* Value of ibsa__process() when the server was opened. */
	unsigned int process;
	/* The options; limits that were 0 have their defaults. */
	struct server_options options;
	struct server_stats stats;
	struct server_slots slots;
	struct server_slots reserved; /* for commands, above the limit */
	struct refusals refusals;
	char path[SERVER_PATH_MAX]; /* of the socket */
	/*
	 * Device and inode of the socket: when the server is closed, it removes
	 * @path only if this socket is still there.
	 */
	dev_t device;
	large_inode inode;
	struct server_source listener;
	struct server_source tcp; /* listens for clients over TCP */
	uint16_t tcp_port;
	struct tcp_token token;
	struct tcp_token control_token;
	bool has_control_token;
	struct list strangers; /* the oldest is the first */
	uint32_t stranger_count;
	struct server_source timer; /* expires at @alarm_ns */
	struct server_source waker; /* an eventfd that ends a wait */
	/*
	 * An edge-triggered eventfd that is always readable: unlike a bell, no
	 * client can clear it. ibsa__source_repeat() makes the server's fd
	 * readable by it.
	 */
	struct server_source repeater;
	struct server_source input; /* of the owner: see struct serve_ops */
	bool had_input;
	/*
	 * The inotify descriptor, which reports that a FIFO was opened or
	 * closed.
	 */
	struct server_source opens;
	int epoll_fd;
	struct server_closings *closings;
	struct list peers;
	struct list users;
	uint32_t user_count; /* without root */
	/*
	 * Clients that were disconnected; they are freed at the end of a round
	 * of the event loop.
	 */
	struct list gone;
	struct list issms;
	unsigned int issm_count;
	/*
	 * Clients that have work, or whose rings are read in each round: the
	 * server has not announced that they must wake it.
	 */
	struct list active;
	/*
	 * Bytes of memory of all clients: the sum of their @memory, and of the
	 * queues of umad files.
	 */
	size_t memory;
	size_t queues;
	bool is_overloaded; /* the last round left work */
	/* @spent_ns of the client that had the last turn. */
	uint64_t spent_ns;
	/* Time at which the timer expires; UINT64_MAX: the timer is off. */
	uint64_t alarm_ns;
	/*
	 * Port states may have changed; clients that watch their port are not
	 * yet informed.
	 */
	bool has_changed;
	/*
	 * Ports may change soon: see ibsa__server_changes_soon(). Cleared when
	 * the timer expires.
	 */
	bool is_changing;
	/* No clients are accepted: file descriptors or memory were short. */
	bool is_accept_paused;
	uint8_t *in_batch;  /* buffer of SERVER_BATCH_BYTES bytes for reading */
	uint8_t *out_batch; /* buffer of SERVER_BATCH_BYTES bytes for sending */

	/* Guarded by the owner's lock. */
	/* Clients whose umad files may have packets to send. */
	struct list ready;
	/*
	 * The event loop is running handlers, and will check the list @ready
	 * before it waits.
	 */
	bool is_serving;
};

static inline const struct serve_ops *peer_ops(const struct server_peer *peer)
{
	return peer->control.server->options.ops;
}

static inline const struct serve_file_ops *
peer_file_ops(const struct server_peer *peer)
{
	return peer_ops(peer)->file;
}

static inline bool peer_is_stranger(const struct server_peer *peer)
{
	return !list_is_empty(&peer->stranger);
}

/* Whether the client's umad file has work for the client's next turns. */
static inline bool peer_has_work(const struct server_peer *peer)
{
	const struct serve_file_ops *ops = peer_file_ops(peer);

	return peer->file && ops->has_work && ops->has_work(peer->file);
}

/*
 * Start to wait for @events of a source, or change the events for which the
 * server waits.
 */
int ibsa__server_watch(struct server_source *source,
		       uint32_t events) IBSA_MUST_USE;

/* Have a readable, edge-triggered source handled once more in the next round. */
int ibsa__source_repeat(struct server_source *source) IBSA_MUST_USE;

/*
 * Stop waiting for a source; or, also close its descriptor, if it is open, and do
 * not call its handler again.
 */
void ibsa__source_unwatch(struct server_source *source);
void ibsa__source_close(struct server_source *source);

/*
 * Close a descriptor. A client's socket may hold unread descriptors that the
 * client has sent: it is then closed in a thread of its own.
 * ibsa__server_is_closing() returns whether so many threads still wait that no
 * client is accepted.
 */
void ibsa__server_fd_close(struct server *server, int fd);
bool ibsa__server_is_closing(const struct server *server);

/* Pass a line of text to the callback @note of the server's options, if set. */
void ibsa__server_note(struct server *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Set the timer to expire at @due_ns, unless it expires earlier. */
void ibsa__server_alarm(struct server *server, uint64_t due_ns);

/*
 * Take the lock for creating a socket at @path. Only this user and root can
 * hold it (lock.c). Waits for up to 2 seconds. Return: a descriptor;
 * -EBUSY another process holds the lock, or -EEXIST the lock file is not
 * private to this user; -EOPNOTSUPP the directory exists, but cannot hold
 * files; or another negative errno. *@error is set only with -EBUSY and
 * -EEXIST.
 */
int ibsa__server_lock(const char *path, struct ibsa_error *error) IBSA_MUST_USE;
void ibsa__server_unlock(const char *path, int fd);

/*
 * Users (user.c). ibsa__user_enter() counts a connection for the user @id;
 * return: NULL: the quota of connections is used up, or, *@out_is_short, memory
 * is short. ibsa__user_leave() ends a connection. ibsa__peer_charge() counts
 * @cost requests; return: false: they must wait, and @peer->held_until_ns is
 * set. ibsa__peer_release() ends this wait if it is over.
 */
struct serve_user *ibsa__user_enter(struct server *server, uid_t id,
				    bool *out_is_short);
void ibsa__user_leave(struct serve_user *user);
bool ibsa__peer_charge(struct server_peer *peer, uint64_t cost);
void ibsa__peer_release(struct server_peer *peer, uint64_t now_ns);

/*
 * New clients (accept.c). ibsa__server_accept() handles the listening
 * socket. ibsa__peer_leave() gives the client's slot back. If the client has a
 * slot for commands, and a request is not a command, ibsa__peer_check_slot()
 * returns -EUSERS, and otherwise 0; ibsa__peer_refuse() disconnects the client
 * after the answer. ibsa__server_reenable() accepts connections again if the
 * server had stopped because file descriptors or memory were short.
 */
void ibsa__server_accept(struct server_source *source, uint32_t events);
void ibsa__peer_leave(struct server_peer *peer);
int ibsa__peer_check_slot(const struct server_peer *peer, bool is_command,
			  struct ibsa_error *error) IBSA_MUST_USE;
void ibsa__peer_refuse(struct server_peer *peer);
void ibsa__server_reenable(struct server *server);

/* Clients (peer.c). */
int ibsa__server_listen(struct server *server,
			struct ibsa_error *error) IBSA_MUST_USE;
void ibsa__server_unlink(const struct server *server);
void ibsa__peer_disconnect(struct server_peer *peer, const char *why);

/*
 * @is_begun: a frame or packet has begun to arrive: set the deadline of the
 * client's socket, unless it is set. Otherwise clear the deadline.
 */
void ibsa__source_set_deadline(struct server_source *source, bool is_begun);

/*
 * Disconnect a client if its frame or packet is still incomplete at the
 * deadline.
 */
void ibsa__peer_check_deadlines(struct server_peer *peer, uint64_t now_ns);

/*
 * Disconnect a client after a send of which only @sent bytes succeeded, or
 * none if @sent is -1 (errno has the reason). @why is reported, unless the
 * client itself closed the connection.
 */
void ibsa__peer_send_failed(struct server_peer *peer, ssize_t sent,
			    const char *why);

void ibsa__peer_free(struct server_peer *peer);

/*
 * Send an event to each client that watches its port, if the port's state has
 * changed.
 */
void ibsa__peers_send_events(struct server *server);

/*
 * Requests (request.c). ibsa__peer_receive() is called when requests
 * have arrived. ibsa__peer_answer() reads them and answers all complete ones
 * until the client's turn ends.
 */
void ibsa__peer_receive(struct server_source *source, uint32_t events);
void ibsa__peer_answer(struct server_peer *peer);

/*
 * Write the current state of the client's port to @out, which has room for
 * REMOTE_BODY_MAX bytes. Return: the number of bytes written.
 */
size_t ibsa__peer_state(const struct server_peer *peer, uint8_t *out);

/* Store the port state that was sent to the client, to detect later changes. */
void ibsa__peer_state_sent(struct server_peer *peer, const uint8_t *state,
			   size_t len);

/* The descriptors in an answer to REMOTE_ATTACH; -1: absent. */
struct server_fds {
	int fd[REMOTE_FDS];
};

/* The umad file (attach.c). */
int ibsa__peer_attach(struct server_peer *peer,
		      struct server_fds *out) IBSA_MUST_USE;
void ibsa__peer_detach(struct server_peer *peer);

/*
 * Packets (data.c). ibsa__peer_data_event() is called for events on the
 * data socket of a client without rings. ibsa__peer_data_end() is called for any
 * event on that of a client with rings: such a client sends nothing there, so it
 * has closed the socket, or has sent invalid data, and is disconnected. Its
 * file's work is dropped.
 */
void ibsa__peer_data_event(struct server_source *source, uint32_t events);
void ibsa__peer_data_end(struct server_source *source, uint32_t events);

/*
 * Note that a client has sent a request, or has ended: the packets that have
 * arrived by now were sent before.
 */
void ibsa__peer_mark(struct server_peer *peer);

/*
 * Let the client's turn end a millisecond after @now_ns, unless the end of the
 * turn is already known.
 */
static inline void peer_limit_turn(struct server_peer *peer, uint64_t now_ns)
{
	if (!peer->until_ns)
		peer->until_ns = now_ns + TURN_NS;
}

/*
 * The client's data socket over TCP is connected, and these bytes of packets
 * have arrived. Return: false: out of memory.
 */
bool ibsa__peer_data_begin(struct server_peer *peer, const uint8_t *bytes,
			   size_t len);

/* Whether packets of the client can be processed in its turn. */
bool ibsa__peer_has_packets(const struct server_peer *peer);

/*
 * Send the packets in the client's queue until the queue is empty, or until the
 * client's socket or ring is full.
 */
void ibsa__peer_flush(struct server_peer *peer);

/*
 * In the client's turn: receive the packets that have arrived from a client,
 * continue its file's work, and send its packets.
 */
void ibsa__peer_serve(struct server_peer *peer);

/*
 * Bytes of packets (ring.c). ibsa__peer_bytes_send() sends as many bytes
 * as the client has room for, ibsa__peer_bytes_recv() receives those that have
 * arrived. Return: their number, possibly 0; or -errno: the client has gone, or
 * has written invalid values to its ring.
 */
ssize_t ibsa__peer_bytes_send(struct server_peer *peer, const void *data,
			      size_t len);
ssize_t ibsa__peer_bytes_recv(struct server_peer *peer, void *to, size_t len);

/*
 * Return: the number of bytes of packets that have arrived and that the server
 * has not read, or a larger number.
 */
size_t ibsa__peer_bytes_most(const struct server_peer *peer);

/* Whether bytes of packets have arrived that the server has not read. */
bool ibsa__peer_bytes_arrived(const struct server_peer *peer);

/*
 * Memory (memory.c). ibsa__peer_count_memory() updates the sum after the
 * buffers of a client have changed. ibsa__server_limit_memory() disconnects the
 * clients that use most until the others use no more than the options permit.
 */
void ibsa__peer_count_memory(struct server_peer *peer);
void ibsa__server_limit_memory(struct server *server);

/*
 * Turns (turn.c). ibsa__peer_activate() is called when a client has work.
 * ibsa__peers_serve_active() gives the active clients turns, for some
 * milliseconds. If none has work afterwards, announce to the clients with rings
 * that they must wake the server; no client is active any more.
 */
void ibsa__peer_activate(struct server_peer *peer);
void ibsa__peers_serve_active(struct server *server);

/*
 * Create the client's rings, and @peer->bell.fd. *@out_memory_fd: to pass to
 * the client. Return: 0 or -errno.
 */
int ibsa__peer_rings_open(struct server_peer *peer,
			  int *out_memory_fd) IBSA_MUST_USE;
void ibsa__peer_rings_close(struct server_peer *peer);

/*
 * Make room for @count more bytes in the buffer. Return: false: memory is
 * short.
 */
bool ibsa__bytes_grow(struct server_bytes *bytes, size_t count);
void ibsa__bytes_free(struct server_bytes *bytes);

/*
 * SMs (issm.c). Write the path of the FIFO that stands for the issm file
 * of @port. The FIFO exists while a program has it open or a client is at the
 * device, and for @patience_ms after that. Return: 0; -ENAMETOOLONG the path is
 * longer than @room; -ENOMEM; -EMFILE there are too many FIFOs in use; -EEXIST
 * its directory is not private to this user; or another negative errno.
 */
int ibsa__issm_path(struct server *server, const struct serve_port *port,
		    char *out, size_t room) IBSA_MUST_USE;

/*
 * Set IsSM of @port as long as the client is connected, or until it requests
 * that for another port. Return: 0; -EBUSY it is set already; or another -errno.
 */
int ibsa__peer_issm_set(struct server_peer *peer,
			const struct serve_port *port) IBSA_MUST_USE;
void ibsa__peer_issm_clear(struct server_peer *peer);

/* Adopt the FIFOs that programs hold open since a server before this one. */
void ibsa__issms_adopt(struct server *server);
void ibsa__issms_done(struct server *server);

/*
 * Close the FIFOs that have been idle for @patience_ms. Call this after a FIFO
 * or a client has become idle or was closed, and when the timer expires.
 */
void ibsa__issms_tidy(struct server *server);

#endif
