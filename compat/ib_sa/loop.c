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

/* Whether the dispatcher has something to run. @lock is held. */
static bool has_work(const struct ib_device *device)
{
	return device->job_count || !list_is_empty(&device->starts);
}

/*
 * Wake the dispatcher for its first start or job if it waits, or if a program
 * may poll the device. @lock is held.
 */
static void first_work_announce(struct ib_device *device)
{
	if ((device->is_waiting || device->options.no_thread) &&
	    !has_work(device))
		device_wake(device);
}

void ibsa__sa_start(struct ib_device *device, struct sa_task *task)
{
	first_work_announce(device);
	list_append(&device->starts, &task->link);
}

void ibsa__sa_submit(struct ib_device *device, struct sa_job *job)
{
	if (!list_is_empty(&job->link))
		return;
	first_work_announce(device);
	list_append(&device->jobs, &job->link);
	device->job_count++;
}

void ibsa__sa_withdraw(struct ib_device *device, struct sa_job *job)
{
	if (list_is_empty(&job->link))
		return;
	list_remove(&job->link);
	device->job_count--;
}

/*
 * Remove the first element of the queue. Return: its job; NULL: the element is
 * @mark, behind which there are only jobs that were queued later.
 */
static struct sa_job *job_take(struct ib_device *device,
			       const struct list *mark)
{
	struct list *first;

	pthread_mutex_lock(&device->sa->lock);
	first = device->jobs.next;
	list_remove(first);
	if (first != mark)
		device->job_count--;
	pthread_mutex_unlock(&device->sa->lock);
	return first == mark ? NULL : list_object(first, struct sa_job, link);
}

/*
 * After a callback, when the dispatcher holds @lock again: free the task whose
 * last callback this was.
 */
static void callbacks_settle(struct ib_device *device)
{
	struct sa_task *finished = device->finished;

	device->in_callback = false;
	device->finished = NULL;
	if (finished)
		ibsa__sa_task_free(finished);
}

/*
 * Start the tasks and run the jobs that are queued now, and no later ones: if
 * queries cannot be sent, their callbacks may start new queries without end;
 * and a job that is queued later may end a task that is not started yet.
 */
static void work_run(struct ib_device *device)
{
	struct list starts;
	struct list mark;
	struct sa_job *job;
	bool has_jobs;

	list_init(&starts);
	pthread_mutex_lock(&device->sa->lock);
	callbacks_settle(device);
	list_splice(&starts, &device->starts);
	has_jobs = device->job_count;
	if (has_jobs)
		list_append(&device->jobs, &mark);
	pthread_mutex_unlock(&device->sa->lock);
	while (!list_is_empty(&starts)) {
		struct sa_task *task = list_object(starts.next, struct sa_task,
						   link);

		list_remove(&task->link);
		task->ops->start(task);
	}
	while (has_jobs && (job = job_take(device, &mark)))
		job->run(job);
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

/*
 * Whether it is for a program's thread to dispatch the device, because the
 * device has no worker thread. False in a forked child for a device of its
 * parent.
 */
static bool is_dispatched_by_program(const struct ib_device *device)
{
	return device->options.no_thread && ibsa__sa_is_ours(device->sa);
}

/*
 * Become the dispatcher of the device, in a program's thread. Return: 0; -EBUSY
 * another thread dispatches it; -EINVAL the device has a worker thread for
 * that, or belongs to the parent process.
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

/* Dispatch all ports. Return: the first error. */
static int ports_dispatch(struct ib_device *device)
{
	const unsigned int count = device->port_count;
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
	(void)fd_wake_reset(device->wake_fd);
	work_run(device);
	return ports_dispatch(device);
}

/*
 * Close the ports of a device, which ends all requests in flight. The device
 * is closing, so callbacks cannot start new requests, and no other thread
 * dispatches it.
 */
static void ports_close(struct ib_device *device)
{
	work_run(device);
	for (unsigned int i = 0; i < device->port_count; i++) {
		struct sa_port *port = device->ports[i];

		ibsa__mc_groups_leave(port);
		ibsa_close(port->client);
		port->client = NULL;
		ibsa__mc_groups_done(port);
	}
	work_run(device);
	pthread_mutex_lock(&device->sa->lock);
	callbacks_settle(device);
	pthread_mutex_unlock(&device->sa->lock);
}

/*
 * Stop being the dispatcher. If a program asked for the device's timeout
 * meanwhile, wake programs that poll the device, since its deadlines may have
 * changed. If a callback has put a device without a worker, the device is
 * closed and freed here.
 */
static void dispatch_end(struct ib_device *device)
{
	bool is_last;

	pthread_mutex_lock(&device->sa->lock);
	callbacks_settle(device);
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

/*
 * Return: how many ms the dispatcher may wait for its ports; -1: without limit.
 */
static int ports_timeout_ms(struct ib_device *device)
{
	const unsigned int count = device->port_count;
	int soonest = -1;

	for (unsigned int i = 0; i < count; i++)
		soonest = sooner_ms(soonest,
				    ibsa_timeout_ms(device->ports[i]->client));
	return soonest;
}

static int device_timeout_ms(struct ib_device *device)
{
	bool is_idle;

	pthread_mutex_lock(&device->sa->lock);
	is_idle = !has_work(device);
	pthread_mutex_unlock(&device->sa->lock);
	return is_idle ? ports_timeout_ms(device) : 0;
}

/*
 * Prepare to wait: from now on, the first start or job wakes this thread.
 * Return: false if there is work to do, or the device is closing. If the device
 * has only one port, *@out_lone is its client, which waits in its own
 * transport, because the transport may have its own clock; otherwise NULL.
 */
static bool wait_begin(struct ib_device *device, struct ibsa_client **out_lone)
{
	bool idle;

	pthread_mutex_lock(&device->sa->lock);
	callbacks_settle(device);
	idle = !has_work(device) && !device->closing;
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

	at_most_ms = sooner_ms(at_most_ms, ports_timeout_ms(device));
	return poll(&fd, 1, at_most_ms) < 0 ? -errno : 0;
}

/*
 * Wait for events of the device and handle them. If starting the queued tasks
 * has already called a callback, for example because a query cannot be sent, do
 * not wait: the program may wait for this callback.
 */
static int wait_and_dispatch(struct ib_device *device, int at_most_ms)
{
	const bool is_polled = device->options.no_thread;
	struct ibsa_client *lone;
	int err;

	device->has_told = false;
	if (is_polled)
		(void)fd_wake_reset(device->wake_fd);
	work_run(device);
	if (!wait_begin(device, &lone) || device->has_told)
		at_most_ms = 0;
	err = lone ? ibsa_wait(lone, at_most_ms) : wait_all(device, at_most_ms);
	wait_end(device);
	if (is_polled || !lone)
		(void)fd_wake_reset(device->wake_fd);
	if (!err && !lone)
		err = ports_dispatch(device);
	return err;
}

int ibsa__sa_loop_wait(struct ib_device *device, int at_most_ms)
{
	int err = wait_and_dispatch(device, at_most_ms);

	dispatch_end(device);
	return err;
}

int ibsa_ib_device_wait(struct ib_device *device, int at_most_ms)
{
	int err = dispatch_begin(device);

	return err ? err : ibsa__sa_loop_wait(device, at_most_ms);
}

int ibsa_ib_device_dispatch(struct ib_device *device)
{
	int err = dispatch_begin(device);

	if (err)
		return err;
	err = device_dispatch(device);
	dispatch_end(device);
	return err;
}

int ibsa_ib_device_fd(struct ib_device *device)
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

int ibsa_ib_device_timeout_ms(struct ib_device *device)
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

	while (!device->closing) {
		const int err = wait_and_dispatch(device, -1);

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

static bool port_watch(struct ib_device *device, const struct sa_port *port)
{
	return !fd_watch(device->epoll_fd, ibsa_fd(port->client));
}

/*
 * Add a port to the epoll set. A worker with a single port waits in the port's
 * own transport, which receives several packets a call as long as its fd is not
 * polled. With a worker, the first port is therefore added only together with
 * the second one.
 */
static bool ports_watch(struct ib_device *device, const struct sa_port *port)
{
	if (device->options.no_thread)
		return port_watch(device, port);
	if (!device->port_count)
		return true;
	return port_watch(device, port) &&
	       (device->port_count > 1 || port_watch(device, device->ports[0]));
}

int ibsa__sa_loop_add(struct ib_device *device, struct sa_port *port)
{
	bool pollable;

	if (device->closing)
		return -ENODEV;
	pollable = ports_watch(device, port);
	if (device->port_count && (!pollable || !device->is_pollable))
		return -EOPNOTSUPP;
	if (!device->has_worker && !device->options.no_thread &&
	    worker_start(device))
		return -ENOMEM;
	device->is_pollable = pollable;
	device->ports[device->port_count] = port;
	device->port_count++;
	if (device->is_waiting || device->options.no_thread)
		device_wake(device);
	return 0;
}

void ibsa__sa_callback_enter(struct ib_device *device)
{
	callbacks_settle(device);
	device->in_callback = true;
	device->dispatcher = pthread_self();
}

void ibsa__sa_callback_leave(struct ib_device *device)
{
	callbacks_settle(device);
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
