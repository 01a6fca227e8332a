/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses, sockets and tokens of the protocol over TCP. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ibsa/text.h>

#include "base/digit.h"
#include "base/error.h"
#include "base/large.h"
#include "remote/tcp.h"

/*
 * A peer that has vanished is detected by keepalive messages, or because it does
 * not acknowledge what was sent.
 */
enum { IDLE_S = 10, INTERVAL_S = 5, PROBES = 4, UNACKNOWLEDGED_MS = 30000 };

/*
 * Room in the socket for the largest frame, with what was not acknowledged
 * before: the server sends a frame as a whole or disconnects the client.
 */
enum { SEND_BYTES = 256 * 1024 };

/* @host: an IPv4 address, or an IPv6 address in brackets, which are removed. */
static int host_parse(char *host, union tcp_name *out)
{
	const size_t len = strlen(host);
	int is_valid;

	if (*host == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		out->in6.sin6_family = AF_INET6;
		is_valid = inet_pton(AF_INET6, host + 1, &out->in6.sin6_addr);
	} else {
		out->in.sin_family = AF_INET;
		is_valid = inet_pton(AF_INET, host, &out->in.sin_addr);
	}
	return is_valid == 1 ? 0 : -EINVAL;
}

int ibsa__tcp_name_parse(const char *text, size_t len, union tcp_name *out)
{
	union tcp_name name = { .in6 = { .sin6_port = 0 } };
	char host[64] = "";
	char *colon;
	uint64_t port;
	int err;

	if (!len || len >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, len);
	colon = strrchr(host, ':');
	err = ibsa_number_parse(colon ? colon + 1 : host, 16, &port);
	if (err)
		return err;
	if (colon)
		*colon = '\0';
	if (!colon || !strcmp(host, "localhost"))
		strcpy(host, "127.0.0.1");
	err = host_parse(host, &name);
	if (err)
		return err;
	/* The port is at the same place in both kinds of names. */
	name.in.sin_port = htons((uint16_t)port);
	*out = name;
	return 0;
}

_Static_assert(offsetof(struct sockaddr_in, sin_port) ==
		       offsetof(struct sockaddr_in6, sin6_port),
	       "the port of a name");

static void option_set(int fd, int level, int option, int value)
{
	/* Each option improves a connection that works without it. */
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

void ibsa__tcp_socket_set(int fd)
{
	option_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	option_set(fd, SOL_SOCKET, SO_SNDBUF, SEND_BYTES);
	option_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	option_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S);
	option_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, INTERVAL_S);
	option_set(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
	option_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS);
}

int ibsa__tcp_socket(const union tcp_name *name)
{
	const int fd = socket(name->any.sa_family,
			      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	ibsa__tcp_socket_set(fd);
	return fd;
}

int ibsa__tcp_connect(const union tcp_name *name, int *out_fd)
{
	const int fd = ibsa__tcp_socket(name);

	if (fd < 0)
		return fd;
	if (connect(fd, &name->any, tcp_name_len(name)) &&
	    errno != EINPROGRESS) {
		const int err = -errno;

		close(fd);
		return err;
	}
	*out_fd = fd;
	return 0;
}

/*
 * Whether a socket is connected to itself: if no server listens at a port from
 * which the kernel also takes those of clients, a client may get this port, and
 * then connects to itself.
 */
static bool is_own_peer(int fd)
{
	union tcp_name own = { .in6 = { 0 } }, peer = { .in6 = { 0 } };
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);

	return !getsockname(fd, &own.any, &own_len) &&
	       !getpeername(fd, &peer.any, &peer_len) && own_len == peer_len &&
	       !memcmp(&own, &peer, own_len);
}

int ibsa__tcp_connected(int fd)
{
	struct pollfd end = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0;

	if (poll(&end, 1, 0) <= 0)
		return -EINPROGRESS;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	return !err && is_own_peer(fd) ? -ECONNREFUSED : -err;
}

int ibsa__token_parse(const char *text, size_t len, struct tcp_token *out)
{
	const size_t digits = 2 * sizeof(out->bytes);
	struct tcp_token token = { { 0 } };

	if (len == digits + 1 && text[digits] == '\n')
		len--;
	if (len != digits)
		return -EINVAL;
	for (size_t i = 0; i < digits; i++) {
		const int value = digit_value(text[i]);

		if (value < 0)
			return -EINVAL;
		token.bytes[i / 2] = (uint8_t)(token.bytes[i / 2] << 4 | value);
	}
	*out = token;
	return 0;
}

/* Check the kind, the mode and the owner of a token's file. */
static int token_file_check(int fd, const char *path, enum token_owner owner,
			    struct ibsa_error *error)
{
	const uid_t user = geteuid();
	large_stat file;

	if (large_fstat(fd, &file))
		return ibsa__fail(error, -errno, "cannot read the token %s",
				  path);
	if (!S_ISREG(file.st_mode))
		return ibsa__fail(error, -EINVAL,
				  "the token %s is not a regular file", path);
	if (file.st_mode & (S_IRWXG | S_IRWXO))
		return ibsa__fail(error, -EACCES,
				  "the token %s is not used, because other "
				  "users can read it: make a new one, which "
				  "only you can read (mode 0600)",
				  path);
	if (file.st_uid && file.st_uid != user && (user || owner != TOKEN_ANY))
		return ibsa__fail(error, -EACCES,
				  "the token %s is not used, because it "
				  "belongs to another user, which can read "
				  "it: give a file of your own",
				  path);
	return 0;
}

static int token_file_read(int fd, const char *path, enum token_owner owner,
			   struct ibsa_error *error, struct tcp_token *out)
{
	/* One byte more than a token has, to detect a longer text. */
	char text[2 * REMOTE_TOKEN_BYTES + 2];
	ssize_t got;
	int err = token_file_check(fd, path, owner, error);

	if (err)
		return err;
	got = read(fd, text, sizeof(text));
	if (got < 0 || ibsa__token_parse(text, (size_t)got, out))
		return ibsa__fail(error, -EINVAL,
				  "the file %s is not a token: it must have %d "
				  "hexadecimal digits, as from openssl rand "
				  "-hex %d",
				  path, 2 * REMOTE_TOKEN_BYTES,
				  REMOTE_TOKEN_BYTES);
	return 0;
}

int ibsa__token_read(const char *path, enum token_owner owner,
		     struct ibsa_error *error, struct tcp_token *out)
{
	/* O_NONBLOCK: a FIFO must not block the caller. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err = fd < 0 ? -errno : 0;

	if (err == -ENOENT)
		return ibsa__fail(error, err,
				  "the file of the token %s does not exist: "
				  "give the path of a copy of the server's",
				  path);
	if (err)
		return ibsa__fail(error, err, "cannot open the token %s: %s",
				  path, ibsa__errno_text(-err).bytes);
	err = token_file_read(fd, path, owner, error, out);
	close(fd);
	return err;
}

bool ibsa__secret_equals(const uint8_t *a, const uint8_t *b, size_t len)
{
	volatile uint8_t differs = 0;

	for (size_t i = 0; i < len; i++)
		differs |= a[i] ^ b[i];
	return !differs;
}
