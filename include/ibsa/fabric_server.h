/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server: offers an embedded fabric to other processes on a Unix
 * socket. Each client uses a port of the fabric as if it were a umad device of
 * its machine: through ibsa_open() with the fabric "unix:PATH", or, without
 * changes to the program, through libibumad's functions with $IBSA_FABRIC.
 * Commands to a server in another process: <ibsa/server.h>.
 *
 * Only one thread at a time may call functions with a server, except
 * ibsa_fabric_server_wake(). Other threads may call the functions of
 * <ibsa/sim.h> with the fabric of a server at any time.
 *
 * The functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
 */
#ifndef IBSA_FABRIC_SERVER_H
#define IBSA_FABRIC_SERVER_H

#include <ibsa/sim.h>
#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric_server;

/**
 * typedef ibsa_note_fn - called with a note about a client
 * @text: a line of text without newline; valid until the callback returns
 * @arg:  as in struct ibsa_fabric_server_options
 */
typedef void (*ibsa_note_fn)(const char *text, void *arg);

/**
 * struct ibsa_fabric_server_options - how to serve a fabric; zero is the
 * default of each member
 * @report:      called by ibsa_fabric_server_wait() when the server refuses a
 *               connection, when it ends a connection because of a fault of the
 *               client, and when it cannot accept new connections for now
 * @arg:         passed to @report unchanged
 * @connections: maximum number of connections at the same time; 0: 1024. If
 *               RLIMIT_NOFILE is below 64 + 3 * @connections when the server is
 *               opened, the maximum is the number for which RLIMIT_NOFILE is
 *               enough. A program that uses the fabric has one connection to
 *               read the simulated sysfs, one for each struct ibsa_client and
 *               one for each umad file that it has opened. One process gets at
 *               most a quarter of the maximum, but at least 8. The server
 *               refuses any further connection with -EUSERS, except 16
 *               connections for commands of ibsa_server_command()
 * @patience_ms: milliseconds from the connection in which a client must
 *               identify itself, and milliseconds from the first byte of a
 *               message in which the client must send the whole message;
 *               otherwise the server ends the connection. Default
 *               IBSA_DEFAULT_PATIENCE_MS
 * @memory_mb:   MiB of memory for what clients have not read and for messages
 *               that are incomplete, of all clients together; 0: 1024. If the
 *               clients need more memory than @memory_mb, the server ends the
 *               connection that uses most
 * @no_environment: ignore all environment variables, as if they were unset; see
 *               ibsa_environment_ignore()
 */
struct ibsa_fabric_server_options {
	ibsa_note_fn report;
	void *arg;
	uint32_t connections;
	uint32_t patience_ms;
	uint32_t memory_mb;
	bool no_environment;
};

/* Counters of a server. */
struct ibsa_fabric_server_stats {
	uint64_t clients;      /* connections that are open now */
	uint64_t accepted;     /* connections that the server accepted */
	uint64_t disconnected; /* connections that the server refused, or ended
				* before the client did */
	uint64_t packets_in;   /* packets from clients */
	uint64_t packets_out;  /* packets to clients */
	uint64_t packets_refused; /* packets from clients that the server did
				   * not send; packets_in counts them too */
};

/* For bindings: ibsa_fabric_server_open() with the size of @options. */
int ibsa_fabric_server_open_sized(
	struct ibsa_fabric *fabric, const char *path,
	const struct ibsa_fabric_server_options *options, size_t size,
	struct ibsa_error *error, struct ibsa_fabric_server **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 6);

/**
 * ibsa_fabric_server_open - offer a fabric to other processes
 * @fabric:  a fabric on the real clock; the server holds it until the server is
 *           closed, so the program may release it before
 * @path:    path of the socket to create, mode 0600; at most 107 bytes. If
 *           @path is a socket whose server has ended, the new socket replaces
 *           it
 * @options: NULL for all defaults; copied
 * @error:   after an error, a sentence that tells what failed and what to do;
 *           may be NULL
 * @out:     receives the server, which ibsa_fabric_server_close() closes
 *
 * Processes of the same user, and processes of root, can connect. Any thread
 * may call ibsa_fabric_server_open().
 *
 * Return: 0; -EINVAL @path is NULL or empty, or the fabric has a virtual clock
 * or belongs to the parent process; -ENAMETOOLONG @path is too long;
 * -EADDRINUSE a server is running at @path; -EEXIST a file that is not a socket
 * is at @path; or the file @path.lock, which the server uses while it creates
 * the socket, is not a regular file, or other users can open it; -EBUSY another
 * program of this user held the lock on @path.lock for two seconds; -ENOENT,
 * -ENOTDIR, -EACCES or another error of the directory; -EOPNOTSUPP the file
 * system of the directory does not support sockets; -ENOMEM; or the error from
 * creating the socket, @path.lock, or the epoll file, the timer and the eventfd
 * of the server, such as -EMFILE.
 *
 * Source: unix(7).
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_fabric_server_open(struct ibsa_fabric *fabric, const char *path,
			const struct ibsa_fabric_server_options *options,
			struct ibsa_error *error,
			struct ibsa_fabric_server **out)
{
	return ibsa_fabric_server_open_sized(fabric, path, options,
					     sizeof(*options), error, out);
}

/**
 * ibsa_fabric_server_fd - return a descriptor to poll
 * @server: an open server
 *
 * Return: a descriptor that is readable when ibsa_fabric_server_wait() has
 * something to do, also if a timer has expired. The descriptor belongs to the
 * server and stays the same. Only one thread at a time may call
 * ibsa_fabric_server_fd() and other functions with the same server.
 */
int ibsa_fabric_server_fd(const struct ibsa_fabric_server *server)
	IBSA_NONNULL(1);

/**
 * ibsa_fabric_server_wait - wait for connections, MADs and timers, and process
 * them
 * @server:     an open server
 * @timeout_ms: milliseconds to wait at most; 0: do not wait; -1: no limit
 *
 * A client that does not read, or that sends only a part of a message, does not
 * delay other clients. The server disconnects a client that does not read the
 * server's answers or the changes of its port, or that is slower than
 * @patience_ms of struct ibsa_fabric_server_options permits.
 *
 * Only one thread at a time may call ibsa_fabric_server_wait() and other
 * functions with the same server.
 *
 * Return: 0, also if nothing happened until the timeout; -EINTR a signal ended
 * the wait; -EINVAL the server belongs to the parent process; or the system's
 * error.
 */
int ibsa_fabric_server_wait(struct ibsa_fabric_server *server,
			    int timeout_ms) IBSA_MUST_USE IBSA_NONNULL(1);

/**
 * ibsa_fabric_server_wake - make a running ibsa_fabric_server_wait() of another
 * thread, or else the next call of ibsa_fabric_server_wait(), return
 * @server: an open server
 *
 * That call of ibsa_fabric_server_wait(), or a later call, checks the ports of
 * all clients and sends each client the changes of the port that the client
 * uses. Call ibsa_fabric_server_wake() after the program has changed the
 * fabric. No call is needed after a change by a client, for example by
 * ibsa_server_command(), or by ibsa_fabric_server_command(). Any thread may
 * call ibsa_fabric_server_wake().
 */
void ibsa_fabric_server_wake(struct ibsa_fabric_server *server) IBSA_NONNULL(1);

/**
 * ibsa_fabric_server_command - change the fabric, or read its counters, by a
 * line of text
 * @server: an open server
 * @line:   link up|down NODE/PORT; link speed NODE/PORT RATE; node add|remove
 *          NODE; sm move NODE; sm start|stop; fault
 *          KIND=PERCENT[,COUNT[,DELAY_MS]]; fault none; stats
 * @out:    receives the result and a NUL: lines "NAME VALUE" for stats,
 *          otherwise empty; truncated, still with a NUL, if @room is too small.
 *          May be NULL if @room is 0
 * @room:   bytes at @out
 * @error:  after an error, a sentence that tells what failed; may be NULL
 *
 * NODE is a name or node id. "node add" takes all links of a node up, also
 * those that "link down" took down; "node remove" takes all links of a node
 * down. sm move, sm start and sm stop do what ibsa_fabric_sa_move() and
 * ibsa_fabric_sa_set() do. A fault has a form of ibsa_fault_parse(): with the
 * kinds redirect and redirect-gid, the third number is HOPS instead of
 * DELAY_MS. A new fault replaces the fault of the same kind, or ends it if
 * PERCENT is 0; "fault none" ends the faults of all kinds. RATE is as in a
 * topology file, such as 1xSDR.
 *
 * Only one thread at a time may call ibsa_fabric_server_command() and other
 * functions with the same server.
 *
 * Return: 0; -EINVAL there is no such command, or an argument is missing,
 * malformed or out of range, or one end of the link does not support the rate,
 * or the server belongs to the parent process; -ENODEV the fabric has no such
 * node; -ENXIO the node has no such port; -ENETDOWN the port has no cable, or,
 * for sm move, the node is not a switch, and none of its links is up;
 * -EOPNOTSUPP any sm command on a fabric that was loaded with no_sa; or the
 * error of the change.
 */
int ibsa_fabric_server_command(struct ibsa_fabric_server *server,
			       const char *line, char *out, size_t room,
			       struct ibsa_error *error) IBSA_MUST_USE;

/* For bindings: ibsa_fabric_server_stats_get() with the size of @out. */
void ibsa_fabric_server_stats_get_sized(const struct ibsa_fabric_server *server,
					struct ibsa_fabric_server_stats *out,
					size_t size) IBSA_NONNULL(1, 2);

/**
 * ibsa_fabric_server_stats_get - read the counters of a server
 * @server: an open server
 * @out:    receives the counters since the server was opened
 *
 * Only one thread at a time may call ibsa_fabric_server_stats_get() and other
 * functions with the same server.
 */
IBSA_INLINE void
ibsa_fabric_server_stats_get(const struct ibsa_fabric_server *server,
			     struct ibsa_fabric_server_stats *out)
{
	ibsa_fabric_server_stats_get_sized(server, out, sizeof(*out));
}

/**
 * ibsa_fabric_server_close - close a server
 * @server: an open server; NULL: nothing happens
 *
 * Ends all connections, releases the server's hold on the fabric, and removes
 * the socket, unless another file is at its path now. In the processes that
 * were connected, the device of the fabric disappears as if it was removed. In
 * a forked child, ibsa_fabric_server_close() closes the child's copies of the
 * descriptors of its parent's server, which continues in the parent;
 * ibsa_fabric_server_wait() and ibsa_fabric_server_command() return -EINVAL
 * there, and ibsa_fabric_server_fd() returns -1. Only one thread at a time may
 * call ibsa_fabric_server_close() and other functions with the same server.
 */
void ibsa_fabric_server_close(struct ibsa_fabric_server *server);

IBSA_END

#endif
