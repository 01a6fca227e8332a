/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receives the descriptors that the answer to REMOTE_ATTACH carries. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "remote/connection.h"

void ibsa__remote_fds_close(struct remote_fds *fds)
{
	for (int i = 0; i < REMOTE_FDS; i++)
		fd_close(&fds->fd[i]);
	fds->is_cut = false;
}

/* Get the descriptors that were received with a message; close excess ones. */
static struct remote_fds message_fds(struct msghdr *message)
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
				fds.fd[count++] = fd;
			else
				close(fd);
		}
	}
	fds.is_cut = message->msg_flags & MSG_CTRUNC;
	return fds;
}

ssize_t ibsa__remote_recv(int fd, void *data, size_t len,
			  struct remote_fds *fds)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(REMOTE_FDS * sizeof(int))];
	} control;
	struct iovec part = { .iov_base = data, .iov_len = len };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	const ssize_t got = recvmsg(fd, &message,
				    MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct remote_fds passed;

	if (got <= 0)
		return got;
	passed = message_fds(&message);
	if (passed.fd[0] >= 0 || passed.is_cut) {
		ibsa__remote_fds_close(fds);
		*fds = passed;
	}
	return got;
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
	if (!ibsa__socket_inode(fds->fd[REMOTE_FD_DATA]))
		return ibsa__fail(
			error, -EPROTO,
			"the fabric server sent no socket for the port");
	return 0;
}
