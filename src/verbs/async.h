/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The async fd of a context: which files are behind its number.
 *
 * For a context of libibverbs, @set_fd is an epoll file over @ready_fd and the
 * file of the device's events. While @is_spliced, @number is another descriptor
 * of that epoll file, @device_fd is one of the device's file, and the device's
 * file is O_NONBLOCK. For our own context, @number is @ready_fd, and there is
 * neither of the others.
 */
#ifndef VERBS_ASYNC_H
#define VERBS_ASYNC_H

#include <ibsa/verbs.h>

/* The two kinds of ibsa__async_get(). */
enum async_get {
	ASYNC_GET_NUMBER, /* libibverbs uses @number: it must not change */
	ASYNC_GET_DEVICE, /* libibverbs uses @device_fd */
	ASYNC_GET_COUNT,
};

struct async {
	int number;    /* context->async_fd as programs know it */
	int device_fd; /* -1: not needed */
	int ready_fd;  /* an eventfd: SM events wait; -1: not begun */
	int set_fd;
	unsigned int gets[ASYNC_GET_COUNT]; /* not put yet */
	bool is_own;			    /* @number is ours */
	bool is_splicing;
	bool is_spliced;
	bool is_ready; /* @ready_fd is readable */
	bool is_device_next;
	bool has_reader; /* a thread reads from @number by libibverbs */
};

struct context_call;
struct context_state;

void ibsa__async_init(struct async *async);
void ibsa__async_done(struct async *async);

/* Get ready to wait. Locked. Return: 0; -EINVAL @number is the epoll file of a
 * parent process; -EBADF, -EMFILE, -ENOMEM. */
int ibsa__async_begin(struct context_state *state) IBSA_MUST_USE;

/* Whether @context still has the files of ibsa__async_begin(). It has not if
 * libibverbs closed the context, and made another one at its place. Locked. */
bool ibsa__async_is_current(const struct async *async,
			    const struct ibv_context *context);

/*
 * Put the epoll file behind @number, so that SM events make it readable, too.
 * Waits up to 10 s for the ASYNC_GET_NUMBER of other threads. After begin,
 * locked; the lock is released meanwhile. Return: 0; -EBUSY such a get lasts
 * longer, or is of this thread; -EINVAL the context was closed meanwhile; or
 * the error of a system call. Nothing has then changed.
 */
int ibsa__async_splice(struct context_call *call) IBSA_MUST_USE;

/* Put the device's file back. Locked. */
void ibsa__async_unsplice(struct context_state *state);

/*
 * libibverbs reads the member async_fd, and hands it to the kernel as the place
 * for the events of a new queue: it has to name the device's file from the get
 * to the put. Locked. Return: what put takes.
 */
enum async_get ibsa__async_get(struct context_state *state);
void ibsa__async_put(struct context_state *state, enum async_get kind);

/* The descriptor that is readable when there may be an event. */
int ibsa__async_wait_fd(const struct async *async);

/* The queue has changed: whether @ready_fd is readable. Locked. */
void ibsa__async_update(struct context_state *state);

/* End all waits, until the next update. Locked. */
void ibsa__async_wake(struct async *async);

#endif
