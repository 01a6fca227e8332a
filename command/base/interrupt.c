/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handles signals that end a command, for commands that must clean up first. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/complain.h"
#include "base/interrupt.h"

/*
 * A signal that follows the first within this many ms does not count as a
 * second one: timeout(1) signals the program and then its process group.
 */
enum { TWICE_MS = 500 };

/*
 * Return: the signal that ends the waiting thread. pthread_cancel() is not
 * used: it would load libgcc_s, and abort the program if that fails, for
 * example without free descriptors.
 */
static int stop_signal(void)
{
	return SIGRTMIN;
}

/* End the process by the default action of the signal. */
static void process_end_by(int number)
{
	sigset_t one;

	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void wake_up(struct interrupt *interrupt)
{
	pthread_mutex_lock(&interrupt->lock);
	if (interrupt->wake)
		interrupt->wake(interrupt->arg);
	pthread_mutex_unlock(&interrupt->lock);
}

/* Pause between two tries of a call that may fail several times. */
static void retry_pause(void)
{
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

	nanosleep(&pause, NULL);
}

/* Wait for the next of the signals that end the command. Return: its number. */
static int signal_next(const struct interrupt *interrupt, siginfo_t *info)
{
	int number;

	while ((number = sigwaitinfo(&interrupt->signals, info)) < 0) {
		if (errno != EINTR)
			retry_pause();
	}
	return number;
}

/*
 * Thread: wait for the signals. A signal handler is not enough: a signal that
 * arrives just before a wait must end that wait; the thread can do this with
 * ibsa_wake(), a handler cannot.
 */
static void *signals_wait(void *arg)
{
	struct interrupt *interrupt = arg;
	int64_t first_ms = 0;
	siginfo_t info;

	for (;;) {
		const int number = signal_next(interrupt, &info);

		if (atomic_load(&interrupt->is_over))
			return NULL;
		if (number == stop_signal() ||
		    (interrupt->is_beside && info.si_code == SI_KERNEL))
			continue;
		if (!atomic_load(&interrupt->seen)) {
			atomic_store(&interrupt->number, number);
			atomic_store(&interrupt->seen, true);
			first_ms = now_ms();
			wake_up(interrupt);
		} else if (now_ms() - first_ms >= TWICE_MS) {
			complain("%s", interrupt->second_signal_text);
			process_end_by(number);
		}
	}
}

/*
 * Add a signal to the set, unless it is ignored: an ignored signal that is
 * blocked would become pending instead.
 */
static void add_signal(sigset_t *set, int number)
{
	struct sigaction old;

	if (sigaction(number, NULL, &old) != 0 || old.sa_handler != SIG_IGN)
		sigaddset(set, number);
}

static void all_signals(sigset_t *set)
{
	sigemptyset(set);
	add_signal(set, SIGINT);
	add_signal(set, SIGTERM);
	add_signal(set, SIGHUP);
}

void interrupt_hold(sigset_t *before)
{
	sigset_t set;

	all_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

static int interrupt_begin(struct interrupt *interrupt,
			   const char *second_signal_text, bool is_beside)
{
	int err;

	pthread_mutex_init(&interrupt->lock, NULL);
	interrupt->wake = NULL;
	interrupt->second_signal_text = second_signal_text;
	interrupt->is_beside = is_beside;
	atomic_init(&interrupt->seen, false);
	atomic_init(&interrupt->number, 0);
	atomic_init(&interrupt->is_over, false);
	all_signals(&interrupt->signals);
	sigaddset(&interrupt->signals, stop_signal());
	err = pthread_sigmask(SIG_BLOCK, &interrupt->signals, NULL);
	if (!err)
		err = pthread_create(&interrupt->thread, NULL, signals_wait,
				     interrupt);
	return err ? fail_device("cannot create the signal thread: %s",
				 strerror(err))
		   : CLI_DONE;
}

int interrupt_start(struct interrupt *interrupt, const char *second_signal_text)
{
	return interrupt_begin(interrupt, second_signal_text, false);
}

int interrupt_start_beside(struct interrupt *interrupt,
			   const char *second_signal_text)
{
	return interrupt_begin(interrupt, second_signal_text, true);
}

void interrupt_calls(struct interrupt *interrupt, void (*wake)(void *arg),
		     void *arg)
{
	pthread_mutex_lock(&interrupt->lock);
	interrupt->wake = wake;
	interrupt->arg = arg;
	pthread_mutex_unlock(&interrupt->lock);
}

static void wake_client(void *arg)
{
	ibsa_wake(arg);
}

void interrupt_wakes(struct interrupt *interrupt, struct ibsa_client *client)
{
	interrupt_calls(interrupt, client ? wake_client : NULL, client);
}

bool interrupt_seen(const struct interrupt *interrupt)
{
	return atomic_load(&interrupt->seen);
}

void interrupt_stop(struct interrupt *interrupt)
{
	atomic_store(&interrupt->is_over, true);
	/* The call fails while the queue of signals is full. */
	while (pthread_kill(interrupt->thread, stop_signal()) != 0)
		retry_pause();
	pthread_join(interrupt->thread, NULL);
}
