/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The async fd of a context: which files its descriptors refer to.
 *
 * For a context of libibverbs, @set_fd is an epoll file that contains @ready_fd
 * and the file of the device's events. While @is_spliced, @number is a second
 * descriptor of that epoll file, @device_fd refers to the device's file, and
 * the device's file is O_NONBLOCK. For our own context, @number is @ready_fd,
 * and @set_fd and @device_fd are not used.
 */
#ifndef VERBS_ASYNC_H
#define VERBS_ASYNC_H

#include <ibsa/verbs.h>

/* The two kinds of ibsa__async_get(). */
enum async_get {
	/* Libibverbs uses @number, whose file must not change. */
	ASYNC_GET_NUMBER,
	ASYNC_GET_DEVICE, /* libibverbs uses @device_fd */
	ASYNC_GET_COUNT,
};

struct async {
	int number;    /* value of context->async_fd for the program */
	int device_fd; /* -1: not needed */
	/* eventfd, readable while SM events are queued; -1: not created yet. */
	int ready_fd;
	int set_fd;
	unsigned int gets[ASYNC_GET_COUNT]; /* without their puts */
	bool is_own;			    /* the context is ours */
	bool is_splicing;
	bool is_spliced;
	bool is_ready; /* @ready_fd is readable */
	bool is_device_next;
	bool has_reader; /* a thread reads from @number through libibverbs */
};

struct context_call;
struct context_state;

void ibsa__async_init(struct async *async);
void ibsa__async_done(struct async *async);

/*
 * Create the files for waiting. @lock is held. Return: 0; -EINVAL @number is
 * the epoll file of a parent process; -EBADF, -EMFILE, -ENOMEM.
 */
int ibsa__async_begin(struct context_state *state) IBSA_MUST_USE;

/*
 * Whether @context still has the files of ibsa__async_begin(). It has not if
 * libibverbs closed the context and opened another at the same address. @lock
 * is held.
 */
bool ibsa__async_is_current(const struct async *async,
			    const struct ibv_context *context);

/*
 * Make @number refer to the epoll file, so that SM events make it readable,
 * too. Waits up to 10 s until no other thread has an ASYNC_GET_NUMBER.
 * ibsa__async_begin() has succeeded. @lock is held, and released while waiting.
 * Return: 0; -EBUSY such a get lasts longer, or this thread has one; -EINVAL
 * the context was closed meanwhile; or the error of a system call. After an
 * error, nothing has changed.
 */
int ibsa__async_splice(struct context_call *call) IBSA_MUST_USE;

/* Make @number refer to the device's file again. @lock is held. */
void ibsa__async_unsplice(struct context_state *state);

/*
 * libibverbs reads the member async_fd, and passes it to the kernel as the
 * destination of the events of a new queue. From the get to the put, the member
 * names the device's file. @lock is held. Return: what the put takes.
 */
enum async_get ibsa__async_get(struct context_state *state);
void ibsa__async_put(struct context_state *state, enum async_get kind);

/* The descriptor that is readable when there may be an event. */
int ibsa__async_wait_fd(const struct async *async);

/*
 * Make @ready_fd readable or not, after a change of the queue. @lock is held.
 */
void ibsa__async_update(struct context_state *state);

/* End all waits until the next update. @lock is held. */
void ibsa__async_wake(struct async *async);

#endif
