/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A thread of the program verbs-random, and the calls that it makes. */
#ifndef VERBS_RANDOM_H
#define VERBS_RANDOM_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ibsa/verbs.h>

/*
 * @shared: a context that all threads use; closed after they have ended.
 * @own: a context of this thread; a signal handler may close it during a wait.
 */
struct worker {
	pthread_t thread;
	atomic_bool is_over;
	uint64_t random;
	struct ibv_context *shared;
	struct ibv_context *volatile own;
	volatile sig_atomic_t is_waiting;
	struct ibsa_verbs_async_fd *held;
};

/* If the condition is false, print @what and end the process. */
void must(bool is_right, const char *what);

bool is_device(void);
struct ibv_context *context_open(void);

/*
 * Close @context without being cancelled: with ibv_close_device() of
 * libibsa-verbs-preload.so for a context of libibverbs, or else with
 * ibsa_close_device().
 */
int close_any(struct ibv_context *context);

/* Make one call of the verbs functions, chosen by a random number. */
void worker_call(struct worker *worker, unsigned int number);

/* Do what worker_call() does, but make only calls that do not wait. */
void worker_call_at_once(struct worker *worker, unsigned int number);

#endif
