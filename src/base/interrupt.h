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
#include <stddef.h>

/* What a thread allowed before cancel_hold(). */
struct cancelability {
	int state;
	int type;
};

/* What a thread allowed before interrupts_hold(). */
struct interrupts {
	sigset_t signals;
	struct cancelability cancel;
};

/*
 * Let no cancel act in this thread. The state alone is not enough: a cancel that
 * glibc (at least until 2.36) has sent while the type was asynchronous acts after
 * the state has changed. The type is asynchronous, too, in a handler that
 * interrupts a system call which is a cancellation point.
 */
static inline void cancel_hold(struct cancelability *before)
{
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before->type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->state);
}

static inline void cancel_restore(const struct cancelability *before)
{
	int was;

	pthread_setcancelstate(before->state, &was);
	pthread_setcanceltype(before->type, &was);
}

/* All signals but those of a fault. They are raised by the faulting thread's own
 * instruction: if one is blocked, the kernel ends the process. */
static inline void signals_fill(sigset_t *out)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE,
				      SIGILL,  SIGSYS, SIGTRAP };

	sigfillset(out);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(out, faults[i]);
}

/* Run no handler in this thread, except for a fault. */
static inline void signals_hold(sigset_t *before)
{
	sigset_t held;

	signals_fill(&held);
	pthread_sigmask(SIG_BLOCK, &held, before);
}

static inline void signals_restore(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static inline void interrupts_hold(struct interrupts *before)
{
	cancel_hold(&before->cancel);
	signals_hold(&before->signals);
}

/* Handlers of signals that came meanwhile run within this call. */
static inline void interrupts_restore(const struct interrupts *before)
{
	signals_restore(&before->signals);
	cancel_restore(&before->cancel);
}

#endif
