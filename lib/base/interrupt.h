/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Protection of a caller's thread against cancellation and signals while it
 * holds a lock or a reference of the library. A cancelled thread would not
 * release the lock or the reference, and a signal handler that calls the
 * library could wait for a lock that its own thread holds.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* The cancellation state and type of a thread before cancel_hold(). */
struct cancelability {
	int state;
	int type;
};

/* The signal mask and the cancelability of a thread before interrupts_hold(). */
struct interrupts {
	sigset_t signals;
	struct cancelability cancel;
};

/*
 * Disable cancellation of this thread, and make it deferred. Disabling alone
 * is not enough: in glibc (at least until 2.36), a cancellation that was sent
 * while the cancellation type was asynchronous takes effect even after
 * cancellation was disabled. The type is also asynchronous in a signal handler
 * that interrupts a system call which is a cancellation point.
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

/*
 * Fill @out with all signals except those of faults, such as SIGSEGV. A fault
 * is raised by an instruction of the thread: if its signal is blocked, the
 * kernel kills the process.
 */
static inline void signals_fill(sigset_t *out)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE,
				      SIGILL,  SIGSYS, SIGTRAP };

	sigfillset(out);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(out, faults[i]);
}

/* Block all signals in this thread, except those of faults such as SIGSEGV. */
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

/*
 * Restore this thread's cancellation and signal mask. Handlers of signals that
 * arrived while they were blocked run during this call.
 */
static inline void interrupts_restore(const struct interrupts *before)
{
	signals_restore(&before->signals);
	cancel_restore(&before->cancel);
}

#endif
