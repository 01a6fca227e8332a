/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The async fd of a verbs context: which files its descriptors refer to. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "verbs/context_state.h"

enum { BOUND_S = 10 };

void ibsa__async_init(struct async *async)
{
	*async = (struct async){
		.number = -1,
		.device_fd = -1,
		.ready_fd = -1,
		.set_fd = -1,
	};
}

void ibsa__async_done(struct async *async)
{
	if (!async->is_own)
		fd_close(&async->ready_fd);
	fd_close(&async->device_fd);
	fd_close(&async->set_fd);
	ibsa__async_init(async);
}

/*
 * Whether @fd is an epoll file: epoll_ctl(2) fails with ENOENT only for an
 * epoll file.
 */
static bool fd_is_epoll(int fd, int other)
{
	return epoll_ctl(fd, EPOLL_CTL_DEL, other, NULL) && errno == ENOENT;
}

/*
 * Whether the epoll set @set contains the descriptor @fd with its current
 * file. According to epoll(7), an entry is a descriptor together with its
 * file, so epoll_ctl() fails if @fd refers to another file now.
 */
static bool set_has(int set, int fd)
{
	struct epoll_event readable = { .events = EPOLLIN };

	return !epoll_ctl(set, EPOLL_CTL_MOD, fd, &readable);
}

static int files_open(struct async *async)
{
	int err;

	async->ready_fd = eventfd(0, EFD_CLOEXEC);
	if (async->ready_fd < 0)
		return -errno;
	if (fd_is_epoll(async->number, async->ready_fd))
		return -EINVAL;
	async->set_fd = epoll_create1(EPOLL_CLOEXEC);
	if (async->set_fd < 0)
		return -errno;
	err = fd_watch(async->set_fd, async->number);
	return err ? err : fd_watch(async->set_fd, async->ready_fd);
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

bool ibsa__async_is_current(const struct async *async,
			    const struct ibv_context *context)
{
	if (async->is_own || async->ready_fd < 0)
		return true;
	if (context->async_fd != async->number &&
	    context->async_fd != async->device_fd)
		return false;
	return async->is_spliced ? set_has(async->number, async->ready_fd)
				 : set_has(async->set_fd, async->number);
}

int ibsa__async_wait_fd(const struct async *async)
{
	return async->is_own ? async->ready_fd : async->set_fd;
}

/* Set or clear O_NONBLOCK of @fd, as it is in @flags. */
static int nonblock_set(int fd, int flags)
{
	const int now = fcntl(fd, F_GETFL);

	if (now < 0 || flags < 0 ||
	    fcntl(fd, F_SETFL, (now & ~O_NONBLOCK) | (flags & O_NONBLOCK)))
		return -errno;
	return 0;
}

/*
 * Make the descriptor @number refer to the file of @fd. The close-on-exec flag
 * of @number does not change.
 */
static int number_give(int number, int fd)
{
	const int flags = fcntl(number, F_GETFD);

	if (flags < 0 ||
	    dup3(fd, number, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
		return -errno;
	return 0;
}

/*
 * Make the async fd refer to the file of @fd instead of the file of @old, with
 * the same flag O_NONBLOCK. Another thread may change this flag of the old
 * file at any time. A change after the first fcntl() is copied to the new file
 * after the exchange, unless the flag of the new file was changed, too.
 */
static int number_replace(const struct async *async, int fd, int old)
{
	const int before = fcntl(old, F_GETFL);
	int err = nonblock_set(fd, before);
	int after;

	if (!err)
		err = number_give(async->number, fd);
	if (err)
		return err;
	after = fcntl(old, F_GETFL);
	if ((after ^ before) & O_NONBLOCK &&
	    !((fcntl(fd, F_GETFL) ^ before) & O_NONBLOCK))
		(void)!nonblock_set(fd, after);
	return 0;
}

/*
 * Set the member async_fd of the context. Other threads may read the member at
 * any time.
 */
static void member_set(struct context_state *state, int fd)
{
	if (!state->is_stale)
		__atomic_store_n(&state->context->async_fd, fd,
				 __ATOMIC_RELAXED);
}

static void device_fd_release(struct async *async)
{
	if (!async->is_splicing && !async->is_spliced &&
	    !async->gets[ASYNC_GET_DEVICE])
		fd_close(&async->device_fd);
}

enum async_get ibsa__async_get(struct context_state *state)
{
	struct async *async = &state->async;
	const enum async_get kind = async->is_splicing || async->is_spliced
					    ? ASYNC_GET_DEVICE
					    : ASYNC_GET_NUMBER;

	if (!async->gets[kind]++ && kind == ASYNC_GET_DEVICE)
		member_set(state, async->device_fd);
	return kind;
}

void ibsa__async_put(struct context_state *state, enum async_get kind)
{
	struct async *async = &state->async;

	if (--async->gets[kind])
		return;
	if (kind == ASYNC_GET_DEVICE) {
		if (!state->is_closed)
			member_set(state, async->number);
		device_fd_release(async);
	}
	pthread_cond_broadcast(&state->changed);
}

void ibsa__async_unsplice(struct context_state *state)
{
	struct async *async = &state->async;

	if (!async->is_spliced)
		return;
	/*
	 * set_has() is false if the program has closed the async fd, whose
	 * number may refer to any file now: leave that file alone.
	 */
	if (set_has(async->number, async->ready_fd))
		(void)!number_replace(async, async->device_fd, async->set_fd);
	async->is_spliced = false;
	/*
	 * After this, libibverbs closes the context with the descriptor in the
	 * member async_fd: let the member name the original descriptor.
	 */
	if (state->is_closed)
		member_set(state, async->number);
	device_fd_release(async);
}

/*
 * Wait, at most BOUND_S, until libibverbs no longer uses the async fd, whose
 * file must not change during such a use.
 */
static int number_await(struct context_call *call)
{
	struct context_state *state = call->state;
	const uint64_t until = clock_now_ns() + BOUND_S * NS_PER_S;

	if (ibsa__context_call_has_number(call))
		return -EBUSY;
	while (state->async.gets[ASYNC_GET_NUMBER] && !state->is_closed) {
		if (clock_now_ns() >= until)
			return -EBUSY;
		ibsa__context_call_await(call);
	}
	return state->is_closed ? -EINVAL : 0;
}

static int number_splice(struct context_state *state)
{
	struct async *async = &state->async;
	int err = number_replace(async, async->set_fd, async->device_fd);

	if (err)
		return err;
	async->is_spliced = true;
	err = nonblock_set(async->device_fd, O_NONBLOCK);
	if (err)
		ibsa__async_unsplice(state);
	return err;
}

int ibsa__async_splice(struct context_call *call)
{
	struct context_state *state = call->state;
	struct async *async = &state->async;
	int err;

	if (async->is_own || async->is_spliced)
		return 0;
	if (async->device_fd < 0)
		async->device_fd = fcntl(async->number, F_DUPFD_CLOEXEC, 0);
	if (async->device_fd < 0)
		return -errno;
	async->is_splicing = true;
	err = number_await(call);
	if (!err)
		err = number_splice(state);
	async->is_splicing = false;
	device_fd_release(async);
	return err;
}

/*
 * Reset the eventfd, so that it is no longer readable. The program may have
 * read, and so reset, it already.
 */
static void eventfd_drain(int fd)
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
		eventfd_drain(async->ready_fd);
}

void ibsa__async_wake(struct async *async)
{
	if (async->ready_fd >= 0)
		fd_wake(async->ready_fd);
}
