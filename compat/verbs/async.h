/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The async fd of a verbs context: which files its descriptors refer to.
 *
 * For a context of libibverbs, @set_fd is an epoll file that contains
 * @ready_fd and the file of the device's events. While @is_spliced is set,
 * @number is a second descriptor of that epoll file, @device_fd refers to the
 * device's file, and the device's file has O_NONBLOCK. For a context of
 * ibsa_verbs_open(), @number is @ready_fd, and @set_fd and @device_fd are not
 * used.
 */
#ifndef VERBS_ASYNC_H
#define VERBS_ASYNC_H

#include <ibsa/verbs.h>

/* For ibsa__async_get(): which descriptor libibverbs will use. */
enum async_get {
	/*
	 * libibverbs uses the descriptor @number, whose file must not change
	 * until the put.
	 */
	ASYNC_GET_NUMBER,
	ASYNC_GET_DEVICE, /* libibverbs uses @device_fd */
	ASYNC_GET_COUNT,
};

struct async {
	int number; /* the value of context->async_fd that the program reads */
	int device_fd; /* -1: not needed */
	/*
	 * An eventfd that is readable while SM events are queued; -1: not
	 * created yet.
	 */
	int ready_fd;
	int set_fd;
	unsigned int gets[ASYNC_GET_COUNT]; /* without their puts */
	bool is_own;			    /* the context is ours */
	bool is_splicing;
	bool is_spliced;
	bool is_ready; /* @ready_fd is readable */
	bool is_device_next;
	/* A thread reads from @number through libibverbs. */
	bool has_reader;
};

struct context_call;
struct context_state;

void ibsa__async_init(struct async *async);
void ibsa__async_done(struct async *async);

/*
 * Create the files for waiting for SM events. @lock is held. Return: 0;
 * -EINVAL @number is the epoll file of a parent process; -EBADF, -EMFILE,
 * -ENOMEM.
 */
int ibsa__async_begin(struct context_state *state) IBSA_MUST_USE;

/*
 * Whether @context still has the files of ibsa__async_begin(). libibverbs may
 * have closed the context and opened another context at the same address, which
 * does not have these files. @lock is held.
 */
bool ibsa__async_is_current(const struct async *async,
			    const struct ibv_context *context);

/*
 * Make @number refer to the epoll file, so that SM events make it readable,
 * too. ibsa__async_begin() has succeeded before. The call waits up to 10 s
 * until no other thread has an ASYNC_GET_NUMBER. @lock is held, and is
 * released while waiting. Return: 0; -EBUSY another thread has an
 * ASYNC_GET_NUMBER for more than 10 s, or this thread has one; -EINVAL the
 * context was closed meanwhile; or the error of a system call. After an error,
 * nothing has changed.
 */
int ibsa__async_splice(struct context_call *call) IBSA_MUST_USE;

/* Make @number refer to the device's event file again. @lock is held. */
void ibsa__async_unsplice(struct context_state *state);

/*
 * Make sure that the member async_fd of the context is a descriptor of the
 * device's event file until the last put. The descriptor is needed while
 * libibverbs creates a queue: it passes async_fd to the kernel as the file for
 * the queue's events. @lock is held. Return: the value to pass to the put.
 */
enum async_get ibsa__async_get(struct context_state *state);
void ibsa__async_put(struct context_state *state, enum async_get kind);

/*
 * Return: the descriptor that is readable when there may be an event of the
 * device or the SM.
 */
int ibsa__async_wait_fd(const struct async *async);

/*
 * Make @ready_fd readable if SM events are queued, otherwise not readable.
 * Called after a change of the queue. @lock is held.
 */
void ibsa__async_update(struct context_state *state);

/*
 * End the waits of all threads until the next ibsa__async_update(). @lock is
 * held.
 */
void ibsa__async_wake(struct async *async);

#endif
