/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions for file descriptors: close one, wait for several, and wake a
 * thread that waits.
 */
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

/*
 * Wait for @events of @fd by the epoll set @epoll_fd, in place of other events
 * if @fd is in the set already. Return: 0 or -errno.
 */
static inline int fd_watch_for(int epoll_fd, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	if (!epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return 0;
	return errno == EEXIST &&
			       !epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event)
		       ? 0
		       : -errno;
}

/* Wait by the epoll set until @fd is readable. Return: 0 or -errno. */
static inline int fd_watch(int epoll_fd, int fd)
{
	return fd_watch_for(epoll_fd, fd, EPOLLIN);
}

/*
 * Make an eventfd readable, which wakes threads that wait for it. The write
 * fails only if the eventfd's counter is at its maximum; the eventfd is
 * readable in that case, too.
 */
static inline void fd_wake(int event_fd)
{
	const uint64_t one = 1;

	(void)!write(event_fd, &one, sizeof(one));
}

/*
 * Set the counter of an eventfd to 0, so that it is no longer readable. The
 * eventfd has O_NONBLOCK. Return: 0 or -errno.
 */
static inline int fd_wake_reset(int event_fd)
{
	uint64_t count;

	return read(event_fd, &count, sizeof(count)) < 0 && errno != EAGAIN
		       ? -errno
		       : 0;
}

#endif
