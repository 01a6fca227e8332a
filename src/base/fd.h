/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Descriptors: closing them, waiting for several, ending a wait. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Close *@fd unless it is -1, and set it to -1. */
static inline void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Add @fd to an epoll set, for reading. Return: 0 or -errno. */
static inline int fd_watch(int epoll_fd, int fd)
{
	struct epoll_event readable = { .events = EPOLLIN };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &readable) ? -errno : 0;
}

/*
 * Make an eventfd readable. This fails only while its counter is at the
 * maximum, and then it is readable anyway.
 */
static inline void fd_wake(int event_fd)
{
	const uint64_t one = 1;

	(void)!write(event_fd, &one, sizeof(one));
}

/* Reset an eventfd, which has O_NONBLOCK. Return: 0 or -errno. */
static inline int fd_wake_reset(int event_fd)
{
	uint64_t count;

	return read(event_fd, &count, sizeof(count)) < 0 && errno != EAGAIN
		       ? -errno
		       : 0;
}

#endif
