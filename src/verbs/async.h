/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The async fd of a context: which files are behind its number.
 *
 * Of libibverbs' context, @device_fd is another descriptor of the file that
 * the device's events come from. While @is_spliced, the number has an epoll
 * file over that and @ready_fd, and the device's file is O_NONBLOCK. Of our
 * own context there is no @device_fd, and the number is @ready_fd.
 */
#ifndef VERBS_ASYNC_H
#define VERBS_ASYNC_H

#include <ibsa/verbs.h>

struct async {
	int number;	   /* context->async_fd as programs know it */
	int device_fd;	   /* -1: none */
	int ready_fd;	   /* an eventfd: the SM's events wait; -1: not begun */
	unsigned int gets; /* for which the member names @device_fd */
	bool is_own;	   /* @number is ours */
	bool is_spliced;
	bool is_ready; /* what @ready_fd says */
	bool is_device_next;
};

struct context_state;

void ibsa__async_init(struct async *async);
void ibsa__async_done(struct async *async);

/* Get ready to wait. Locked. Return: 0; -EINVAL the number is as a parent has
 * spliced it; -EMFILE and the like. */
int ibsa__async_begin(struct context_state *state) IBSA_MUST_USE;

/* The number is to be readable for the SM's events, too. After begin, locked.
 * Return: 0; or the error of a system call, and nothing has changed. */
int ibsa__async_splice(struct context_state *state) IBSA_MUST_USE;

/* Put the device's file back. Locked. */
void ibsa__async_unsplice(struct context_state *state);

/*
 * libibverbs reads the member async_fd, also to say whose events a new queue's
 * are, and wants the device's file there: from the first get to the last put.
 * Locked.
 */
void ibsa__async_get(struct context_state *state);
void ibsa__async_put(struct context_state *state);

/* The queue is another: whether the number is readable. Locked. */
void ibsa__async_update(struct context_state *state);

/* End all waits, until the next update. Locked. */
void ibsa__async_wake(struct async *async);

#endif
