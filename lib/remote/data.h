/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of packets between a client and its umad file at a server:
 * through rings, or through the data socket if the server has no rings. In
 * both cases, the data socket is readable if and only if bytes can be received
 * or the server has gone.
 */
#ifndef REMOTE_DATA_H
#define REMOTE_DATA_H

#include "remote/connection.h"
#include "remote/ring.h"

struct remote_data {
	/* The data socket; -1: no umad file is open at the server. */
	int fd;
	/* The eventfd that wakes the server; -1: there are no rings. */
	int bell_fd;
	/*
	 * Inode number of the data socket if the program may close the
	 * descriptors; otherwise 0. While @fd is not that socket, @bell_fd may
	 * be another file's number, too, and is not written to.
	 */
	large_inode inode;
	struct rings rings;
};

static inline void remote_data_init(struct remote_data *data)
{
	*data = (struct remote_data){ .fd = -1, .bell_fd = -1 };
}

/*
 * Use the descriptors @fds that were received with the answer to REMOTE_ATTACH.
 * @ring_bytes: the answer's body; 0 if it is empty. Return: 0; -EMFILE the
 * process had too many descriptors; -EPROTO the answer is invalid; or another
 * -errno. On failure the caller closes the descriptors.
 */
int ibsa__data_open(struct remote_data *data, struct remote_fds *fds,
		    uint32_t ring_bytes,
		    struct ibsa_error *error) IBSA_MUST_USE;

/* Close the descriptors and unmap the rings. */
void ibsa__data_close(struct remote_data *data);

/*
 * Send a head and a body without waiting, except the first *@sent bytes, which
 * were sent earlier. Return: 0 all was sent; -EAGAIN there is no room for the
 * rest; -EIO without rings, the server has gone; with rings, it has stored an
 * invalid position.
 */
int ibsa__data_send(struct remote_data *data, const void *head, size_t head_len,
		    const void *body, size_t len, size_t *sent) IBSA_MUST_USE;

/*
 * Whether the server has gone without reading all that was sent. Call this
 * before sending: through rings, ibsa__data_send() does not detect it. Without
 * rings, ibsa__data_send() detects it, and this function returns false.
 */
bool ibsa__data_is_lost(struct remote_data *data);

/*
 * Whether @len bytes can be sent without waiting. Without rings, this is not
 * known, and the result is true.
 */
bool ibsa__data_has_room(struct remote_data *data, size_t len);

/*
 * Receive up to @len bytes without waiting; ibsa__data_peek() does the same,
 * but the bytes can be received again. Return: the number of bytes; -EAGAIN
 * none; -EIO the server has gone, or has written invalid values to the ring.
 */
ssize_t ibsa__data_recv(struct remote_data *data, void *to, size_t len);
ssize_t ibsa__data_peek(struct remote_data *data, void *to, size_t len);

/*
 * Wait for @events of the data socket, as ibsa__remote_await(). If there are
 * rings, POLLOUT waits until the ring has room; then, -EIO is also the result
 * if the server has gone.
 */
int ibsa__data_await(struct remote_data *data, short events, unsigned int ms,
		     uint64_t start_ns) IBSA_MUST_USE;

#endif
