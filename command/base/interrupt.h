/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handles signals that end a command, for commands that must clean up first. */
#ifndef COMMAND_INTERRUPT_H
#define COMMAND_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include <ibsa/ibsa.h>

struct interrupt {
	pthread_mutex_t lock;
	void (*wake)(void *arg); /* or NULL; guarded by @lock */
	void *arg;
	const char *second_signal_text;
	sigset_t signals;
	pthread_t thread;
	/*
	 * The command has started a program of the user: the terminal sends the
	 * signals of the keyboard to both processes.
	 */
	bool is_beside;
	atomic_bool seen;
	atomic_bool is_over; /* the thread must end */
	atomic_int number;   /* number of the first signal */
};

/*
 * Begin to wait for SIGINT, SIGTERM and SIGHUP, except for signals that were
 * ignored when the program started. A second signal, at least half a second
 * after the first, prints @second_signal_text and ends the program by the
 * signal's default action.
 *
 * Call this before other threads start: they must have these signals blocked,
 * or handle them themselves.
 *
 * Return: the exit status; a failure is printed.
 */
int interrupt_start(struct interrupt *interrupt,
		    const char *second_signal_text);

/*
 * Do what interrupt_start() does, while a command of the user runs: signals
 * from the keyboard, such as Ctrl-C, are for the command, which also receives
 * them from the terminal.
 */
int interrupt_start_beside(struct interrupt *interrupt,
			   const char *second_signal_text);

/*
 * Block the signals, so that a signal that arrives is pending until
 * interrupt_start(). @before receives the old signal mask, for a child
 * process, which must not have them blocked.
 */
void interrupt_hold(sigset_t *before);

/*
 * Make a signal wake @client as well. NULL: no client is to be woken, and the
 * client of the last call may be closed.
 */
void interrupt_wakes(struct interrupt *interrupt, struct ibsa_client *client);

/* Make a signal call a function; the call comes from another thread. */
void interrupt_calls(struct interrupt *interrupt, void (*wake)(void *arg),
		     void *arg);

/* Whether a signal arrived. */
bool interrupt_seen(const struct interrupt *interrupt);

/*
 * Stop the thread that waits for signals. Signals that arrive later stay
 * pending until the program ends.
 */
void interrupt_stop(struct interrupt *interrupt);

#endif
