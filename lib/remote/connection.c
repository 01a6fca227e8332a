/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends requests to a fabric server. All received data are checked: the server
 * may have been killed or replaced, or another program may listen at its path.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibsa/text.h>

#include "common/clean.h"
#include "base/clock.h"
#include "base/close.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/stat.h"
#include "remote/connection.h"

/*
 * Default timeout in ms of an answer: a server that sweeps a large fabric may
 * be busy for a second or two.
 */
enum { PATIENCE_MS = 10000 };

/*
 * Close the connection after an error in the middle of an exchange. The
 * connection is unusable for all processes that share it, because the next
 * answer may belong to the request that failed. A child that is forked during
 * this call gets either no descriptor or an open one.
 */
static int connection_lose(struct remote_connection *connection)
{
	int fd = connection->fd;

	connection->fd = -1;
	if (fd >= 0)
		shutdown(fd, SHUT_RDWR);
	ibsa__socket_close(&fd);
	return -ENODEV;
}

int ibsa__remote_await(int fd, short events, unsigned int ms, uint64_t start_ns)
{
	struct pollfd wanted = { .fd = fd, .events = events };
	int ready;

	do {
		const int left = ibsa__clock_left_ms((int)ms, start_ns);

		if (!left)
			return -ETIMEDOUT;
		ready = poll(&wanted, 1, left);
	} while (!ready || (ready < 0 && errno == EINTR));
	return ready > 0 ? 0 : -EIO;
}

static bool exchange_await(struct remote_connection *connection, short events)
{
	const int err = ibsa__remote_await(connection->fd, events,
					   connection->patience_ms,
					   connection->exchange_ns);

	connection->is_late = err == -ETIMEDOUT;
	return !err;
}

static bool io_is_pending(ssize_t done)
{
	return done < 0 && (errno == EAGAIN || errno == EINTR);
}

int ibsa__remote_send(int fd, const void *head, size_t head_len,
		      const void *body, size_t len, size_t *sent)
{
	while (*sent < head_len + len) {
		const size_t of_head = *sent < head_len ? *sent : head_len;
		const size_t of_body = *sent - of_head;
		struct iovec parts[] = {
			{ (void *)((uintptr_t)head + of_head),
			  head_len - of_head },
			{ (void *)((uintptr_t)body + of_body), len - of_body },
		};
		const struct msghdr message = { .msg_iov = parts,
						.msg_iovlen = 2 };
		const ssize_t now = sendmsg(fd, &message,
					    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (now >= 0)
			*sent += (size_t)now;
		else if (errno == EAGAIN)
			return -EAGAIN;
		else if (errno != EINTR)
			return -EIO;
	}
	return 0;
}

static int bytes_recv(struct remote_connection *connection, void *data,
		      size_t len, struct remote_fds *fds)
{
	char *at = data;

	while (len) {
		const ssize_t got = ibsa__remote_recv(connection->fd, at, len,
						      fds);

		if (io_is_pending(got) && exchange_await(connection, POLLIN))
			continue;
		if (got <= 0)
			return -1;
		connection->has_answer = true;
		at += got;
		len -= (size_t)got;
	}
	return 0;
}

/* Receive and discard @len bytes. */
static int bytes_skip(struct remote_connection *connection, size_t len,
		      struct remote_fds *fds)
{
	char room[512];

	while (len) {
		const size_t part = len < sizeof(room) ? len : sizeof(room);

		if (bytes_recv(connection, room, part, fds))
			return -1;
		len -= part;
	}
	return 0;
}

static int head_recv(struct remote_connection *connection,
		     struct remote_head *head, struct remote_fds *fds)
{
	if (bytes_recv(connection, head, sizeof(*head), fds))
		return -1;
	return head->length > REMOTE_BODY_MAX ? -1 : 0;
}

int ibsa__remote_refusal(int err, const char *text, struct ibsa_error *error)
{
	char clean[sizeof(error->text)];

	if (!ibsa__text_clean(&text, clean, sizeof(clean)))
		return ibsa__fail(error, err,
				  "the fabric server refuses the request: %s",
				  ibsa__errno_text(-err).bytes);
	return ibsa__fail(error, err, "%s", clean);
}

static int refusal_recv(struct remote_connection *connection,
			const struct remote_head *head, struct remote_fds *fds,
			bool *is_refused, struct ibsa_error *error)
{
	char text[256] = "";
	const size_t len = head->length < sizeof(text) ? head->length
						       : sizeof(text) - 1;

	if (!remote_err_is_valid(head->err))
		return -ENODEV;
	if (bytes_recv(connection, text, len, fds) ||
	    bytes_skip(connection, head->length - len, fds))
		return -ENODEV;
	*is_refused = true;
	return ibsa__remote_refusal(head->err, text, error);
}

/*
 * Send a request. If sending fails, shut the socket down. Receiving the answer
 * then fails, too, unless the server sent a reason before it closed the
 * connection.
 */
static void request_send(struct remote_connection *connection,
			 const struct remote_request *request)
{
	const struct remote_head head = {
		.length = (uint32_t)request->len,
		.type = request->type,
		.err = (int32_t)request->packets,
	};
	size_t sent = 0;
	int err;

	do
		err = ibsa__remote_send(connection->fd, &head, sizeof(head),
					request->body, request->len, &sent);
	while (err == -EAGAIN && exchange_await(connection, POLLOUT));
	if (err)
		shutdown(connection->fd, SHUT_RDWR);
}

/*
 * Receive an answer. *@is_refused: the answer is a complete error message, so
 * the connection remains usable.
 */
static int answer_recv(struct remote_connection *connection,
		       struct remote_request *request, bool *is_refused,
		       struct ibsa_error *error)
{
	struct remote_head head;

	if (head_recv(connection, &head, &request->fds) ||
	    head.type != request->type)
		return -ENODEV;
	if (head.err)
		return refusal_recv(connection, &head, &request->fds,
				    is_refused, error);
	if (head.length > request->room ||
	    bytes_recv(connection, request->answer, head.length, &request->fds))
		return -ENODEV;
	request->answered = head.length;
	return 0;
}

static int exchange(struct remote_connection *connection,
		    struct remote_request *request, uint64_t start_ns,
		    bool *is_refused, struct ibsa_error *error)
{
	int err;

	connection->exchange_ns = start_ns;
	connection->is_late = false;
	connection->has_answer = false;
	request_send(connection, request);
	err = answer_recv(connection, request, is_refused, error);
	if (request->fds.is_cut)
		err = ibsa__remote_fds_check(&request->fds, error);
	/* Only the answer to REMOTE_ATTACH may contain descriptors. */
	if (err || request->type != REMOTE_ATTACH)
		ibsa__remote_fds_close(&request->fds);
	return err;
}

/*
 * A server that does not answer within this time is probably suspended; within
 * less, it may be slow.
 */
enum { SUSPENDED_MS = 500 };

int ibsa__remote_late_fail(const struct remote_connection *connection,
			   const char *path, int err, struct ibsa_error *error)
{
	const unsigned int ms = connection->patience_ms;

	return ibsa__fail(error, err,
			  "the fabric server%s%s did not answer within %u ms; "
			  "%s",
			  path ? " at " : "", path ? path : "", ms,
			  ms < SUSPENDED_MS
				  ? "allow more time"
				  : "check whether its process is suspended, "
				    "for example by SIGSTOP");
}

int ibsa__remote_request(struct remote_connection *connection,
			 struct remote_request *request,
			 struct ibsa_error *error)
{
	bool is_refused = false;
	int err = -ENODEV;

	request->fds = remote_fds_none();
	if (connection->fd >= 0)
		err = exchange(connection, request, clock_now_ns(), &is_refused,
			       error);
	if (err == -EMFILE && !is_refused) {
		connection_lose(connection);
	} else if (err && !is_refused) {
		err = connection_lose(connection);
		if (connection->is_late)
			return ibsa__remote_late_fail(connection, NULL, err,
						      error);
		ibsa__fail(error, err,
			   "the fabric server has closed the connection; check "
			   "that it runs");
	}
	return err;
}

bool ibsa__remote_is_gone(const struct remote_connection *connection)
{
	char byte;

	/*
	 * Without REMOTE_WATCH, the server sends nothing unless it gets a
	 * request: if the socket is readable, the connection is closed or
	 * broken.
	 */
	return connection->fd < 0 ||
	       recv(connection->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0;
}

/*
 * Returned by socket_connect(): the server at the path is not trusted; see
 * peer_is_trusted().
 */
enum { UNTRUSTED = 1 };

static bool path_is_socket(const char *path)
{
	large_stat at;

	return ibsa__stat(path, 0, &at) == 0 && S_ISSOCK(at.st_mode);
}

static int server_has_ended(const struct remote_address *address,
			    struct ibsa_error *error)
{
	if (address->is_tcp)
		return ibsa__fail(error, -ENODEV,
				  "the fabric server at %s has closed the "
				  "connection: check that it runs",
				  address->path);
	return ibsa__fail(error, -ENODEV,
			  "the fabric server at %s has ended: start it again "
			  "with ibsa fabric run, with this path as --socket",
			  address->path);
}

static int connect_failed(const struct remote_address *address, int err,
			  struct ibsa_error *error)
{
	if (address->is_tcp)
		return ibsa__remote_tcp_failed(address, err, error);
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
		return ibsa__fail(error, -ENODEV,
				  "no fabric server is at %s: start one with "
				  "ibsa fabric run, with this path as --socket",
				  address->path);
	case -ECONNREFUSED:
		if (!path_is_socket(address->path))
			return ibsa__fail(
				error, -ENODEV,
				"%s is not the socket of a fabric "
				"server: give the path that ibsa fabric run "
				"prints",
				address->path);
		return server_has_ended(address, error);
	case UNTRUSTED:
		return ibsa__fail(
			error, -EACCES,
			"the fabric server at %s belongs to another "
			"user; give the path of a server of your "
			"own, or, as root, IBSA_FABRIC=" REMOTE_PREFIX_ANY "%s",
			address->path, address->path);
	case -EACCES:
	case -EPERM:
		return ibsa__fail(
			error, -EACCES,
			"not permitted to connect to %s: this user has no "
			"access to the socket or its directory; give the path "
			"of a server of your own",
			address->path);
	case -EAGAIN:
		return ibsa__fail(
			error, -ETIMEDOUT,
			"the fabric server at %s does not answer: its "
			"queue of connections is full",
			address->path);
	default:
		return ibsa__fail(error, err,
				  "cannot connect to the fabric server at %s: "
				  "%s",
				  address->path, ibsa__errno_text(-err).bytes);
	}
}

/*
 * Whether the server may be trusted: it runs as this user or as root, or the
 * address names a server of any user and this process runs as root. In a
 * directory that all users may write to, another user's program may listen at
 * the server's path.
 */
static bool peer_is_trusted(int fd, const struct remote_address *address)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (!peer.uid || peer.uid == geteuid() ||
		(address->is_of_any_user && !geteuid()));
}

static int fd_connect(int fd, const struct remote_address *address)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	memcpy(to.sun_path, address->path, sizeof(address->path));
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
}

/*
 * Wait while the server's backlog is full: SO_SNDTIMEO limits the time that
 * connect() waits.
 */
static int fd_connect_wait(int fd, const struct remote_address *address,
			   unsigned int ms)
{
	const struct timeval limit = {
		.tv_sec = ms / 1000,
		.tv_usec = ms % 1000 * 1000,
	};

	if (fcntl(fd, F_SETFL, 0) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
		return -errno;
	return fd_connect(fd, address);
}

static int socket_connect(struct remote_connection *connection,
			  const struct remote_address *address, bool may_wait)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = fd_connect(fd, address);
	if (err == -EAGAIN && may_wait)
		err = fd_connect_wait(fd, address, connection->patience_ms);
	if (!err && !peer_is_trusted(fd, address))
		err = UNTRUSTED;
	if (err)
		ibsa__socket_close(&fd);
	else
		connection->fd = fd;
	return err;
}

size_t ibsa__remote_hello_put(const struct remote_address *address,
			      struct remote_greeting *out)
{
	struct remote_hello *hello = &out->hello;

	*out = (struct remote_greeting){ .hello = {
						 .version = REMOTE_VERSION,
						 .port = address->port,
					 } };
	if (address->is_control)
		hello->features = REMOTE_IS_CONTROL;
	else if (!address->is_tcp)
		hello->features = REMOTE_HAS_RINGS;
	if (address->is_machine)
		hello->features |= REMOTE_IS_MACHINE;
	memcpy(hello->node, address->node, sizeof(hello->node));
	memcpy(hello->device, address->device, sizeof(hello->device));
	if (!address->is_tcp)
		return sizeof(*hello);
	memcpy(out->token, address->token.bytes, sizeof(out->token));
	return sizeof(*out);
}

int ibsa__remote_no_hello(const struct remote_address *address, bool has_answer,
			  struct ibsa_error *error)
{
	if (!has_answer)
		return server_has_ended(address, error);
	return ibsa__fail(error, -EPROTO,
			  "the program that listens at %s does not answer as a "
			  "fabric server of this version; start one of this "
			  "version there, or give another path",
			  address->path);
}

int ibsa__remote_hello_take(const struct remote_hello *hello,
			    struct remote_address *address)
{
	if (hello->version < REMOTE_VERSION_FIRST ||
	    hello->version > REMOTE_VERSION || hello->port > UINT8_MAX ||
	    !remote_names_end(hello))
		return -EPROTO;
	memcpy(address->node, hello->node, sizeof(address->node));
	memcpy(address->device, hello->device, sizeof(address->device));
	memcpy(address->name, hello->name, sizeof(address->name));
	address->is_machine = hello->features & REMOTE_IS_MACHINE;
	address->port = hello->port;
	return 0;
}

/*
 * Exchange the hello messages. The deadline of the exchange includes the time
 * that connecting took.
 */
static int hello_exchange(struct remote_connection *connection,
			  struct remote_address *address,
			  struct ibsa_error *error)
{
	struct remote_greeting greeting;
	struct remote_hello hello;
	struct remote_request request = {
		.type = REMOTE_HELLO,
		.body = &greeting,
		.len = ibsa__remote_hello_put(address, &greeting),
		.answer = &hello,
		.room = sizeof(hello),
		.fds = remote_fds_none(),
	};
	bool is_refused = false;
	int err;

	err = exchange(connection, &request, connection->start_ns, &is_refused,
		       error);
	if (err && is_refused && !connection->is_late)
		return err;
	if (connection->is_late)
		return ibsa__remote_late_fail(connection, address->path,
					      -ETIMEDOUT, error);
	if (err || request.answered != sizeof(hello) ||
	    ibsa__remote_hello_take(&hello, address))
		return ibsa__remote_no_hello(address, connection->has_answer,
					     error);
	return 0;
}

int ibsa__remote_connect_begin(struct remote_connection *connection,
			       const struct remote_address *address,
			       bool may_wait, struct ibsa_error *error)
{
	int err;

	connection->fd = -1;
	connection->start_ns = clock_now_ns();
	connection->patience_ms = PATIENCE_MS;
	if (address->patience_ms && address->patience_ms < PATIENCE_MS)
		connection->patience_ms = address->patience_ms;
	err = address->is_tcp
		      ? ibsa__remote_tcp_connect(connection, address, may_wait)
		      : socket_connect(connection, address, may_wait);
	return err ? connect_failed(address, err, error) : 0;
}

int ibsa__remote_connect(struct remote_connection *connection,
			 struct remote_address *address,
			 struct ibsa_error *error)
{
	int err = ibsa__remote_connect_begin(connection, address, true, error);

	if (err)
		return err;
	err = hello_exchange(connection, address, error);
	if (err)
		ibsa__remote_disconnect(connection);
	return err;
}

void ibsa__remote_disconnect(struct remote_connection *connection)
{
	ibsa__socket_close(&connection->fd);
}

int ibsa__remote_request_once(struct remote_address *address,
			      struct remote_request *request,
			      struct ibsa_error *error)
{
	struct remote_connection connection;
	int err = ibsa__remote_connect(&connection, address, error);

	if (err)
		return err;
	err = ibsa__remote_request(&connection, request, error);
	if (err && connection.is_late)
		err = -ETIMEDOUT;
	ibsa__remote_disconnect(&connection);
	return err;
}
