/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server: offers an embedded fabric to other processes on a Unix
 * socket or over TCP. Each client uses the ports of a node or host of the
 * fabric as if they were umad devices of its machine: with fabric of struct
 * ibsa_options, or, without changes to the program, with $IBSA_FABRIC.
 *
 * ibsa_server_command          send a command to a server in another process
 *
 * ibsa_fabric_server_open      offer a fabric to other processes
 * ibsa_fabric_server_fd        file descriptor to poll, also for timers
 * ibsa_fabric_server_wait      process connections, MADs and timers
 * ibsa_fabric_server_wake      end ibsa_fabric_server_wait()
 * ibsa_fabric_server_command   execute a line of text
 * ibsa_fabric_server_stats_get the counters of a server since it was opened
 * ibsa_fabric_server_port      the TCP port at which it listens
 * ibsa_fabric_server_close     close a server; its clients lose their device
 *
 * Only one thread at a time may call functions with a server, except
 * ibsa_fabric_server_wake(). Other threads may use the fabric of a server at
 * any time. A forked child may only close a server of its parent.
 * ibsa_server_command() is for servers in another process, and in libibsa; the
 * other functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
 */
#ifndef IBSA_SERVER_H
#define IBSA_SERVER_H

#include <ibsa/fabric.h>
#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric_server;

/**
 * typedef ibsa_note_fn - called with a note about one or more clients, or about
 * clients that cannot connect now
 * @text: a line without newline; valid until the callback returns
 * @arg:  as in struct ibsa_fabric_server_options
 */
typedef void (*ibsa_note_fn)(const char *text, void *arg);

/**
 * struct ibsa_fabric_server_options - how to serve a fabric; zero: the default
 * of a member
 * @report:      called by ibsa_fabric_server_wait() with a line, without
 *               newline, and @arg when the server refuses connections (at most
 *               once in a second), ends one because of a fault of the client,
 *               or cannot accept any for now
 * @connections: most connections at the same time; reduced if RLIMIT_NOFILE
 *               does not permit as many; IBSA_DEFAULT_CONNECTIONS
 * @patience_ms: longest time for a client to identify itself, and to send a
 *               whole message; IBSA_DEFAULT_PATIENCE_MS
 * @memory_mb:   most MiB for data that clients have not read and messages that
 *               are incomplete; if there is more, the server ends the
 *               connection that uses most; IBSA_DEFAULT_MEMORY_MB
 * @no_environment: ignore environment variables, such as IBSA_RING
 * @listen:      also listen at "tcp:HOST:PORT", or "tcp:PORT" at 127.0.0.1;
 *               port 0: any. Needs @token. Token and MADs are sent in clear;
 *               see ibsa-fabric(8)
 * @token:       file with the token of clients over TCP; created, with mode
 *               0600 and a random token, if it does not exist
 * @control_token: file with another token of clients over TCP, which also lets
 *               them send commands that change the fabric; created like @token;
 *               NULL: such commands are refused over TCP
 */
struct ibsa_fabric_server_options {
	ibsa_note_fn report;
	void *arg;
	uint32_t connections;
	uint32_t patience_ms;
	uint32_t memory_mb;
	bool no_environment;
	uint8_t reserved[3];
	const char *listen;
	const char *token;
	const char *control_token;
};

/* Counters of a server. Connections over TCP count in clients and accepted only
 * with a valid token. */
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

int ibsa_fabric_server_open_sized(
	struct ibsa_fabric *fabric, const char *path,
	const struct ibsa_fabric_server_options *options, size_t size,
	struct ibsa_error *error, struct ibsa_fabric_server **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 6);

/**
 * ibsa_fabric_server_open - offer a fabric to other processes
 * @fabric:  without virtual clock; the server holds a reference to it until the
 *           server is closed
 * @path:    of the Unix socket to create, mode 0600; at most 107 bytes. The
 *           socket of a server that has ended is replaced
 * @options: copied; NULL: all defaults
 * @error:   after an error, what failed and what to do; may be NULL
 *
 * Processes of the same user and of root can connect to the Unix socket. Any
 * thread may call this function.
 *
 * Return: 0; -EINVAL @path is empty, @fabric has a virtual clock, or listen or
 * the tokens of @options are not valid; -ENAMETOOLONG @path is too long;
 * -EADDRINUSE a server runs at @path, or the TCP port is in use; -EEXIST a file
 * that is not a socket is at @path; -EBUSY, -EACCES, -EOPNOTSUPP, -ENOMEM; or
 * the error of creating the socket, its lock file, a token or the TCP socket
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

int ibsa_fabric_server_fd(const struct ibsa_fabric_server *server)
	IBSA_NONNULL(1);

/**
 * ibsa_fabric_server_wait - process connections, MADs and timers
 * @timeout_ms: 0: do not wait; -1: no limit
 *
 * Return: 0, also after @timeout_ms; -EINTR a signal ended the call; or the
 * system's error
 */
int ibsa_fabric_server_wait(struct ibsa_fabric_server *server,
			    int timeout_ms) IBSA_MUST_USE IBSA_NONNULL(1);

/**
 * ibsa_fabric_server_wake - end ibsa_fabric_server_wait()
 *
 * Ends the call of ibsa_fabric_server_wait() in another thread, or the next
 * one. This or a later call sends each client the changes of its port: call
 * ibsa_fabric_server_wake() after changes of the fabric. Any thread may do so.
 */
void ibsa_fabric_server_wake(struct ibsa_fabric_server *server) IBSA_NONNULL(1);

/**
 * ibsa_fabric_server_command - execute a line of text
 * @line:  "link up|down NODE/PORT"; "link speed NODE/PORT RATE"; "node
 *         add|remove NODE", which sets all links of a node of the fabric up or
 *         down; "sm move NODE"; "sm start|stop"; "fault FAULT", as
 *         ibsa_fault_parse() takes it; "fault none"; "errors NODE/PORT COUNTER
 *         +N" or "+N/s"; "stats"; "sysfs N HOST", for ibsa fabric sysfs
 * @out:   receives lines "NAME VALUE" for stats, the device files of HOST from
 *         its adapter number N on for sysfs, otherwise ""; cut to @room bytes
 * @error: after an error, a sentence; may be NULL
 *
 * Return: 0; -EINVAL the command or an argument is not valid; -ENODEV, -ENXIO
 * no such node or port; -ENETDOWN the port has no cable, or, for sm move, no
 * link of the node is up; -EOPNOTSUPP the fabric has no SA; -E2BIG the files of
 * adapter N do not fit into @out; or another error of the change
 */
int ibsa_fabric_server_command(struct ibsa_fabric_server *server,
			       const char *line, char *out, size_t room,
			       struct ibsa_error *error) IBSA_MUST_USE;

void ibsa_fabric_server_stats_get_sized(const struct ibsa_fabric_server *server,
					struct ibsa_fabric_server_stats *out,
					size_t size) IBSA_NONNULL(1, 2);

IBSA_INLINE void
ibsa_fabric_server_stats_get(const struct ibsa_fabric_server *server,
			     struct ibsa_fabric_server_stats *out)
{
	ibsa_fabric_server_stats_get_sized(server, out, sizeof(*out));
}

/**
 * ibsa_fabric_server_port - the TCP port at which a server listens
 *
 * Return: the port; 0: the server does not listen over TCP
 */
int ibsa_fabric_server_port(const struct ibsa_fabric_server *server)
	IBSA_NONNULL(1);

void ibsa_fabric_server_close(struct ibsa_fabric_server *server);

/**
 * ibsa_server_command - send a command to a server in another process
 * @server: "unix:PATH" or "tcp:HOST:PORT,token=FILE"; NULL: $IBSA_FABRIC
 * @line:   as for ibsa_fabric_server_command(), at most 511 bytes
 * @out:    as for ibsa_fabric_server_command(); unchanged after an error
 * @error:  after an error, what failed and what to do; may be NULL
 *
 * Waits at most ten seconds for the connection, and as long for the result. Any
 * thread may call this function.
 *
 * Return: 0; -ENODEV no server is at the address, or it has ended; -EACCES no
 * access to the server, or, over TCP, the token does not permit the command;
 * -ETIMEDOUT the server did not reply, and may still execute the command;
 * -EINVAL, -EUSERS, -EPROTO, -ENAMETOOLONG, -ENOMEM; or the error of the
 * connection, the token file or the command
 */
int ibsa_server_command(const char *server, const char *line, char *out,
			size_t room, struct ibsa_error *error) IBSA_MUST_USE;

IBSA_END

#endif
