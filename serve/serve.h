/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A server that lets other processes use umad files. The server implements the
 * protocol of remote/protocol.h: sockets, requests, rings, turns and limits.
 * The ports, their device files and the umad files belong to the owner of the
 * server, which provides struct serve_ops.
 *
 * Only one thread at a time may call functions with a server, except
 * ibsa__server_wake() and the functions that require the lock.
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <pthread.h>

#include <ibsa/transport.h>

#include "remote/protocol.h"
#include "umad/file.h"

struct server;
struct server_peer; /* a client */
struct serve_user;  /* a user that has clients */

enum {
	SERVE_GIDS_MAX = 256,
	SERVE_PKEYS_MAX = 1024,
	SERVE_SETTLE_MS = 10, /* see ibsa__server_changes_soon() */
	/*
	 * The most that one packet counts in the quota of requests, however
	 * many retries it has. An owner that has such a quota refuses packets
	 * with more retries.
	 */
	SERVE_TRIES_MAX = 256,
};

/*
 * The quotas of a server, which limit every user except root. For each quota, a
 * user has the limit for one user, but at most its share of the limit for all
 * users: that limit divided by the number of connected users. With a limit of
 * connections for all users, an eighth of the server's connections is root's.
 */
enum serve_quota {
	SERVE_CONNECTIONS,
	/*
	 * Requests and packets in a second; as many may come at once. A packet
	 * counts once more for each of its retries. Requests and packets above
	 * this quota wait.
	 */
	SERVE_REQUESTS,
	SERVE_BYTES, /* of memory for messages */
	/*
	 * Counted by the owner: MADs that wait for a response, and what is
	 * registered.
	 */
	SERVE_IN_FLIGHT,
	SERVE_REGISTRATIONS,
	SERVE_QUOTAS,
};

/* The limits of a quota; 0: none. */
struct serve_limits {
	uint32_t one; /* of one user */
	uint32_t all; /* of all users but root together */
};

/*
 * A port and its device, by numbers of the owner. @seat: a number of the owner
 * for the set of devices that a client has.
 */
struct serve_port {
	uint32_t device;
	uint32_t port;
	uint32_t seat;
};

/* What a client reads of its port. */
struct serve_state {
	struct ibsa_port_state port;
	uint32_t gid_count;
	uint32_t pkey_count;
	struct ibsa_gid gids[SERVE_GIDS_MAX];
	uint16_t pkeys[SERVE_PKEYS_MAX];
};
_Static_assert(sizeof(struct remote_state) +
			       SERVE_GIDS_MAX * sizeof(struct ibsa_gid) +
			       SERVE_PKEYS_MAX * sizeof(uint16_t) <=
		       REMOTE_BODY_MAX,
	       "the state of a port in a frame");

/* A file name that stands for the issm file of a port. */
struct serve_issm_name {
	char text[32];
};

/**
 * struct serve_file_ops - operations of a client's umad file
 * @refuse:    queue the report that @packet was not sent because of @err
 * @settle:    process everything that is due, such as timeouts
 * @due_ns:    Return: the time of the next call of @settle; UINT64_MAX: none
 * @head:      Return: the first packet of the queue, and its length in *@len;
 *             or NULL. The packet is valid, and in the queue, until @take
 * @take:      remove the first packet from the queue
 * @queued:    Return: the bytes of memory that the queue uses
 * @has_agent: whether an agent of the file prevents that @request is registered
 *             at the same port
 * @holder: an agent could not be registered although it conflicts with no file
 *             of the server: write the reason to *@out. May be NULL
 * @set_issm:  set or clear IsSM in the PortInfo of the port. Return: 0; -EBUSY
 *             another file has set it
 * @has_work, @work, @drop_work, @work_memory: if the answer to a packet takes
 *             long, the file has work for the client's next turns, and the
 *             server reads no packets of the client until the work is done.
 *             @work continues the work, until @until_ns at the latest;
 *             @drop_work ends it; @work_memory returns the bytes of memory that
 *             it uses. All four are NULL if the file never has work
 *
 * The queue has the packets that the client has not received. Of the file's
 * struct umad_file_ops, the server calls register_agent2, unregister_agent,
 * send, close, and now_ns, which may return the time at which the last packet
 * was sent. The server holds the owner's lock while it calls an operation,
 * except @has_work and @work_memory.
 */
struct serve_file_ops {
	void (*refuse)(struct umad_file *file, const uint8_t *packet, int err);
	void (*settle)(struct umad_file *file);
	uint64_t (*due_ns)(struct umad_file *file);
	const uint8_t *(*head)(struct umad_file *file, size_t *len);
	void (*take)(struct umad_file *file);
	size_t (*queued)(struct umad_file *file);
	bool (*has_agent)(struct umad_file *file,
			  const struct umad_agent_request2 *request);
	void (*holder)(struct umad_file *file, struct ibsa_error *out);
	int (*set_issm)(struct umad_file *file, bool on);
	bool (*has_work)(struct umad_file *file);
	void (*work)(struct umad_file *file, uint64_t until_ns);
	void (*drop_work)(struct umad_file *file);
	size_t (*work_memory)(struct umad_file *file);
};

/**
 * struct serve_ops - what the owner of a server provides
 * @file:      operations of the umad files that @open opens
 * @open:      open a umad file at a port for @client, with which the owner calls
 *             ibsa__peer_ready() until close; @client NULL: only for @set_issm.
 *             Return: 0 or -errno
 * @memory:    Return: the bytes of memory that the queues of all files use
 * @name:      Return: the name of a device, for messages; valid while the
 *             server is open
 * @find:      find the port that a client selects with @hello, and make @hello
 *             the answer. Return: 0; or -errno and the reason in *@error
 * @find_mad:  find the port whose MAD files a client at @at finds as umadN and
 *             issmN, N = @number. Return: 0; -ENODEV: there is none
 * @has_device: whether a client at @at has the files of @device
 * @state:     write the present state of a port to *@out
 * @read:      write the content of the device file at @path, which is relative
 *             to the directory of sysfs, as a client at @at reads it.
 *             Return: 0, and the length in *@used; -ENOENT, -EISDIR, -ENOTDIR or
 *             -EINVAL in the cases in which the kernel returns them
 * @list:      write the names in the directory at @path, each with a NUL at its
 *             end. Return: as @read
 * @issm_name: write the file name that stands for the issm file of a port
 * @issm_find: find the port for which @issm_name writes @name. Return: whether
 *             there is one
 * @command:   execute a line of text, and write a text to @out. Return: 0; or
 *             -errno and the reason in *@error
 * @changes:   whether the command of a line may change something
 * @leave:     the last connection of a user has ended; or NULL
 * @input:     the descriptor @input_fd of the options is readable
 *
 * The server holds the owner's lock while it calls an operation, except @name,
 * @command, @changes and @input.
 */
struct serve_ops {
	const struct serve_file_ops *file;
	int (*open)(void *owner, const struct serve_port *port,
		    struct server_peer *client, struct umad_file **out);
	size_t (*memory)(void *owner);
	const char *(*name)(void *owner, uint32_t device);
	int (*find)(void *owner, struct remote_hello *hello,
		    struct serve_port *out, struct ibsa_error *error);
	int (*find_mad)(void *owner, const struct serve_port *at,
			uint32_t number, struct serve_port *out);
	bool (*has_device)(void *owner, const struct serve_port *at,
			   uint32_t device);
	void (*state)(void *owner, const struct serve_port *port,
		      struct serve_state *out);
	int (*read)(void *owner, const struct serve_port *at, const char *path,
		    char *out, size_t room, size_t *used);
	int (*list)(void *owner, const struct serve_port *at, const char *path,
		    char *out, size_t room, size_t *used);
	void (*issm_name)(void *owner, const struct serve_port *port,
			  struct serve_issm_name *out);
	bool (*issm_find)(void *owner, const char *name,
			  struct serve_port *out);
	int (*command)(void *owner, const char *line, char *out, size_t room,
		       struct ibsa_error *error);
	bool (*changes)(const char *line);
	void (*leave)(void *owner, uid_t user);
	void (*input)(void *owner);
};

/**
 * struct server_options - how to serve; zero is the default of each limit
 * @ops:         the owner's operations
 * @owner:       passed to them
 * @lock:        guards what the operations use. Other threads of the owner may
 *               hold it
 * @title:       the noun for the server in messages, without an article
 * @note:        called with @arg and a line of text about a client that was
 *               refused or disconnected; or NULL
 * @connections: maximum number of connections
 * @patience_ms: milliseconds until a hello or a message must be complete
 * @memory_mb:   MiB of memory for what clients have not read and for messages
 *               that are incomplete
 * @has_rings:   offer rings to clients
 * @any_user:    serve the processes of all users; otherwise only those of this
 *               user and of root
 * @listener:    a socket that listens already, which the server takes over; 0:
 *               create one. It stays open if another process has it, too
 * @path_stays:  the file of @listener is another program's: it is not removed
 * @input_fd:    a descriptor of the owner for which ibsa__server_wait() waits,
 *               too; it returns after the operation @input; 0: none
 * @tcp:         also listen at this address, "tcp:HOST:PORT" or "tcp:PORT"; NULL:
 *               only at the Unix socket
 * @token:       path of the file whose token clients over TCP send; it is created
 *               if it does not exist
 * @control_token: the same, for clients over TCP whose commands may change
 *               something; NULL: none may
 * @quotas:      the limits of each quota
 */
struct server_options {
	const struct serve_ops *ops;
	void *owner;
	pthread_mutex_t *lock;
	const char *title;
	void (*note)(const char *text, void *arg);
	void *arg;
	uint32_t connections;
	uint32_t patience_ms;
	uint32_t memory_mb;
	bool has_rings;
	bool any_user;
	int listener;
	int input_fd;
	bool path_stays;
	const char *tcp;
	const char *token;
	const char *control_token;
	struct serve_limits quotas[SERVE_QUOTAS];
};

/* Counters of a server. */
struct server_stats {
	uint64_t clients;  /* connected now */
	uint64_t accepted; /* connections since the server was opened */
	/* connections that were refused, or ended for a fault of the client */
	uint64_t disconnected;
	uint64_t packets_in;  /* from clients */
	uint64_t packets_out; /* to clients */
	/* Packets from clients that were not sent. */
	uint64_t packets_refused;
};

/*
 * Open a server at a socket at @path, which only this user and root can use,
 * unless the options permit any user. A socket at @path whose server has ended
 * is replaced. Return: 0; -EINVAL @path is NULL or empty; -ENAMETOOLONG;
 * -EADDRINUSE a server listens at @path; -EEXIST the path, or the file of its
 * lock, is another kind of file; -EBUSY another process holds the lock;
 * -ENOMEM; or the error from creating the socket or the server's other
 * descriptors.
 */
int ibsa__server_open(const char *path, const struct server_options *options,
		      struct ibsa_error *error,
		      struct server **out) IBSA_MUST_USE;

/* Return: the TCP port at which the server listens; 0: none. */
uint16_t ibsa__server_tcp_port(const struct server *server);

/*
 * Close a server. In a forked child, this closes the child's copies of the
 * descriptors of its parent's server.
 */
void ibsa__server_close(struct server *server);

/* Return: false in a forked child, for a server of its parent. */
bool ibsa__server_is_ours(const struct server *server);

/*
 * Wait for clients for at most @timeout_ms milliseconds, below 0: without limit,
 * and serve them. Return: 0; -EINTR; -EINVAL the server belongs to the parent
 * process; or another -errno.
 */
int ibsa__server_wait(struct server *server, int timeout_ms) IBSA_MUST_USE;

/* End ibsa__server_wait(). Any thread may call this. */
void ibsa__server_wake(struct server *server);

/*
 * Return: a descriptor that is readable if ibsa__server_wait() has work; -1: the
 * server belongs to the parent process.
 */
int ibsa__server_fd(const struct server *server);

/* Return: the socket that listens, for @listener of the next process. */
int ibsa__server_listener(const struct server *server);

/* Change the limits. What exceeds them already stays. */
void ibsa__server_quotas_set(struct server *server,
			     const struct serve_limits quotas[SERVE_QUOTAS]);

struct server_stats ibsa__server_stats(const struct server *server);

/*
 * The owner calls these when ports may have changed: the server compares the
 * states, and sends events to the clients. ibsa__server_changed() takes effect
 * before ibsa__server_wait() waits again, ibsa__server_changes_soon() after
 * SERVE_SETTLE_MS, and once for all calls until then.
 */
void ibsa__server_changed(struct server *server);
void ibsa__server_changes_soon(struct server *server);

/*
 * The client's umad file has packets in its queue, or has sent a MAD for which
 * settle will be due. The caller holds the lock.
 */
void ibsa__peer_ready(struct server_peer *peer);

/*
 * Get the time at which the client's turn ends. Return: false: the client is
 * going, and receives no more packets.
 */
bool ibsa__peer_turn(struct server_peer *peer, uint64_t *out_end_ns);

/*
 * The owner has lost the client's umad file: the client is disconnected in its
 * next turn. The caller holds the lock.
 */
void ibsa__peer_end(struct server_peer *peer);

/*
 * The user of a client; it exists until @leave. Root is user 0. Users that are
 * not known in the server's user namespace are one user.
 */
struct serve_user *ibsa__peer_user(const struct server_peer *peer);
uid_t ibsa__user_id(const struct serve_user *user);

/* Whether a user has a connection. */
bool ibsa__server_has_user(const struct server *server, uid_t id);

/*
 * Count something for a user, in the quotas that the owner counts and in
 * SERVE_BYTES. Return: false: the quota is used up, and nothing is counted.
 */
bool ibsa__user_take(struct serve_user *user, enum serve_quota quota,
		     uint32_t count);
void ibsa__user_give(struct serve_user *user, enum serve_quota quota,
		     uint32_t count);

#endif
