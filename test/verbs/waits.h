/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the cases of the program verbs-waits share. */
#ifndef VERBS_WAITS_H
#define VERBS_WAITS_H

#ifdef OWN_CONTEXT
#define IBSA_VERBS_NAMES
#include <ibsa/verbs.h>
#else
#include <infiniband/verbs.h>
#endif

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Fewer in a guest, where a round takes a hundred times as long. */
#ifndef WAITS_ROUNDS
#define WAITS_ROUNDS 100
#endif

enum { ROUNDS = WAITS_ROUNDS, FEW = 20 };

/* @where: name of the device, or of the fabric. */
struct waits_rig {
	const char *where;
	struct ibv_device **devices;
	int (*attach)(struct ibv_context *context, const void *options,
		      size_t size);
};

extern struct waits_rig rig;

/* Set in a process that was forked in a signal handler. */
extern volatile sig_atomic_t is_child;

struct waits_case {
	const char *name;
	void (*run)(void);
};

/* Test cases that need a device; the last element has no name. */
extern const struct waits_case device_cases[];

/* A thread that reads one event, and the result. */
struct waiter {
	struct ibv_context *context;
	pthread_t thread;
	atomic_int id;
	int type; /* of cancellation */
	atomic_bool has_ended;
	int result;
	int error;
};

/* A call in a thread whose cancellation is pending. */
struct pending {
	struct ibv_context *context;
	void (*call)(struct ibv_context *context);
};

/* If the condition is false, end the process. */
void must(bool is_right, const char *what);

struct ibv_context *context_open(void);

/* Set O_NONBLOCK of the context's async fd. */
void nonblock(struct ibv_context *context);

/* Number of descriptors that the process has. */
int descriptors(void);

/* Start function of a waiter's thread. */
void *wait_for_one(void *arg);

void waiter_start(struct waiter *waiter, struct ibv_context *context);

/* Wait until the waiter's thread sleeps. */
void waiter_await_sleep(const struct waiter *waiter);

/* Wait for the end of the waiter's thread. Return: whether it was cancelled. */
bool waiter_join(const struct waiter *waiter);

/* Start function of the thread of a struct pending. */
void *call_canceled(void *arg);

/*
 * Make a call while a cancellation is pending, and print the result. @closes:
 * the context has to be closed after it.
 */
void pending_try(const char *name, void (*call)(struct ibv_context *context),
		 bool closes);

/* Read an event. */
void call_get(struct ibv_context *context);

/* The status of a child that ends, as waitpid(2) returns it. */
int child_status(pid_t child);

#endif
