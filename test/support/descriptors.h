/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the descriptors of this process, and sends some to another one. */
#ifndef TEST_DESCRIPTORS_H
#define TEST_DESCRIPTORS_H

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

static inline unsigned int descriptors_count(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Send @data with @count descriptors. Return: whether that succeeded. */
static inline bool descriptors_pass(int to, const void *data, size_t len,
				    const int *fds, size_t count)
{
	enum { MOST = 253 /* SCM_MAX_FD of the kernel */ };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(MOST * sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(count * sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct iovec part = { .iov_base = (void *)(size_t)data,
			      .iov_len = len };
	const struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};

	memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)len;
}

#endif
