/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends and receives bytes of packets through rings or the data socket. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/close.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/large.h"
#include "remote/data.h"

/*
 * Whether @fd can be the server's eventfd, which is a file without a type. A
 * write to a pipe or socket could wait, or end the process by SIGPIPE.
 */
static bool fd_is_bell(int fd)
{
	large_stat info;

	return fd >= 0 && !large_fstat(fd, &info) && !(info.st_mode & S_IFMT) &&
	       fcntl(fd, F_GETFL) & O_NONBLOCK;
}

static int rings_open(struct remote_data *data, const struct remote_fds *fds,
		      uint32_t ring_bytes, struct ibsa_error *error)
{
	int err = -EPROTO;

	if (ring_bytes == sizeof(struct ring_memory) &&
	    fd_is_bell(fds->fd[REMOTE_FD_BELL]))
		err = ibsa__rings_open(&data->rings, fds->fd[REMOTE_FD_MEMORY]);
	if (err == -EPROTO)
		return ibsa__fail(error, err,
				  "the fabric server sent no usable memory or "
				  "eventfd for the port");
	return err ? ibsa__fail(error, err,
				"cannot map the memory of the fabric server: "
				"%s",
				ibsa__errno_text(-err).bytes)
		   : 0;
}

int ibsa__data_open(struct remote_data *data, struct remote_fds *fds,
		    uint32_t ring_bytes, struct ibsa_error *error)
{
	int err = ibsa__remote_fds_check(fds, error);

	if (!err && ring_bytes)
		err = rings_open(data, fds, ring_bytes, error);
	if (err)
		return err;
	data->fd = fds->fd[REMOTE_FD_DATA];
	fds->fd[REMOTE_FD_DATA] = -1;
	if (ring_bytes) {
		data->bell_fd = fds->fd[REMOTE_FD_BELL];
		fds->fd[REMOTE_FD_BELL] = -1;
	}
	ibsa__remote_fds_close(fds);
	return 0;
}

void ibsa__data_close(struct remote_data *data)
{
	ibsa__socket_close(&data->fd);
	fd_close(&data->bell_fd);
	ibsa__rings_close(&data->rings);
}

/*
 * Wake the server, unless it has made the eventfd blocking: a write would then
 * wait while the counter is at its maximum.
 */
static void bell_ring(const struct remote_data *data)
{
	const int flags = fcntl(data->bell_fd, F_GETFL);

	if (flags < 0 || !(flags & O_NONBLOCK))
		return;
	if (!data->inode || ibsa__socket_inode(data->fd) == data->inode)
		fd_wake(data->bell_fd);
}

static ssize_t part_write(struct ring_end *out, const void *from, size_t len,
			  size_t skip)
{
	if (skip >= len)
		return 0;
	return ibsa__ring_write(out, (const char *)from + skip, len - skip);
}

static int rings_send(struct remote_data *data, const void *head,
		      size_t head_len, const void *body, size_t len,
		      size_t *sent)
{
	struct ring_end *out = &data->rings.out;
	ssize_t done = part_write(out, head, head_len, *sent);

	if (done >= 0)
		*sent += (size_t)done;
	if (done >= 0 && *sent >= head_len)
		done = part_write(out, body, len, *sent - head_len);
	else if (done >= 0)
		done = 0;
	if (done < 0)
		return -EIO;
	*sent += (size_t)done;
	if (ibsa__ring_publish(out))
		bell_ring(data);
	return *sent == head_len + len ? 0 : -EAGAIN;
}

int ibsa__data_send(struct remote_data *data, const void *head, size_t head_len,
		    const void *body, size_t len, size_t *sent)
{
	if (data->rings.memory)
		return rings_send(data, head, head_len, body, len, sent);
	return ibsa__remote_send(data->fd, head, head_len, body, len, sent);
}

/*
 * Receive from the socket, or peek if @flags is MSG_PEEK. Return: as
 * ibsa__data_recv().
 */
static ssize_t socket_recv(int fd, void *to, size_t len, int flags)
{
	for (;;) {
		const ssize_t got =
			flags ? recv(fd, to, len, flags | MSG_DONTWAIT)
			      : ibsa__remote_recv_bytes(fd, to, len);

		if (got > 0)
			return got;
		if (!got)
			return -EIO;
		if (errno != EINTR)
			return errno == EAGAIN ? -EAGAIN : -EIO;
	}
}

/*
 * Whether the server has gone. If the ring is empty, the server has read
 * everything that was sent: it is assumed to be still running, which saves a
 * system call.
 */
bool ibsa__data_is_lost(struct remote_data *data)
{
	char byte;

	return data->rings.memory &&
	       !ibsa__ring_has_room(&data->rings.out, RING_BYTES) &&
	       socket_recv(data->fd, &byte, 1, MSG_PEEK) == -EIO;
}

bool ibsa__data_has_room(struct remote_data *data, size_t len)
{
	return !data->rings.memory ||
	       ibsa__ring_has_room(&data->rings.out, len);
}

/*
 * If the ring is empty, announce that this side waits, and remove from the
 * socket the byte with which the server answered the previous announcement.
 * Return: 0; -EIO.
 *
 * The server sends one byte for each announcement that it answers, and each new
 * announcement removes one byte. If the previous byte has not arrived yet, the
 * new announcement is withdrawn: the late byte then wakes this side for what
 * the server writes next.
 */
static int rings_settle(struct remote_data *data)
{
	struct ring_end *in = &data->rings.in;
	ssize_t got;
	char byte;

	if (!ibsa__ring_is_empty(in) || ibsa__ring_is_idle(in))
		return 0;
	ibsa__ring_idle_begin(in);
	if (!ibsa__ring_is_empty(in) && ibsa__ring_idle_end(in))
		return 0;
	got = socket_recv(data->fd, &byte, 1, 0);
	if (got == -EAGAIN) {
		if (ibsa__ring_idle_end(in))
			return 0;
		/*
		 * The server has answered the new announcement, too. The server
		 * has sent the byte for the previous announcement before this
		 * answer, so the byte can be read now.
		 */
		got = socket_recv(data->fd, &byte, 1, 0);
	}
	return got > 0 ? 0 : -EIO;
}

/*
 * Called if the ring is empty: check whether the server has gone. Return: 0;
 * -EIO: the server has gone, or it has sent a wake-up although it has not
 * cleared the announcement of this side.
 */
static int rings_check(struct remote_data *data)
{
	const bool is_idle = ibsa__ring_is_idle(&data->rings.in);
	char byte;
	ssize_t got;

	if (!is_idle)
		return rings_settle(data);
	got = socket_recv(data->fd, &byte, 1, MSG_PEEK);
	if (got > 0)
		return ibsa__ring_is_idle(&data->rings.in) ? -EIO : 0;
	return got == -EAGAIN ? 0 : -EIO;
}

/*
 * Read in parts: the server fills the ring again while the other parts are
 * read. Return: the number of bytes; -EIO.
 */
static ssize_t rings_read(struct remote_data *data, uint8_t *to, size_t len)
{
	struct ring_end *in = &data->rings.in;
	size_t done = 0;
	ssize_t got;

	do {
		const size_t left = len - done;

		got = ibsa__ring_read(in, to + done,
				      left < RING_PART_BYTES ? left
							     : RING_PART_BYTES);
		if (got > 0)
			done += (size_t)got;
		if (got > 0 && ibsa__ring_release(in))
			bell_ring(data);
	} while (got == RING_PART_BYTES && done < len);
	return got < 0 && !done ? -EIO : (ssize_t)done;
}

static ssize_t rings_recv(struct remote_data *data, void *to, size_t len)
{
	const ssize_t got = rings_read(data, to, len);
	int err;

	if (got < 0)
		return got;
	err = got ? rings_settle(data) : rings_check(data);
	if (got)
		return got;
	return err ? err : -EAGAIN;
}

ssize_t ibsa__data_recv(struct remote_data *data, void *to, size_t len)
{
	if (data->rings.memory)
		return rings_recv(data, to, len);
	return socket_recv(data->fd, to, len, 0);
}

ssize_t ibsa__data_peek(struct remote_data *data, void *to, size_t len)
{
	ssize_t got;
	int err;

	if (!data->rings.memory)
		return socket_recv(data->fd, to, len, MSG_PEEK);
	got = ibsa__ring_peek(&data->rings.in, 0, to, len);
	if (got > 0)
		return got;
	err = got ? -EIO : rings_check(data);
	return err ? err : -EAGAIN;
}

/*
 * Wait until there is room in the ring or the server has gone. The server does
 * not report room. Unless it is busy, it reads the ring at once, so the first
 * pause is short: a large packet needs one for each 64 KiB.
 */
static int room_await(struct remote_data *data, unsigned int ms,
		      uint64_t start_ns)
{
	enum { PAUSE_NS = 20000, PAUSE_MAX_NS = 1000000 };
	struct pollfd end = { .fd = data->fd, .events = POLLRDHUP };
	uint64_t pause_ns = PAUSE_NS;

	while (ibsa__clock_left_ms((int)ms, start_ns)) {
		const struct timespec pause = clock_timespec(pause_ns);

		if (ibsa__ring_has_room(&data->rings.out, 1))
			return 0;
		if (ppoll(&end, 1, &pause, NULL) > 0)
			return -EIO;
		if (pause_ns < PAUSE_MAX_NS)
			pause_ns *= 2;
	}
	return -ETIMEDOUT;
}

int ibsa__data_await(struct remote_data *data, short events, unsigned int ms,
		     uint64_t start_ns)
{
	if (data->rings.memory && events & POLLOUT)
		return room_await(data, ms, start_ns);
	return ibsa__remote_await(data->fd, events, ms, start_ns);
}
