/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receives the descriptors that the server passes with the answer to
 * REMOTE_ATTACH. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/close.h"
#include "base/error.h"
#include "base/fd.h"
#include "remote/connection.h"

enum { FDS_MAX = 253 /* of a message: SCM_MAX_FD of the kernel */ };

static bool socket_is_unix(int fd)
{
	int domain;
	socklen_t len = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) &&
	       domain == AF_UNIX;
}

/* Whether closing a file never blocks: a memfd, or a file without a type. */
static bool file_is_harmless(int fd)
{
	large_stat info;

	return fcntl(fd, F_GET_SEALS) >= 0 ||
	       (!large_fstat(fd, &info) && !(info.st_mode & S_IFMT));
}

/* Close a descriptor that the server has chosen. */
static void passed_close(int *fd)
{
	if (*fd >= 0 && socket_is_unix(*fd))
		ibsa__socket_close(fd);
	else if (*fd >= 0 && file_is_harmless(*fd))
		fd_close(fd);
	else if (*fd >= 0)
		ibsa__close_apart(*fd, NULL, NULL);
	*fd = -1;
}

void ibsa__remote_fds_close(struct remote_fds *fds)
{
	for (int i = 0; i < REMOTE_FDS; i++)
		passed_close(&fds->fd[i]);
	fds->is_cut = false;
}

/*
 * Get the descriptors that were received with a message. Close excess ones;
 * *@out_has_excess: there were some.
 */
static struct remote_fds message_fds(struct msghdr *message,
				     bool *out_has_excess)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	struct remote_fds fds = remote_fds_none();
	size_t count = 0;
	int fd;

	for (; head; head = CMSG_NXTHDR(message, head)) {
		if (head->cmsg_level != SOL_SOCKET ||
		    head->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(fd) <= head->cmsg_len;
		     at += sizeof(fd)) {
			memcpy(&fd, (char *)head + at, sizeof(fd));
			if (count < REMOTE_FDS)
				fds.fd[count] = fd;
			else
				passed_close(&fd);
			count++;
		}
	}
	*out_has_excess = count > REMOTE_FDS;
	fds.is_cut = message->msg_flags & MSG_CTRUNC;
	return fds;
}

/* Receive a message with all of its descriptors. Return: as recvmsg(). */
static ssize_t message_recv(int fd, void *data, size_t len, int flags,
			    struct remote_fds *out, bool *out_has_excess)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec part = { .iov_base = data, .iov_len = len };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	const ssize_t got = recvmsg(fd, &message,
				    flags | MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	*out_has_excess = false;
	if (got > 0 &&
	    (message.msg_controllen || message.msg_flags & MSG_CTRUNC))
		*out = message_fds(&message, out_has_excess);
	return got;
}

/*
 * When a process takes a message from a socket, the kernel closes those
 * descriptors in the message that the process does not receive. Therefore, the
 * descriptors are first received by a peek, which duplicates them. The message
 * is taken only if the peek has received all of them, and no more than
 * expected.
 */
ssize_t ibsa__remote_recv(int fd, void *data, size_t len,
			  struct remote_fds *fds)
{
	struct remote_fds passed = remote_fds_none();
	bool has_excess;
	const ssize_t got = message_recv(fd, data, len, MSG_PEEK, &passed,
					 &has_excess);

	if (got <= 0)
		return got;
	if (passed.fd[0] >= 0 || passed.is_cut) {
		ibsa__remote_fds_close(fds);
		*fds = passed;
	}
	if (passed.is_cut || has_excess) {
		errno = passed.is_cut ? EMFILE : EPROTO;
		return -1;
	}
	return recv(fd, data, (size_t)got, MSG_DONTWAIT);
}

/*
 * Receive with one call, because a client that waits for replies receives a
 * byte for each reply. The kernel closes received descriptors only if this
 * process has no free descriptors.
 */
ssize_t ibsa__remote_recv_bytes(int fd, void *data, size_t len)
{
	struct remote_fds passed = remote_fds_none();
	bool has_excess;
	const ssize_t got = message_recv(fd, data, len, 0, &passed,
					 &has_excess);

	if (got <= 0 || (passed.fd[0] < 0 && !passed.is_cut))
		return got;
	ibsa__remote_fds_close(&passed);
	errno = EPROTO;
	return -1;
}

large_inode ibsa__socket_inode(int fd)
{
	large_stat info;

	if (fd < 0 || large_fstat(fd, &info) || !S_ISSOCK(info.st_mode))
		return 0;
	return info.st_ino;
}

int ibsa__remote_fds_check(const struct remote_fds *fds,
			   struct ibsa_error *error)
{
	if (fds->is_cut)
		return ibsa__fail(error, -EMFILE,
				  "this process has too many open files for "
				  "the port of the fabric server; raise the "
				  "limit with ulimit -n");
	if (fds->fd[REMOTE_FD_DATA] < 0 ||
	    !socket_is_unix(fds->fd[REMOTE_FD_DATA]))
		return ibsa__fail(
			error, -EPROTO,
			"the fabric server sent no socket for the port");
	return 0;
}
