/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The async fd of a context: which files are behind its number. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/context_state.h"

void ibsa__async_init(struct async *async)
{
	*async =
		(struct async){ .number = -1, .device_fd = -1, .ready_fd = -1 };
}

void ibsa__async_done(struct async *async)
{
	if (async->device_fd >= 0)
		close(async->device_fd);
	if (async->ready_fd >= 0 && !async->is_own)
		close(async->ready_fd);
	ibsa__async_init(async);
}

/* Such a file says of one that it does not have that it is not there. */
static bool is_epoll(int fd, int other)
{
	return epoll_ctl(fd, EPOLL_CTL_DEL, other, NULL) && errno == ENOENT;
}

/* The files of libibverbs' context. */
static int files_open(struct async *async)
{
	async->device_fd = fcntl(async->number, F_DUPFD_CLOEXEC, 0);
	if (async->device_fd < 0)
		return -errno;
	async->ready_fd = eventfd(0, EFD_CLOEXEC);
	if (async->ready_fd < 0)
		return -errno;
	/* Spliced, and not by us: by the process that we were forked from. */
	return is_epoll(async->number, async->ready_fd) ? -EINVAL : 0;
}

int ibsa__async_begin(struct context_state *state)
{
	struct async *async = &state->async;
	int err;

	if (async->ready_fd >= 0)
		return 0;
	async->number = state->context->async_fd;
	async->is_own = state->verbs;
	if (async->is_own) {
		async->ready_fd = async->number;
		return 0;
	}
	err = files_open(async);
	if (err)
		ibsa__async_done(async);
	else
		ibsa__async_update(state);
	return err;
}

/* O_NONBLOCK of @from becomes that of @to. */
static int nonblock_copy(int from, int to)
{
	const int wanted = fcntl(from, F_GETFL);
	const int flags = fcntl(to, F_GETFL);

	if (wanted < 0 || flags < 0 ||
	    fcntl(to, F_SETFL, (flags & ~O_NONBLOCK) | (wanted & O_NONBLOCK)))
		return -errno;
	return 0;
}

static int nonblock_set(int fd)
{
	const int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

/* The file of @fd gets @number, which stays open over exec if it was. */
static int number_give(int number, int fd)
{
	const int flags = fcntl(number, F_GETFD);

	if (flags < 0 ||
	    dup3(fd, number, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
		return -errno;
	return 0;
}

static int set_add(int set, int fd)
{
	struct epoll_event readable = { .events = EPOLLIN };

	return epoll_ctl(set, EPOLL_CTL_ADD, fd, &readable) ? -errno : 0;
}

/* Others may look at it at any time. */
static void member_set(struct context_state *state)
{
	const struct async *async = &state->async;
	const bool is_out = async->is_spliced && async->gets;

	__atomic_store_n(&state->context->async_fd,
			 is_out ? async->device_fd : async->number,
			 __ATOMIC_RELAXED);
}

void ibsa__async_get(struct context_state *state)
{
	state->async.gets++;
	member_set(state);
}

void ibsa__async_put(struct context_state *state)
{
	state->async.gets--;
	member_set(state);
}

void ibsa__async_unsplice(struct context_state *state)
{
	struct async *async = &state->async;

	if (!async->is_spliced)
		return;
	(void)!nonblock_copy(async->number, async->device_fd);
	(void)!number_give(async->number, async->device_fd);
	async->is_spliced = false;
	member_set(state);
}

int ibsa__async_splice(struct context_state *state)
{
	struct async *async = &state->async;
	int set;
	int err;

	if (async->is_own || async->is_spliced)
		return 0;
	set = epoll_create1(EPOLL_CLOEXEC);
	if (set < 0)
		return -errno;
	err = set_add(set, async->device_fd);
	if (!err)
		err = set_add(set, async->ready_fd);
	if (!err)
		err = nonblock_copy(async->number, set);
	if (!err)
		err = number_give(async->number, set);
	close(set);
	if (err)
		return err;
	async->is_spliced = true;
	err = nonblock_set(async->device_fd);
	if (err)
		ibsa__async_unsplice(state);
	return err;
}

/* A program may have read from it, though it should not. */
static void drain(int fd)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };
	uint64_t count;

	if (poll(&file, 1, 0) == 1)
		(void)!read(fd, &count, sizeof(count));
}

void ibsa__async_update(struct context_state *state)
{
	struct async *async = &state->async;
	const bool ready = !ibsa__sm_queue_is_empty(&state->queue);

	if (async->ready_fd < 0 || state->is_closed || async->is_ready == ready)
		return;
	async->is_ready = ready;
	if (ready)
		ibsa__async_wake(async);
	else
		drain(async->ready_fd);
}

void ibsa__async_wake(struct async *async)
{
	const uint64_t one = 1;

	if (async->ready_fd >= 0)
		(void)!write(async->ready_fd, &one, sizeof(one));
}
