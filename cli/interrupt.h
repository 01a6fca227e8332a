/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals that end a command, for commands that must clean up first. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

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
	bool is_beside; /* a command runs beside it and receives the terminal's signals, too */
	atomic_bool seen;
	atomic_bool is_over; /* the thread must end */
	atomic_int number;   /* number of the first signal */
};

/*
 * Begin to wait for SIGINT, SIGTERM and SIGHUP, except those that were ignored
 * when the program started. A second signal, half a second later or more, prints
 * @second_signal_text and ends the program by the signal's default action.
 *
 * Call it before other threads start: they must have these signals blocked, or
 * handle them themselves.
 *
 * Return: 0, or a negative errno.
 */
int interrupt_start(struct interrupt *interrupt,
		    const char *second_signal_text);

/*
 * Like interrupt_start(), beside a command that the user started: signals from
 * the keyboard, such as Ctrl-C, are for the command, which receives them from
 * the terminal.
 */
int interrupt_start_beside(struct interrupt *interrupt,
			   const char *second_signal_text);

/*
 * Block the signals, so that one that arrives is pending for interrupt_start().
 * @before: receives the signal mask for a child, which must not block them.
 */
void interrupt_hold(sigset_t *before);

/*
 * Let a signal wake @client, too; NULL: no client, and the previous one may be
 * closed.
 */
void interrupt_wakes(struct interrupt *interrupt, struct ibsa_client *client);

/* Let a signal call a function, from another thread. */
void interrupt_calls(struct interrupt *interrupt, void (*wake)(void *arg),
		     void *arg);

/* Whether a signal arrived. */
bool interrupt_seen(const struct interrupt *interrupt);

/* Stop waking the client. Signals stay pending until the program ends. */
void interrupt_stop(struct interrupt *interrupt);

#endif
