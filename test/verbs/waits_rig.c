/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts, threads that wait, and cancelled calls of the program verbs-waits.
 */
#include "test/verbs/waits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct waits_rig rig;
volatile sig_atomic_t is_child;

void must(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("%s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

#ifdef OWN_CONTEXT
struct ibv_context *context_open(void)
{
	const struct ibsa_options options = { .fabric = rig.where };
	struct ibv_context *context = NULL;

	must(!ibsa_verbs_open(&options, NULL, &context), "ibsa_verbs_open");
	return context;
}
#else
struct ibv_context *context_open(void)
{
	struct ibv_context *context = NULL;

	for (size_t i = 0; rig.devices[i]; i++) {
		if (!strcmp(ibv_get_device_name(rig.devices[i]), rig.where))
			context = ibv_open_device(rig.devices[i]);
	}
	must(context, "ibv_open_device");
	if (rig.attach)
		must(!rig.attach(context, NULL, 0), "ibsa_verbs_attach");
	return context;
}
#endif

void nonblock(struct ibv_context *context)
{
	const int flags = fcntl(context->async_fd, F_GETFL);

	must(!fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK), "fcntl");
}

int descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	must(folder, "/proc/self/fd");
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

void *wait_for_one(void *arg)
{
	struct waiter *waiter = arg;
	struct ibv_async_event event;

	pthread_setcanceltype(waiter->type, NULL);
	atomic_store(&waiter->id, gettid());
	waiter->result = ibv_get_async_event(waiter->context, &event);
	waiter->error = errno;
	if (is_child)
		_exit(waiter->result == -1 && waiter->error == EINTR ? 0 : 1);
	atomic_store(&waiter->has_ended, true);
	return NULL;
}

void waiter_start(struct waiter *waiter, struct ibv_context *context)
{
	waiter->context = context;
	must(!pthread_create(&waiter->thread, NULL, wait_for_one, waiter),
	     "pthread_create");
}

/* The state of a thread in /proc. */
static char thread_state(pid_t thread)
{
	char path[64];
	char text[256] = "";
	const char *name_end;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 'X';
	must(read(fd, text, sizeof(text) - 1) > 0, path);
	close(fd);
	name_end = strrchr(text, ')');
	return name_end ? name_end[2] : 'X';
}

void waiter_await_sleep(const struct waiter *waiter)
{
	int seen = 0;

	while (seen < 5) {
		const pid_t thread = atomic_load(&waiter->id);

		seen = thread && thread_state(thread) == 'S' ? seen + 1 : 0;
		sched_yield();
	}
}

/* Whether it ended by cancellation. */
bool waiter_join(const struct waiter *waiter)
{
	void *result = NULL;

	must(!pthread_join(waiter->thread, &result), "pthread_join");
	return result == PTHREAD_CANCELED;
}

void *call_canceled(void *arg)
{
	const struct pending *pending = arg;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pending->call(pending->context);
	return NULL;
}

void pending_try(const char *name, void (*call)(struct ibv_context *context),
		 bool closes)
{
	const int before = descriptors();
	struct pending pending = { context_open(), call };
	pthread_t thread;
	void *result;

	must(!pthread_create(&thread, NULL, call_canceled, &pending),
	     "pthread_create");
	must(!pthread_join(thread, &result), "pthread_join");
	if (closes)
		(void)!ibv_close_device(pending.context);
	printf("%s: %s, descriptors %+d; ", name,
	       result == PTHREAD_CANCELED ? "canceled" : "not canceled",
	       descriptors() - before);
}

void call_get(struct ibv_context *context)
{
	struct ibv_async_event event;

	(void)!ibv_get_async_event(context, &event);
}

int child_status(pid_t child)
{
	int status = -1;

	must(waitpid(child, &status, 0) == child, "waitpid");
	return status;
}
