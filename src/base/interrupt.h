/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeping a thread of the program from being interrupted while it holds a lock
 * or a reference of ours: a cancel would leave them behind, and a signal
 * handler that calls the library could wait for its own thread.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <pthread.h>
#include <signal.h>

/* What a thread allowed before interrupts_hold(). */
struct interrupts {
	sigset_t signals;
	int cancel;
};

/* Run no handler in this thread, except for the faults that an instruction
 * causes. POSIX: to block those is undefined when one is raised. */
static inline void signals_hold(sigset_t *before)
{
	sigset_t held;

	sigfillset(&held);
	sigdelset(&held, SIGBUS);
	sigdelset(&held, SIGFPE);
	sigdelset(&held, SIGILL);
	sigdelset(&held, SIGSEGV);
	sigdelset(&held, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &held, before);
}

static inline void signals_restore(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static inline void interrupts_hold(struct interrupts *before)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel);
	signals_hold(&before->signals);
}

/* Handlers of signals that came meanwhile run within this call. */
static inline void interrupts_restore(const struct interrupts *before)
{
	int cancel;

	signals_restore(&before->signals);
	pthread_setcancelstate(before->cancel, &cancel);
}

#endif
