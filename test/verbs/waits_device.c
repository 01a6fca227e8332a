/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cases of the program verbs-waits that need a device of libibverbs. */
#include "test/verbs/waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * When a context of ibsa_verbs_open() is closed, the waits of other threads
 * end, unlike those with libibverbs.
 */
static void close_while_another_waits(void)
{
	struct waiter waiter = { 0 };
	struct ibv_context *context = context_open();

	waiter_start(&waiter, context);
	waiter_await_sleep(&waiter);
	printf("close: %d, ", ibv_close_device(context));
	for (int i = 0; i < 1000 && !atomic_load(&waiter.has_ended); i++) {
		const struct timespec moment = { .tv_nsec = 200000 };

		nanosleep(&moment, NULL);
	}
	if (atomic_load(&waiter.has_ended)) {
		printf("%s\n", strerror(waiter.error));
		return;
	}
	pthread_cancel(waiter.thread);
	printf("waits, %s\n", waiter_join(&waiter) ? "canceled" : "ended");
}

static void close_with_a_cancel_pending_call(struct ibv_context *context)
{
	(void)!ibv_close_device(context);
}

static void close_with_a_cancel_pending(void)
{
	pending_try("close", close_with_a_cancel_pending_call, false);
	printf("\n");
}

static void create_with_a_cancel_pending_call(struct ibv_context *context)
{
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);

	must(cq && !ibv_destroy_cq(cq), "ibv_create_cq");
}

static void create_with_a_cancel_pending(void)
{
	pending_try("create", create_with_a_cancel_pending_call, true);
	printf("\n");
}

static void event_make(void)
{
	must(!system("ip addr add 10.90.0.1/24 dev eth0 && "
		     "ip addr del 10.90.0.1/24 dev eth0"),
	     "ip");
}

/* A thread that has disabled cancellation still receives events. */
static void *wait_with_cancel_off(void *arg)
{
	struct waiter *waiter = arg;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	wait_for_one(arg);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
	waiter->result = 1;
	return NULL;
}

static void cancel_that_is_held_off(void)
{
	struct waiter waiter = { .context = context_open() };

	must(!pthread_create(&waiter.thread, NULL, wait_with_cancel_off,
			     &waiter),
	     "pthread_create");
	waiter_await_sleep(&waiter);
	pthread_cancel(waiter.thread);
	event_make();
	printf("%s, result %d\n",
	       waiter_join(&waiter) ? "canceled" : "not canceled",
	       waiter.result);
	must(!ibv_close_device(waiter.context), "ibv_close_device");
}

/* A pending cancellation acts first even if an event is queued. */
static void cancel_beside_an_event(void)
{
	struct pending pending = { context_open(), call_get };
	struct ibv_async_event event;
	pthread_t thread;
	void *result;

	event_make();
	must(!pthread_create(&thread, NULL, call_canceled, &pending),
	     "pthread_create");
	must(!pthread_join(thread, &result), "pthread_join");
	printf("%s, ",
	       result == PTHREAD_CANCELED ? "canceled" : "not canceled");
	printf("%s\n", ibv_get_async_event(pending.context, &event)
			       ? strerror(errno)
			       : ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	must(!ibv_close_device(pending.context), "ibv_close_device");
}

/* The context is closed by libibverbs itself, not by the library in front. */
static void close_past_the_library_in_front(void)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	__typeof__(ibv_close_device) *close_past;
	struct ibv_async_event event;
	int before = 0;
	int quiet = 0;
	int queues = 0;

	must(library, "dlopen");
	*(void **)&close_past = dlvsym(library, "ibv_close_device",
				       "IBVERBS_1.1");
	must(close_past, "dlsym");
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_context *context = context_open();
		struct ibv_cq *cq;

		nonblock(context);
		errno = 0;
		quiet += ibv_get_async_event(context, &event) == -1 &&
			 errno == EAGAIN;
		cq = ibv_create_cq(context, 4, NULL, NULL, 0);
		queues += cq && !ibv_destroy_cq(cq);
		must(!close_past(context), "ibv_close_device");
	}
	before = descriptors();
	for (int i = 0; i < ROUNDS; i++)
		must(!close_past(context_open()), "ibv_close_device");
	printf("quiet %d, queues %d, descriptors %+d\n", quiet, queues,
	       descriptors() - before);
}

/* A file of the program that gets the number of a closed context stays open. */
static void number_of_a_closed_context_is_the_program_s(void)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	__typeof__(ibv_close_device) *close_past;
	struct ibv_context *context = context_open();
	const int number = context->async_fd;
	char text[3] = "";
	int ends[2];

	must(library, "dlopen");
	*(void **)&close_past = dlvsym(library, "ibv_close_device",
				       "IBVERBS_1.1");
	must(!close_past(context), "ibv_close_device");
	must(!pipe(ends), "pipe");
	ends[1] = fcntl(ends[1], F_DUPFD, 100);
	must(dup2(ends[0], number) == number, "dup2");
	must(!ibv_close_device(context_open()), "ibv_close_device");
	must(write(ends[1], "ok", 2) == 2, "write");
	must(read(number, text, 2) == 2, "read");
	printf("%s\n", text);
}

/*
 * One thread sets and clears O_NONBLOCK while another reads events. The reading
 * must not change the flag.
 */
static atomic_bool is_over;

static void *read_all(void *arg)
{
	struct ibv_async_event event;

	while (!atomic_load(&is_over)) {
		if (!ibv_get_async_event(arg, &event))
			ibv_ack_async_event(&event);
	}
	return NULL;
}

static void *change_gids(void *arg)
{
	(void)arg;
	for (int i = 0; i < FEW; i++)
		event_make();
	atomic_store(&is_over, true);
	return NULL;
}

static void flag_set_beside_a_reader(void)
{
	struct ibv_context *context = context_open();
	/* The member may have another value while an event is read. */
	const int number = context->async_fd;
	const int clear = fcntl(number, F_GETFL);
	pthread_t threads[2];
	int changed = 0;

	pthread_create(&threads[0], NULL, read_all, context);
	pthread_create(&threads[1], NULL, change_gids, NULL);
	for (unsigned int i = 0; !atomic_load(&is_over); i++) {
		const int flags = clear | (i % 2 ? O_NONBLOCK : 0);

		must(!fcntl(number, F_SETFL, flags), "F_SETFL");
		for (int j = 0; j < 50; j++)
			changed += fcntl(number, F_GETFL) != flags;
	}
	must(!fcntl(number, F_SETFL, clear | O_NONBLOCK), "F_SETFL");
	event_make();
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("changed %d\n", changed);
	must(!ibv_close_device(context), "ibv_close_device");
}

/* Detach and attach the context, while the test creates queues. */
static void *attach_again_and_again(void *arg)
{
	struct ibv_context *context = arg;
	int (*detach)(struct ibv_context * context);

	*(void **)&detach = dlsym(RTLD_DEFAULT, "ibsa_verbs_detach");
	while (!atomic_load(&is_over)) {
		if (rig.attach && detach) {
			must(!detach(context), "ibsa_verbs_detach");
			must(!rig.attach(context, NULL, 0),
			     "ibsa_verbs_attach");
		}
		sched_yield();
	}
	return NULL;
}

static void queue_beside_an_attach(void)
{
	struct ibv_context *context = context_open();
	pthread_t thread;
	int created = 0;

	pthread_create(&thread, NULL, attach_again_and_again, context);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);

		created += cq && !ibv_destroy_cq(cq);
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	must(!ibv_close_device(context), "ibv_close_device");
	printf("created %d\n", created);
}

const struct waits_case device_cases[] = {
	{ "close while another waits", close_while_another_waits },
	{ "close with a cancel pending", close_with_a_cancel_pending },
	{ "create with a cancel pending", create_with_a_cancel_pending },
	{ "cancel that is held off", cancel_that_is_held_off },
	{ "cancel beside an event", cancel_beside_an_event },
	{ "close past the library in front", close_past_the_library_in_front },
	{ "number of a closed context",
	  number_of_a_closed_context_is_the_program_s },
	{ "flag set beside a reader", flag_set_beside_a_reader },
	{ "queue beside an attach", queue_beside_an_attach },
	{ NULL, NULL },
};
