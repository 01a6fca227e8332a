/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric that many processes share: a server on a Unix socket. Each client
 * sits at a port of the fabric, as if it had a umad device there; through
 * ibsa_open() with the fabric "unix:PATH", or unmodified through libibumad's
 * calls with $IBSA_FABRIC.
 *
 * A server belongs to one thread at a time, but for the wake. The fabric has
 * its own lock: what <ibsa/sim.h> offers may be used from other threads
 * meanwhile.
 */
#ifndef IBSA_FABRIC_SERVER_H
#define IBSA_FABRIC_SERVER_H

#include <ibsa/sim.h>
#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric_server;

/**
 * struct ibsa_fabric_server_options - zero is the default throughout
 * @note:        told, in one line without its end, of each client that had to
 *               be sent away, and why, and when others have to wait; called
 *               from within ibsa_fabric_server_wait()
 * @arg:         handed to @note as it is
 * @connections: that may be there at a time; 0: 1024. Fewer if RLIMIT_NOFILE,
 *               when the server is opened, has not two descriptors for each
 *               and 64 for all else. A program has one for its device's files
 *               and one for each client or umad file; the next is refused with
 *               -EUSERS
 * @patience_ms: in which a client has to finish what it has begun to say, and
 *               to say hello; 0: 10000
 */
struct ibsa_fabric_server_options {
	void (*note)(const char *text, void *arg);
	void *arg;
	uint32_t connections;
	uint32_t patience_ms;
};

/* What a server has counted. */
struct ibsa_fabric_server_stats {
	uint64_t clients;	  /* that are connected now */
	uint64_t accepted;	  /* since the start */
	uint64_t sent_away;	  /* another user's, too many, nonsense */
	uint64_t packets_in;	  /* from clients */
	uint64_t packets_out;	  /* to clients */
	uint64_t packets_refused; /* as the kernel refuses a write */
};

/**
 * ibsa_fabric_server_open - offer a fabric to other processes
 * @fabric:  which; held until the server is closed
 * @path:    of the socket to make, mode 0600; at most 107 bytes. A socket there
 *           whose server has ended is replaced
 * @options: NULL for all defaults
 * @error:   filled on failure with what was wrong and what to do; or NULL
 * @out:     the server
 *
 * Clients are let in that run as the same user, or as root.
 *
 * Return: 0; -EINVAL there is no @path, or the fabric has a virtual clock;
 * -ENAMETOOLONG; -EADDRINUSE a server is running there; -EEXIST something
 * else than a socket is, or @path.lock, which is there while the socket is
 * made, is not a file of this user alone; -EBUSY another program of this user
 * holds the lock on that file for two seconds; -ENOENT, -ENOTDIR, -EACCES or the like from the
 * folder; -EOPNOTSUPP its file system has no sockets; -ENOMEM; or the error of
 * making sockets.
 *
 * Source: unix(7).
 */
int ibsa_fabric_server_open(struct ibsa_fabric *fabric, const char *path,
			    const struct ibsa_fabric_server_options *options,
			    struct ibsa_error *error,
			    struct ibsa_fabric_server **out) IBSA_MUST_USE;

/**
 * ibsa_fabric_server_fd - what to wait for
 * @server: which
 *
 * Return: an fd that is readable when ibsa_fabric_server_wait() has something
 * to do. It stays the server's.
 */
int ibsa_fabric_server_fd(const struct ibsa_fabric_server *server);

/**
 * ibsa_fabric_server_wait - serve what there is
 * @server:     which
 * @timeout_ms: how long to wait for something to do; 0: not at all; -1: without
 *              end
 *
 * No client is waited for: who does not read, or sends half of something,
 * holds nobody up, and is sent away if the other half does not come.
 *
 * Return: 0; -EINTR a signal came; or the system's error.
 */
int ibsa_fabric_server_wait(struct ibsa_fabric_server *server,
			    int timeout_ms) IBSA_MUST_USE;

/**
 * ibsa_fabric_server_wake - end a wait in another thread, or the next one
 * @server: which
 *
 * The server then looks at all ports, and tells clients of theirs: to be called
 * after a change of the fabric by another thread. Of what its clients and
 * ibsa_fabric_server_command() change it knows by itself.
 */
void ibsa_fabric_server_wake(struct ibsa_fabric_server *server);

/**
 * ibsa_fabric_server_command - change the fabric by a line of text
 * @server: which
 * @line:   link up|down NODE/PORT; link speed NODE/PORT RATE;
 *          node add|remove NODE; sm move NODE; sm start|stop; fault KIND=PERCENT[,COUNT[,DELAY_MS]]; fault none;
 *          stats
 * @out:    what it answers, lines with their ends, and a NUL: "NAME VALUE" of
 *          stats, else empty; cut if @room is too small. May be NULL if
 *          @room is 0
 * @room:   bytes at @out
 * @error:  filled on failure; or NULL
 *
 * node remove takes down all links of a node, and node add puts them up; sm
 * move, start and stop are ibsa_fabric_sa_move() and ibsa_fabric_sa_set().
 *
 * Return: 0; -EINVAL no such command, or a value out of range; -ENODEV no
 * such node; -ENXIO it has no such port; -ENETDOWN no cable is there; or the
 * error of the change.
 */
int ibsa_fabric_server_command(struct ibsa_fabric_server *server,
			       const char *line, char *out, size_t room,
			       struct ibsa_error *error) IBSA_MUST_USE;

/**
 * ibsa_fabric_server_stats_get - what has been counted
 * @server: which
 * @out:    the counters
 */
void ibsa_fabric_server_stats_get(const struct ibsa_fabric_server *server,
				  struct ibsa_fabric_server_stats *out);

/**
 * ibsa_fabric_server_close - end a server
 * @server: or NULL
 *
 * Its socket is removed, unless something else is at its path by now, and its
 * clients see their device go.
 */
void ibsa_fabric_server_close(struct ibsa_fabric_server *server);

/**
 * ibsa_fabric_command - have a server in another process change its fabric
 * @fabric: "unix:PATH"; NULL: $IBSA_FABRIC
 * @line:   as of ibsa_fabric_server_command(), at most 511 bytes
 * @out:    as there
 * @room:   bytes at @out
 * @error:  filled on failure; or NULL
 *
 * Waits for the answer, at most ten seconds. $IBSA_FABRIC does not count if the
 * program is set-uid.
 *
 * Return: as ibsa_fabric_server_command(); -EINVAL @fabric names no server;
 * -ENODEV none is there, or it has gone; -EACCES it is another user's; -EUSERS
 * it has all the connections that it takes; -EPROTO what is there is none, or
 * one of another version; -ETIMEDOUT it does not answer; -ENAMETOOLONG @line or
 * the path; -ENOMEM; or the error of connecting. Thread-safe.
 */
int ibsa_fabric_command(const char *fabric, const char *line, char *out,
			size_t room, struct ibsa_error *error) IBSA_MUST_USE;

IBSA_END

#endif
