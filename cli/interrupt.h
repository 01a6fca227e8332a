/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals to end, for a command that has something to put away first. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include <ibsa/ibsa.h>

struct interrupt {
	pthread_mutex_t lock;
	void (*wake)(void *arg); /* NULL: nobody is woken; locked */
	void *arg;
	const char *second_signal_text;
	sigset_t signals;
	pthread_t thread;
	bool is_beside; /* somebody who gets the terminal's signals, too */
	atomic_bool seen;
	atomic_bool is_over; /* the thread is to end */
	atomic_int number;   /* of the first that was seen */
};

/*
 * From now on, SIGINT, SIGTERM and SIGHUP are seen, unless the program was
 * started with them ignored. A second one, half a second later or more, says
 * @second_signal_text and ends the program at once, as the first would have done. Any
 * other thread has to have them blocked, or may take them as ever.
 *
 * Return: 0, or a negative errno.
 */
int interrupt_start(struct interrupt *interrupt,
		    const char *second_signal_text);

/*
 * The same beside a command that was started for the user: what is typed,
 * Ctrl-C above all, is the command's, which gets it from the terminal as we do.
 */
int interrupt_start_beside(struct interrupt *interrupt,
			   const char *second_signal_text);

/*
 * One that comes from now on is kept for interrupt_start(). @before: the mask
 * that a child gets, which is to take them as ever.
 */
void interrupt_hold(sigset_t *before);

/* From now on, they wake @client too; NULL: none, and the one before may be
 * closed. */
void interrupt_wakes(struct interrupt *interrupt, struct ibsa_client *client);

/* The same of whatever @wake, called in another thread, ends the wait of. */
void interrupt_calls(struct interrupt *interrupt, void (*wake)(void *arg),
		     void *arg);

/* Whether one came. */
bool interrupt_seen(const struct interrupt *interrupt);

/* The client is not woken any more; signals wait until the program ends. */
void interrupt_stop(struct interrupt *interrupt);

#endif
