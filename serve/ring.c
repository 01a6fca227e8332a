/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of packets between the server and a client: through rings in shared
 * memory, or through the data socket. A client may write anything to the shared
 * memory at any time: bytes are copied out of a ring before they are examined,
 * and an invalid position ends only this client.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/close.h"
#include "serve/server.h"

/*
 * How many parts one call writes. A client that reads single bytes must not
 * keep the server in a loop.
 */
enum { WRITES_MAX = 16 };

/*
 * Called when the client has written to the eventfd: it has written packets to
 * its ring, or has read packets from the server's ring.
 */
static void handle_bell(struct server_source *source, uint32_t events)
{
	struct server_peer *peer = list_object(source, struct server_peer,
					       bell);

	(void)events;
	peer->has_output = true;
	ibsa__peer_activate(peer);
}

int ibsa__peer_rings_open(struct server_peer *peer, int *out_memory_fd)
{
	/*
	 * The server never reads or writes the eventfd, since a client could
	 * make either call block: its events are edge-triggered. The counter of
	 * the eventfd starts at 1, so that the eventfd is always readable and
	 * ibsa__source_repeat() can report it again.
	 */
	const int bell_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	int err;

	if (bell_fd < 0)
		return -errno;
	err = ibsa__rings_new(&peer->rings, out_memory_fd);
	if (err) {
		close(bell_fd);
		return err;
	}
	peer->bell.handle = handle_bell;
	peer->bell.fd = bell_fd;
	return 0;
}

void ibsa__peer_rings_close(struct server_peer *peer)
{
	ibsa__source_close(&peer->bell);
	ibsa__rings_close(&peer->rings);
}

static ssize_t socket_send(int fd, const void *data, size_t len)
{
	for (;;) {
		const ssize_t sent = send(fd, data, len,
					  MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent >= 0)
			return sent;
		if (errno != EINTR)
			return errno == EAGAIN ? 0 : -errno;
	}
}

/*
 * Wake the client, which has announced that it waits, by a byte on the data
 * socket. If the socket is full, the bytes in it already wake the client.
 * Return: 0 or -errno: the client would wait forever.
 */
static int client_wake(struct server_peer *peer)
{
	const ssize_t sent = socket_send(peer->data.fd, "", 1);

	return sent < 0 ? (int)sent : 0;
}

static ssize_t ring_send(struct server_peer *peer, const char *data, size_t len)
{
	struct ring_end *out = &peer->rings.out;
	size_t sent = 0;
	int err;

	for (int i = 0; i < WRITES_MAX; i++) {
		const size_t left = len - sent;
		const ssize_t now = ibsa__ring_write(
			out, data + sent,
			left < RING_PART_BYTES ? left : RING_PART_BYTES);

		if (now < 0)
			return now;
		sent += (size_t)now;
		err = ibsa__ring_publish(out) ? client_wake(peer) : 0;
		if (err)
			return err;
		if (sent == len || (!now && ibsa__ring_room_await(out)))
			return (ssize_t)sent;
	}
	err = ibsa__source_repeat(&peer->bell);
	return err ? err : (ssize_t)sent;
}

ssize_t ibsa__peer_bytes_send(struct server_peer *peer, const void *data,
			      size_t len)
{
	return peer->rings.memory ? ring_send(peer, data, len)
				  : socket_send(peer->data.fd, data, len);
}

ssize_t ibsa__peer_bytes_recv(struct server_peer *peer, void *to, size_t len)
{
	ssize_t got;

	if (peer->rings.memory)
		return ibsa__ring_read(&peer->rings.in, to, len);
	got = ibsa__socket_recv(peer->data.fd, to, len);
	if (got > 0)
		return got;
	if (!got)
		return -EPIPE;
	if (errno == EPROTO)
		return -EBADMSG;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

size_t ibsa__peer_bytes_most(const struct server_peer *peer)
{
	int arrived = 0;

	if (peer->rings.memory)
		return RING_BYTES;
	return peer->data.fd >= 0 &&
			       !ioctl(peer->data.fd, FIONREAD, &arrived) &&
			       arrived > 0
		       ? (size_t)arrived
		       : 0;
}

bool ibsa__peer_bytes_arrived(const struct server_peer *peer)
{
	char byte;

	if (peer->rings.memory)
		return !ibsa__ring_is_empty(&peer->rings.in);
	return recv(peer->data.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}
