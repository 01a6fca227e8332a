/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A connection to a server. The callers of these functions ensure that
 * only one thread at a time uses it.
 */
#ifndef REMOTE_CONNECTION_H
#define REMOTE_CONNECTION_H

#include <sys/types.h>

#include <ibsa/types.h>

#include "base/large.h"
#include "remote/protocol.h"
#include "remote/tcp.h"

/*
 * Address of a port at a server: the server's socket; node, device and port
 * number as in struct remote_hello.
 */
struct remote_address {
	/* As long as sun_path of sockaddr_un; over TCP, host and port. */
	char path[108];
	bool is_tcp; /* @tcp and @token are used */
	union tcp_name tcp;
	struct tcp_token token;
	/* Root may also connect to the server of another user. */
	bool is_of_any_user;
	char node[REMOTE_NODE_MAX + 1];
	char device[REMOTE_NODE_MAX + 1];
	bool is_machine; /* REMOTE_IS_MACHINE */
	unsigned int port;
	/* Name of the device that the server has chosen. */
	char name[REMOTE_NODE_MAX + 1];
	/* Timeout in ms of each answer, at most 10000; 0 means 10000. */
	unsigned int patience_ms;
	/*
	 * Seconds for which a umad file waits for the next server after the
	 * server has ended.
	 */
	unsigned int reopen_s;
	/* The client will send only REMOTE_CONTROL requests. */
	bool is_control;
};

/*
 * Where a process is in a fabric, as in struct remote_hello: a node or host, one
 * of its devices, and number of a port. "" and 0: the fabric chooses.
 */
struct remote_node {
	char name[REMOTE_NODE_MAX + 1];
	char device[REMOTE_NODE_MAX + 1];
	bool is_machine;
	unsigned int port;
};

struct remote_connection {
	int fd; /* -1: the connection failed and is closed */
	unsigned int patience_ms;
	uint64_t start_ns; /* when connecting began */
	/*
	 * Time at which the exchange of the current request and answer began.
	 */
	uint64_t exchange_ns;
	/* The last exchange ended because its deadline had passed. */
	bool is_late;
	/* At least one byte was received on the connection. */
	bool has_answer;
};

/*
 * Return: what follows "unix:", "unix-any-user:" or "tcp:" in @fabric; NULL if
 * @fabric begins with none of them.
 */
const char *ibsa__remote_path(const char *fabric);

/*
 * Find the node or host of a process that opens port @port of @device.
 * @process_node: the value of IBSA_NODE (NAME or NAME/PORT); NULL or "": the
 * host name of this machine. If @device is NULL or REMOTE_DEVICE, and @port is
 * 0, the port in @process_node is used. @device "": the first adapter of the
 * fabric. Return: 0; -EINVAL a name is too long.
 */
int ibsa__remote_node_find(const char *device, const char *process_node,
			   unsigned int port, struct ibsa_error *error,
			   struct remote_node *out) IBSA_MUST_USE;

/*
 * Find the address that @fabric ("unix:PATH" or "tcp:HOST:PORT,token=FILE")
 * stands for, with a node, device and port as ibsa__remote_node_find().
 * Return: 0; -EINVAL @fabric is not an address, or a name is too long;
 * -ENAMETOOLONG the path is too long for a socket; or an error of
 * ibsa__token_read().
 */
int ibsa__remote_address_find(const char *fabric, const char *device,
			      const char *process_node, unsigned int port,
			      struct ibsa_error *error,
			      struct remote_address *out) IBSA_MUST_USE;

/*
 * Connect to a server and exchange hello messages. On success, @address
 * selects the port that the server chose, with the name of its device. Return:
 * 0; -ENODEV no server listens at the path, or it has no such node; -ENXIO the
 * node has no such port; -EACCES not permitted; -EUSERS the server has too many
 * clients; -EPROTO the peer is not a server of this version; -ETIMEDOUT the
 * server does not answer; or the system's error.
 */
int ibsa__remote_connect(struct remote_connection *connection,
			 struct remote_address *address,
			 struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Connect to a server, without the hello. @may_wait: wait while the
 * server's backlog is full, or until TCP is connected; otherwise, the caller
 * waits until ibsa__remote_connected() returns 0, as ibsa__tcp_connected(). The
 * caller then sends the hello message that ibsa__remote_hello_put() fills, whose
 * length it returns, and passes the answer to ibsa__remote_hello_take(), which
 * sets @address as ibsa__remote_connect() does. ibsa__remote_connect_begin() returns 0; or an
 * error of ibsa__remote_connect(). ibsa__remote_hello_take() returns 0; -EPROTO
 * the answer is invalid. ibsa__remote_no_hello() sets the message for a server
 * that has not sent a valid answer, and returns -EPROTO; or -ENODEV if
 * @has_answer is false, because the server has ended before it sent a byte.
 */
int ibsa__remote_connect_begin(struct remote_connection *connection,
			       const struct remote_address *address,
			       bool may_wait,
			       struct ibsa_error *error) IBSA_MUST_USE;
int ibsa__remote_connected(const struct remote_connection *connection,
			   const struct remote_address *address) IBSA_MUST_USE;
size_t ibsa__remote_hello_put(const struct remote_address *address,
			      struct remote_greeting *out);
int ibsa__remote_hello_take(const struct remote_hello *hello,
			    struct remote_address *address) IBSA_MUST_USE;
int ibsa__remote_no_hello(const struct remote_address *address, bool has_answer,
			  struct ibsa_error *error);

/*
 * Set the message for a server that has not answered within the connection's
 * patience. @path: of its socket, or NULL. Return: @err.
 */
int ibsa__remote_late_fail(const struct remote_connection *connection,
			   const char *path, int err, struct ibsa_error *error);

void ibsa__remote_disconnect(struct remote_connection *connection);

/*
 * Return: the inode number of the socket @fd; 0 if @fd is not a socket. All
 * sockets are in one file system, so the inode number identifies a socket.
 */
large_inode ibsa__socket_inode(int fd);

/*
 * Descriptors that were received; -1: none. @is_cut: the process had too many
 * descriptors to receive all of them.
 */
struct remote_fds {
	int fd[REMOTE_FDS];
	bool is_cut;
};

static inline struct remote_fds remote_fds_none(void)
{
	return (struct remote_fds){ .fd = { -1, -1, -1 } };
}

void ibsa__remote_fds_close(struct remote_fds *fds);

/*
 * Check the descriptors that were received with the answer to REMOTE_ATTACH.
 * Return: 0; -EMFILE; -EPROTO the answer had no socket.
 */
int ibsa__remote_fds_check(const struct remote_fds *fds,
			   struct ibsa_error *error) IBSA_MUST_USE;

/*
 * The part of ibsa__remote_connect_begin() for TCP (join.c), and the message for
 * its error. ibsa__remote_tcp_failed() returns @err, or -ENODEV.
 */
int ibsa__remote_tcp_connect(struct remote_connection *connection,
			     const struct remote_address *address,
			     bool may_wait) IBSA_MUST_USE;
int ibsa__remote_tcp_failed(const struct remote_address *address, int err,
			    struct ibsa_error *error);

/*
 * Over TCP, connect the data socket. ibsa__remote_join_begin() begins to connect;
 * ibsa__remote_join_send() then sends the @ticket. Return: 0; -EINPROGRESS the
 * socket is not connected yet; or another -errno. ibsa__remote_join() waits until
 * both are done.
 */
int ibsa__remote_join_begin(const struct remote_address *address,
			    int *out_fd) IBSA_MUST_USE;
int ibsa__remote_join_send(int fd, const uint8_t ticket[REMOTE_TICKET_BYTES])
	IBSA_MUST_USE;
int ibsa__remote_join(const struct remote_connection *connection,
		      const struct remote_address *address,
		      const uint8_t ticket[REMOTE_TICKET_BYTES],
		      struct ibsa_error *error, int *out_fd) IBSA_MUST_USE;

/* A request to a server, and a buffer for its answer. */
struct remote_request {
	uint32_t type;
	const void *body;
	size_t len;
	/* Over TCP, the number of packets that were sent before; otherwise 0. */
	uint32_t packets;
	void *answer;
	size_t room;
	size_t answered; /* bytes of the answer */
	/*
	 * Descriptors that were received with the answer to REMOTE_ATTACH. The
	 * caller closes them.
	 */
	struct remote_fds fds;
};

/*
 * Send a request to the server and wait for its answer until the
 * address's timeout. Return: 0; -ENODEV the server closed the connection, did
 * not answer in time or sent invalid data, and this function has closed the
 * connection; or the error in the server's answer, with its text in *@error.
 */
int ibsa__remote_request(struct remote_connection *connection,
			 struct remote_request *request,
			 struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Connect to a server, exchange one request, and disconnect. Return: 0;
 * -ETIMEDOUT the server does not answer; or another error of
 * ibsa__remote_connect() or ibsa__remote_request().
 */
int ibsa__remote_request_once(struct remote_address *address,
			      struct remote_request *request,
			      struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Send a frame's head and body without waiting, except the first *@sent bytes,
 * which were sent earlier. No other thread may use @fd during the call. Return:
 * 0 all was sent; -EAGAIN the socket's buffer is full; -EIO the server has
 * closed the socket.
 */
int ibsa__remote_send(int fd, const void *head, size_t head_len,
		      const void *body, size_t len, size_t *sent) IBSA_MUST_USE;

/*
 * Receive bytes without waiting, as recv() does. Descriptors that are received
 * with them replace those in *@fds.
 */
ssize_t ibsa__remote_recv(int fd, void *data, size_t len,
			  struct remote_fds *fds);

/*
 * Receive bytes without waiting from a socket through which no descriptors
 * pass, as recv() does. A message with descriptors is the error EPROTO.
 */
ssize_t ibsa__remote_recv_bytes(int fd, void *data, size_t len);

/*
 * Set *@error to the server's error text, without control characters, or to the
 * system's text for @err if the server sent none. Return: @err.
 */
int ibsa__remote_refusal(int err, const char *text, struct ibsa_error *error);

/*
 * Wait for @events of the socket until @ms have passed since @start_ns. One
 * deadline bounds a whole packet or exchange; the arrival of some of its bytes
 * does not extend it. Return: 0; -ETIMEDOUT; -EIO poll() failed.
 */
int ibsa__remote_await(int fd, short events, unsigned int ms,
		       uint64_t start_ns) IBSA_MUST_USE;

/*
 * Return: whether the server has closed the connection. Nothing is sent
 * for this.
 */
bool ibsa__remote_is_gone(const struct remote_connection *connection);

#endif
