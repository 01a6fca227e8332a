/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The dispatcher of a device: the device's worker thread, or a program's
 * thread that calls the dispatch function. The dispatcher waits for all ports
 * at once, runs jobs that other threads submit, and calls all callbacks.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/interrupt.h"
#include "ib_sa/state.h"

int ibsa__sa_loop_init(struct ib_device *device)
{
	device->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	device->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (device->epoll_fd < 0 || device->wake_fd < 0 ||
	    fd_watch(device->epoll_fd, device->wake_fd))
		return -errno;
	device->is_pollable = true;
	return 0;
}

void ibsa__sa_loop_done(struct ib_device *device)
{
	fd_close(&device->epoll_fd);
	fd_close(&device->wake_fd);
}

/*
 * Wake the thread that dispatches the device; and a program that polls the
 * device's file descriptor. @lock is held.
 */
static void device_wake(struct ib_device *device)
{
	if (device->waiting_on)
		ibsa_wake(device->waiting_on);
	if (device->waiting_on && !device->options.no_thread)
		return;
	fd_wake(device->wake_fd);
}

void ibsa__sa_submit(struct ib_device *device, struct sa_job *job)
{
	if (!list_is_empty(&job->link))
		return;
	list_append(&device->jobs, &job->link);
	if (!device->job_count++ &&
	    (device->is_waiting || device->options.no_thread))
		device_wake(device);
}

void ibsa__sa_withdraw(struct ib_device *device, struct sa_job *job)
{
	if (list_is_empty(&job->link))
		return;
	list_remove(&job->link);
	device->job_count--;
}

static struct sa_job *job_take(struct ib_device *device)
{
	struct sa_job *job = NULL;

	pthread_mutex_lock(&device->sa->lock);
	if (!list_is_empty(&device->jobs)) {
		job = list_object(device->jobs.next, struct sa_job, link);
		list_remove(&job->link);
		device->job_count--;
	}
	pthread_mutex_unlock(&device->sa->lock);
	return job;
}

/*
 * Run the @count jobs that were queued at the start, and no later ones: if
 * queries cannot be sent, their callbacks may start new queries without end.
 */
static void jobs_run(struct ib_device *device, unsigned int count)
{
	while (count--) {
		struct sa_job *job = job_take(device);

		if (!job)
			return;
		job->run(job);
	}
}

/*
 * Become the dispatcher of the device. @lock is held. Return: false: another
 * thread dispatches it.
 */
static bool dispatch_take(struct ib_device *device)
{
	if (device->is_dispatching)
		return false;
	device->is_dispatching = true;
	return true;
}

bool ibsa__sa_loop_is_idle(const struct ib_device *device)
{
	return device->options.no_thread && !device->closing &&
	       !device->is_dispatching;
}

bool ibsa__sa_loop_take_idle(struct ib_device *device)
{
	if (!ibsa__sa_loop_is_idle(device))
		return false;
	device->is_missed = true;
	return dispatch_take(device);
}

/* Whether the device is being closed. */
static bool device_is_closing(struct ib_device *device)
{
	bool closing;

	pthread_mutex_lock(&device->sa->lock);
	closing = device->closing;
	pthread_mutex_unlock(&device->sa->lock);
	return closing;
}

/*
 * Whether a program's thread dispatches the device. False in a
 * forked child for a device of its parent.
 */
static bool is_dispatched_by_program(const struct ib_device *device)
{
	return device->options.no_thread && ibsa__sa_is_ours(device->sa);
}

/*
 * Become the dispatcher of the device, in a program's thread. Return: 0; -EBUSY
 * another thread dispatches it; -EINVAL programs' threads do not.
 */
static int dispatch_begin(struct ib_device *device)
{
	bool taken;

	if (!is_dispatched_by_program(device))
		return -EINVAL;
	pthread_mutex_lock(&device->sa->lock);
	taken = dispatch_take(device);
	pthread_mutex_unlock(&device->sa->lock);
	return taken ? 0 : -EBUSY;
}

/* The current number of jobs and ports. */
struct work {
	unsigned int jobs;
	unsigned int ports;
};

static struct work work_count(struct ib_device *device)
{
	struct work work;

	pthread_mutex_lock(&device->sa->lock);
	work.jobs = device->job_count;
	work.ports = device->port_count;
	pthread_mutex_unlock(&device->sa->lock);
	return work;
}

/* Dispatch all ports. Return: the first error. */
static int ports_dispatch(struct ib_device *device, unsigned int count)
{
	int first = 0;

	for (unsigned int i = 0; i < count; i++) {
		int err = ibsa_dispatch(device->ports[i]->client);

		if (!first)
			first = err;
	}
	return first;
}

static int device_dispatch(struct ib_device *device)
{
	const struct work work = work_count(device);

	(void)fd_wake_reset(device->wake_fd);
	jobs_run(device, work.jobs);
	return ports_dispatch(device, work.ports);
}

/*
 * Close the ports of a device, which ends all requests in flight. The device
 * is closing, so callbacks cannot start new requests, and no other thread
 * dispatches it.
 */
static void ports_close(struct ib_device *device)
{
	const struct work work = work_count(device);

	jobs_run(device, work.jobs);
	for (unsigned int i = 0; i < work.ports; i++) {
		struct sa_port *port = device->ports[i];

		ibsa__mc_groups_leave(port);
		ibsa_close(port->client);
		port->client = NULL;
		ibsa__mc_groups_done(port);
	}
	jobs_run(device, work_count(device).jobs);
}

/*
 * Stop being the dispatcher, and wake programs that poll the device, since its
 * deadlines may have changed. If a callback has put a device without a worker,
 * the device is closed and freed here.
 */
static void dispatch_end(struct ib_device *device)
{
	bool is_last;

	pthread_mutex_lock(&device->sa->lock);
	is_last = device->frees_itself && !device->has_worker;
	device->is_dispatching = is_last;
	if (device->is_missed)
		device_wake(device);
	device->is_missed = false;
	pthread_cond_broadcast(&device->sa->ended);
	pthread_mutex_unlock(&device->sa->lock);
	if (!is_last)
		return;
	ports_close(device);
	ibsa__sa_device_free(device);
}

static int device_timeout_ms(struct ib_device *device)
{
	const struct work work = work_count(device);
	int soonest = work.jobs ? 0 : -1;

	for (unsigned int i = 0; i < work.ports; i++)
		soonest = sooner_ms(soonest,
				    ibsa_timeout_ms(device->ports[i]->client));
	return soonest;
}

/*
 * Prepare to wait: from now on ibsa__sa_submit() wakes this thread. Return:
 * false if there is work to do. If the device has only one port, *@out_lone is
 * its client, which waits in its own transport, because the transport may have
 * its own clock.
 */
static bool wait_begin(struct ib_device *device, struct ibsa_client **out_lone)
{
	bool idle;

	pthread_mutex_lock(&device->sa->lock);
	idle = !device->job_count && !device->closing;
	*out_lone = device->port_count == 1 ? device->ports[0]->client : NULL;
	device->is_waiting = idle;
	device->waiting_on = idle ? *out_lone : NULL;
	pthread_mutex_unlock(&device->sa->lock);
	return idle;
}

static void wait_end(struct ib_device *device)
{
	pthread_mutex_lock(&device->sa->lock);
	device->is_waiting = false;
	device->waiting_on = NULL;
	pthread_mutex_unlock(&device->sa->lock);
}

static int wait_all(struct ib_device *device, int at_most_ms)
{
	struct pollfd fd = { .fd = device->epoll_fd, .events = POLLIN };

	at_most_ms = sooner_ms(at_most_ms, device_timeout_ms(device));
	return poll(&fd, 1, at_most_ms) < 0 ? -errno : 0;
}

/*
 * Wait for events of the device and handle them. If a query ended before its
 * request was sent, do not wait: the caller may wait for the callback of that
 * query.
 */
int ibsa__sa_loop_wait(struct ib_device *device, int at_most_ms)
{
	struct ibsa_client *lone;
	int err;

	device->has_told = false;
	if (device->options.no_thread)
		(void)fd_wake_reset(device->wake_fd);
	jobs_run(device, work_count(device).jobs);
	if (!wait_begin(device, &lone) || device->has_told)
		at_most_ms = 0;
	err = lone ? ibsa_wait(lone, at_most_ms) : wait_all(device, at_most_ms);
	wait_end(device);
	(void)fd_wake_reset(device->wake_fd);
	if (!err && !lone)
		err = ports_dispatch(device, work_count(device).ports);
	dispatch_end(device);
	return err;
}

int ibsa_device_wait(struct ib_device *device, int at_most_ms)
{
	int err = dispatch_begin(device);

	return err ? err : ibsa__sa_loop_wait(device, at_most_ms);
}

int ibsa_device_dispatch(struct ib_device *device)
{
	int err = dispatch_begin(device);

	if (err)
		return err;
	err = device_dispatch(device);
	dispatch_end(device);
	return err;
}

int ibsa_device_fd(struct ib_device *device)
{
	int fd;

	if (!is_dispatched_by_program(device))
		return -1;
	pthread_mutex_lock(&device->sa->lock);
	fd = device->is_pollable ? device->epoll_fd : -1;
	pthread_mutex_unlock(&device->sa->lock);
	return fd;
}

/* Whether this thread runs a callback of the device @device. @lock is held. */
static bool device_is_in_callback(const struct ib_device *device)
{
	return device->in_callback &&
	       pthread_equal(device->dispatcher, pthread_self());
}

int ibsa_device_timeout_ms(struct ib_device *device)
{
	struct ibsa__sa *sa = device->sa;
	bool inside;
	bool taken;
	int ms = -1;

	if (!is_dispatched_by_program(device))
		return -1;
	pthread_mutex_lock(&sa->lock);
	inside = device_is_in_callback(device);
	taken = !inside && dispatch_take(device);
	device->is_missed |= !inside && !taken;
	pthread_mutex_unlock(&sa->lock);
	if (inside || taken)
		ms = device_timeout_ms(device);
	if (taken)
		dispatch_end(device);
	return ms;
}

/*
 * Waiting has failed: sleep instead, and then dispatch, so that deadlines are
 * still met.
 */
static void dispatch_after_pause(struct ib_device *device)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	nanosleep(&nap, NULL);
	(void)device_dispatch(device);
}

static void *worker_run(void *arg)
{
	struct ib_device *device = arg;

	while (!device_is_closing(device)) {
		const int err = ibsa__sa_loop_wait(device, -1);

		if (err && err != -EINTR)
			dispatch_after_pause(device);
	}
	ports_close(device);
	if (device->frees_itself)
		ibsa__sa_device_free(device);
	return NULL;
}

/*
 * Start the worker thread. In this thread all signals are blocked, except
 * those of faults such as SIGSEGV: signals belong to the program's own
 * threads, but a fault in a callback calls the program's handler.
 */
static int worker_start(struct ib_device *device)
{
	sigset_t mask;
	sigset_t before;
	int err;

	signals_fill(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, &before);
	err = pthread_create(&device->thread, NULL, worker_run, device);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	device->has_worker = !err;
	return err ? -ENOMEM : 0;
}

int ibsa__sa_loop_add(struct ib_device *device, struct sa_port *port)
{
	bool pollable = !fd_watch(device->epoll_fd, ibsa_fd(port->client));
	int err = 0;

	if (device->closing)
		return -ENODEV;
	if (device->port_count && (!pollable || !device->is_pollable))
		return -EOPNOTSUPP;
	device->ports[device->port_count++] = port;
	device->is_pollable = pollable;
	if (!device->has_worker && !device->options.no_thread)
		err = worker_start(device);
	if (err)
		device->port_count--;
	else if (device->is_waiting || device->options.no_thread)
		device_wake(device);
	return err;
}

void ibsa__sa_callback_enter(struct ib_device *device)
{
	device->in_callback = true;
	device->dispatcher = pthread_self();
}

void ibsa__sa_callback_leave(struct ib_device *device)
{
	device->in_callback = false;
	device->has_told = true;
	pthread_cond_broadcast(&device->sa->ended);
}

bool ibsa__sa_in_callback(const struct ibsa__sa *sa)
{
	const struct ib_device *device;

	LIST_EACH(device, &sa->devices, link) {
		if (device_is_in_callback(device))
			return true;
	}
	return false;
}

/*
 * Whether the dispatcher must free the device, because this thread cannot wait
 * for it: within a callback, this thread may be the dispatcher, or the
 * dispatcher may wait for this thread. @lock is held.
 */
static bool dispatcher_must_free(const struct ib_device *device)
{
	return (device->has_worker || device->is_dispatching) &&
	       ibsa__sa_in_callback(device->sa);
}

/*
 * Wait until no thread dispatches the device, and become its dispatcher. @lock
 * is held.
 */
static void dispatcher_await(struct ib_device *device)
{
	while (!dispatch_take(device))
		pthread_cond_wait(&device->sa->ended, &device->sa->lock);
}

void ibsa__sa_loop_end(struct ib_device *device)
{
	struct ibsa__sa *sa = device->sa;
	bool has_worker;
	bool left;

	pthread_mutex_lock(&sa->lock);
	device->closing = true;
	if (device->is_waiting)
		device_wake(device);
	has_worker = device->has_worker;
	left = dispatcher_must_free(device);
	device->frees_itself = left;
	if (left && has_worker)
		pthread_detach(device->thread);
	else if (!left && !has_worker)
		dispatcher_await(device);
	pthread_mutex_unlock(&sa->lock);
	if (left)
		return;
	if (has_worker)
		pthread_join(device->thread, NULL);
	else
		ports_close(device);
	ibsa__sa_device_free(device);
}
