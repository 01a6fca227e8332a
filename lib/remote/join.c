/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connects to a server over TCP, and joins the data socket to a connection. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "remote/connection.h"

int ibsa__remote_tcp_failed(const struct remote_address *address, int err,
			    struct ibsa_error *error)
{
	if (err == -ECONNREFUSED)
		return ibsa__fail(error, -ENODEV,
				  "no fabric server is at %s: start one with "
				  "ibsa fabric run --listen tcp:%s --token "
				  "FILE",
				  address->path, address->path);
	return ibsa__fail(error, err,
			  "cannot connect to the fabric server at %s: %s; "
			  "check that the address is that of the server",
			  address->path, ibsa__errno_text(-err).bytes);
}

/* Wait until a socket is connected over TCP. Return: 0 or -errno. */
static int tcp_await(int fd, const struct remote_connection *connection)
{
	const int err = ibsa__remote_await(fd, POLLOUT, connection->patience_ms,
					   connection->start_ns);

	return err ? err : ibsa__tcp_connected(fd);
}

int ibsa__remote_tcp_connect(struct remote_connection *connection,
			     const struct remote_address *address,
			     bool may_wait)
{
	int fd = -1;
	int err = ibsa__tcp_connect(&address->tcp, &fd);

	if (!err && may_wait)
		err = tcp_await(fd, connection);
	if (err)
		fd_close(&fd);
	connection->fd = fd;
	return err;
}

int ibsa__remote_connected(const struct remote_connection *connection,
			   const struct remote_address *address)
{
	return address->is_tcp ? ibsa__tcp_connected(connection->fd) : 0;
}

int ibsa__remote_join_begin(const struct remote_address *address, int *out_fd)
{
	return ibsa__tcp_connect(&address->tcp, out_fd);
}

int ibsa__remote_join_send(int fd, const uint8_t ticket[REMOTE_TICKET_BYTES])
{
	const struct remote_head head = { .length = REMOTE_TICKET_BYTES,
					  .type = REMOTE_JOIN };
	const int err = ibsa__tcp_connected(fd);
	size_t sent = 0;

	/* A new socket has room for this frame. */
	return err ? err
		   : ibsa__remote_send(fd, &head, sizeof(head), ticket,
				       REMOTE_TICKET_BYTES, &sent);
}

int ibsa__remote_join(const struct remote_connection *connection,
		      const struct remote_address *address,
		      const uint8_t ticket[REMOTE_TICKET_BYTES],
		      struct ibsa_error *error, int *out_fd)
{
	int fd = -1;
	int err = ibsa__remote_join_begin(address, &fd);

	if (!err)
		err = tcp_await(fd, connection);
	if (!err)
		err = ibsa__remote_join_send(fd, ticket);
	if (err) {
		fd_close(&fd);
		return ibsa__remote_tcp_failed(address, err, error);
	}
	*out_fd = fd;
	return 0;
}
