/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a wait for an event does when its thread is canceled or interrupted,
 * or when its context is closed or its process forks. Prints what libibverbs'
 * names do, so that runs with and without a library in front of libibverbs can
 * be compared.
 *
 * usage: verbs-waits DEVICE [attach]
 *        verbs-waits-own FABRIC    (a context of ibsa_verbs_open())
 *
 * With "attach", each context of a device is attached by ibsa_verbs_attach()
 * of the library in front.
 */
#include "test/verbs/waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The time after which a case hangs, also in a guest on a loaded machine. */
enum { CASE_S = 240 };

static void cancel_rounds(int type, bool sleeps)
{
	int canceled = 0;
	int closed = 0;
	int before = 0;

	for (int i = -1; i < ROUNDS; i++) {
		struct waiter waiter = { .type = type };
		struct ibv_context *context = context_open();

		if (!i) {
			before = descriptors();
			canceled = closed = 0;
		}
		waiter_start(&waiter, context);
		if (sleeps)
			waiter_await_sleep(&waiter);
		must(!pthread_cancel(waiter.thread), "pthread_cancel");
		canceled += waiter_join(&waiter);
		closed += !ibv_close_device(context);
	}
	must(context_open(), "open");
	printf("canceled %d, closed %d, descriptors %+d\n", canceled, closed,
	       descriptors() - before);
}

static void cancel_in_a_wait(void)
{
	cancel_rounds(PTHREAD_CANCEL_DEFERRED, true);
}

static void cancel_at_any_time(void)
{
	cancel_rounds(PTHREAD_CANCEL_DEFERRED, false);
}

static void cancel_of_asynchronous_type(void)
{
	cancel_rounds(PTHREAD_CANCEL_ASYNCHRONOUS, true);
}

static void call_get_at_once(struct ibv_context *context)
{
	nonblock(context);
	call_get(context);
}

static void call_ack(struct ibv_context *context)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ERR };

	(void)context;
	ibv_ack_async_event(&event);
}

static void call_name(struct ibv_context *context)
{
	(void)context;
	(void)!ibv_event_type_str(IBV_EVENT_PORT_ERR);
}

static void cancel_that_is_pending(void)
{
	pending_try("get", call_get, true);
	pending_try("get at once", call_get_at_once, true);
	pending_try("ack", call_ack, true);
	pending_try("name", call_name, true);
	printf("\n");
}

/* For the handler, which has no argument. */
static struct ibv_context *to_close;
/* Written in a handler of another thread. */
static atomic_int handled;
static atomic_int close_failed;

static void handler_count(int signal_number)
{
	(void)signal_number;
	handled++;
}

static void handler_close(int signal_number)
{
	(void)signal_number;
	close_failed = ibv_close_device(to_close);
	handled++;
}

static void handler_set(int signal_number, void (*handler)(int), int flags)
{
	const struct sigaction action = { .sa_handler = handler,
					  .sa_flags = flags };

	must(!sigaction(signal_number, &action, NULL), "sigaction");
}

/* Print the result of a wait after a signal. */
static void outcome_print(const char *name, const struct waiter *waiter)
{
	if (!atomic_load(&waiter->has_ended))
		printf("%s: waits; ", name);
	else if (waiter->result)
		printf("%s: %s; ", name, strerror(waiter->error));
	else
		printf("%s: an event; ", name);
}

/*
 * Run a handler in a thread that waits, and see whether the wait ends. @name:
 * what to print, or NULL.
 */
static void interrupt(const char *name, void (*handler)(int), int flags)
{
	struct waiter waiter = { 0 };
	struct ibv_context *context = context_open();

	to_close = context;
	handled = 0;
	handler_set(SIGUSR1, handler, flags);
	waiter_start(&waiter, context);
	waiter_await_sleep(&waiter);
	must(!pthread_kill(waiter.thread, SIGUSR1), "pthread_kill");
	while (!handled)
		sched_yield();
	for (int i = 0; i < 1000 && !atomic_load(&waiter.has_ended); i++) {
		const struct timespec moment = { .tv_nsec = 200000 };

		nanosleep(&moment, NULL);
	}
	if (name)
		outcome_print(name, &waiter);
	if (!atomic_load(&waiter.has_ended))
		pthread_cancel(waiter.thread);
	waiter_join(&waiter);
	if (handler != handler_close)
		must(!ibv_close_device(context), "ibv_close_device");
	signal(SIGUSR1, SIG_DFL);
}

static void signal_in_a_wait(void)
{
	interrupt("plain", handler_count, 0);
	interrupt("restart", handler_count, SA_RESTART);
	interrupt("plain, once", handler_count, SA_RESETHAND);
	interrupt("restart, once", handler_count, SA_RESETHAND | SA_RESTART);
	printf("\n");
}

static void close_in_a_handler(void)
{
	int failed = 0;

	interrupt("plain", handler_close, 0);
	interrupt("restart", handler_close, SA_RESTART);
	printf("\n");
	for (int i = 0; i < FEW; i++) {
		interrupt(NULL, handler_close, SA_RESTART);
		failed += close_failed;
	}
	must(!failed, "ibv_close_device in a handler");
}

/* Forked children close the context while a thread of the parent waits. */
static void child_closes(void)
{
	struct waiter waiter = { 0 };
	struct ibv_context *context = context_open();
	int good = 0;

	waiter_start(&waiter, context);
	for (int i = 0; i < ROUNDS; i++) {
		const pid_t child = fork();

#ifdef OWN_CONTEXT
		/* A child does not have its parent's contexts. */
		if (!child)
			_exit(ibv_close_device(context) == -1 && errno == EINVAL
				      ? 0
				      : 1);
#else
		if (!child)
			_exit(ibv_close_device(context));
#endif
		good += !child_status(child);
	}
	pthread_cancel(waiter.thread);
	printf("good %d, %s\n", good,
	       waiter_join(&waiter) ? "canceled" : "not canceled");
	must(!ibv_close_device(context), "ibv_close_device");
}

/* Each child opens, uses and closes another context. */
static void child_waits_and_is_canceled(void)
{
	struct waiter beside = { 0 };
	struct ibv_context *context = context_open();
	int good = 0;

	waiter_start(&beside, context);
	for (int i = 0; i < ROUNDS; i++) {
		const pid_t child = fork();

		if (!child) {
			struct waiter waiter = { 0 };
			struct ibv_context *own = context_open();

			waiter_start(&waiter, own);
			pthread_cancel(waiter.thread);
			_exit(!waiter_join(&waiter) || ibv_close_device(own));
		}
		good += !child_status(child);
	}
	pthread_cancel(beside.thread);
	waiter_join(&beside);
	must(!ibv_close_device(context), "ibv_close_device");
	printf("good %d\n", good);
}

/* A signal handler that forks; it runs in a thread that waits. */
static void handler_fork(int signal_number)
{
	const pid_t child = fork();

	(void)signal_number;
	is_child = !child;
	if (child)
		close_failed = child_status(child);
	handled++;
}

static void fork_in_a_handler(void)
{
	int failed = 0;

	for (int i = 0; i < FEW; i++) {
		interrupt(i ? NULL : "plain", handler_fork, 0);
		failed += close_failed != 0;
	}
	printf("failed %d\n", failed);
}

static const struct waits_case cases[] = {
	{ "cancel in a wait", cancel_in_a_wait },
	{ "cancel at any time", cancel_at_any_time },
	{ "cancel of asynchronous type", cancel_of_asynchronous_type },
	{ "cancel that is pending", cancel_that_is_pending },
	{ "signal in a wait", signal_in_a_wait },
	{ "close in a handler", close_in_a_handler },
	{ "child closes", child_closes },
	{ "child waits and is canceled", child_waits_and_is_canceled },
	{ "fork in a handler", fork_in_a_handler },
	{ NULL, NULL },
};

/* Each case runs in a process of its own, which is ended if it hangs. */
static int case_run(const struct waits_case *one)
{
	const pid_t child = fork();
	int status;

	if (!child) {
		alarm(CASE_S);
		one->run();
		fflush(stdout);
		_exit(0);
	}
	status = child_status(child);
	if (WIFSIGNALED(status))
		printf("%s\n", strsignal(WTERMSIG(status)));
	else if (status)
		printf("exit %d\n", WEXITSTATUS(status));
	return status;
}

static int cases_run(const struct waits_case *all)
{
	int failed = 0;

	for (; all->name; all++) {
		printf("%s: ", all->name);
		fflush(stdout);
		failed |= case_run(all);
	}
	return failed;
}

int main(int argc, char **argv)
{
	int failed;

	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	rig.where = argv[1];
#ifndef OWN_CONTEXT
	if (argc > 2)
		*(void **)&rig.attach = dlsym(RTLD_DEFAULT,
					      "ibsa_verbs_attach_sized");
	must(argc < 3 || rig.attach, "ibsa_verbs_attach");
	rig.devices = ibv_get_device_list(NULL);
	must(rig.devices, "ibv_get_device_list");
#endif
	failed = cases_run(cases);
#ifndef OWN_CONTEXT
	failed |= cases_run(device_cases);
#endif
	return failed ? 1 : 0;
}
