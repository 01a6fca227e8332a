/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol over TCP: addresses, sockets and tokens. A connection begins with
 * a hello that carries a token. The answer to REMOTE_ATTACH carries a ticket in
 * place of descriptors: the client sends it as the first frame of a second
 * connection, which becomes the data socket. Nothing is encrypted.
 */
#ifndef REMOTE_TCP_H
#define REMOTE_TCP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <ibsa/types.h>

#include "remote/protocol.h"

union tcp_name {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct tcp_token {
	uint8_t bytes[REMOTE_TOKEN_BYTES];
};

static inline socklen_t tcp_name_len(const union tcp_name *name)
{
	return name->any.sa_family == AF_INET6 ? sizeof(name->in6)
					       : sizeof(name->in);
}

/*
 * Read the first @len bytes of @text: HOST:PORT, or PORT at 127.0.0.1. HOST is
 * an IPv4 address, an IPv6 address in brackets, or localhost, which is
 * 127.0.0.1. Return: 0; -EINVAL.
 */
int ibsa__tcp_name_parse(const char *text, size_t len,
			 union tcp_name *out) IBSA_MUST_USE;

/*
 * Create a socket that does not wait, sends small packets at once, and detects
 * within half a minute that its peer has vanished. Return: a descriptor, or
 * -errno. ibsa__tcp_socket_set() sets this for a socket of accept().
 */
int ibsa__tcp_socket(const union tcp_name *name);
void ibsa__tcp_socket_set(int fd);

/*
 * Begin to connect. Then, ibsa__tcp_connected() returns 0 if the socket is
 * connected; -EINPROGRESS not yet; or another -errno.
 */
int ibsa__tcp_connect(const union tcp_name *name, int *out_fd) IBSA_MUST_USE;
int ibsa__tcp_connected(int fd) IBSA_MUST_USE;

/*
 * Read a token in a text: 64 hexadecimal digits, and perhaps a newline. Return:
 * 0; -EINVAL.
 */
int ibsa__token_parse(const char *text, size_t len,
		      struct tcp_token *out) IBSA_MUST_USE;

/*
 * The owner that the file of a token may have: this user or root; or, for a client
 * of root, any user, such as that of a file which is mounted into a container.
 */
enum token_owner { TOKEN_OWN, TOKEN_ANY };

/*
 * Read the token in the file at @path. Return: 0; -ENOENT; -EACCES other users
 * can read the file, or this user cannot, or another user owns it; -EINVAL the
 * content is not a token; or another -errno.
 */
int ibsa__token_read(const char *path, enum token_owner owner,
		     struct ibsa_error *error,
		     struct tcp_token *out) IBSA_MUST_USE;

/* Compare secrets in a time that does not depend on them. */
bool ibsa__secret_equals(const uint8_t *a, const uint8_t *b, size_t len);

#endif
