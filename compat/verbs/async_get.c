/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Returns events of the device and of the SM from one function,
 * ibv_get_async_event().
 *
 * libibverbs waits for a context's event in read(2), without a lock: its
 * thread may be cancelled or interrupted there, and a signal handler may fork
 * or close the context. Programs may rely on this here, too. Signals and
 * cancellation are blocked before and after the wait. During the wait, the
 * thread holds only a reference to the context state, which a cancellation
 * drops.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "base/clock.h"
#include "base/registry.h"
#include "verbs/context_state.h"
#include "verbs/stock.h"

/* One call that reads an event. */
struct event_reader {
	struct ibv_context *context;
	struct ibsa_async_event *out;
	struct interrupts before;
	struct context_state *state;
	unsigned int process; /* value of ibsa__process() when the call began */
	bool is_stock;	/* the call behaves as libibverbs' call; see verbs.h */
	bool is_reader; /* it has set async.has_reader */
	/*
	 * A signal has interrupted the last wait, and read(2) would be
	 * restarted after it.
	 */
	bool is_restarted;
};

/*
 * The next step of a thread that reads an event. Functions return a step, or a
 * negative errno.
 */
enum step {
	STEP_DONE,
	STEP_WAIT,   /* for an event, or for the end */
	STEP_READ,   /* read an event of the device through libibverbs */
	STEP_YIELD,  /* wait until another thread has read the event */
	STEP_CLOSED, /* the context was closed */
	STEP_CHILD,  /* in a forked child: start again */
};

/*
 * Read an event from the device's event file, which has O_NONBLOCK while
 * @is_spliced is set. libibverbs reads from the descriptor in the member
 * async_fd, and its provider may use other members of the context: so the
 * function passes the context itself, with async_fd changed during the call.
 * @lock is held.
 */
static int device_read(struct context_state *state,
		       struct ibsa_async_event *out)
{
	const enum async_get kind = ibsa__async_get(state);
	int err = ibsa__stock_get(state->context, out, NULL);

	ibsa__async_put(state, kind);
	return err;
}

static bool is_readable(int fd)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };

	return poll(&file, 1, 0) == 1;
}

/*
 * Take an event of the device without waiting. Return: 0; -EAGAIN there is no
 * event, or another thread has read it first; or another error. @lock is held.
 */
static int device_take(struct context_state *state,
		       struct ibsa_async_event *out)
{
	if (state->async.device_fd < 0 || !is_readable(state->async.device_fd))
		return -EAGAIN;
	return device_read(state, out);
}

static int queue_take(struct context_state *state, struct ibsa_async_event *out)
{
	if (!ibsa__sm_queue_pop(&state->queue, out))
		return -EAGAIN;
	ibsa__async_update(state);
	return 0;
}

/*
 * Take one event without waiting, alternately from the device and from the
 * queue of SM events. @lock is held.
 */
static int event_take(struct context_state *state, struct ibsa_async_event *out)
{
	const bool device_first = state->async.is_device_next;
	int err;

	err = device_first ? device_take(state, out) : queue_take(state, out);
	if (err != -EAGAIN) {
		state->async.is_device_next = !device_first;
		return err;
	}
	return device_first ? queue_take(state, out) : device_take(state, out);
}

/*
 * Determine the next step while the async fd refers to the epoll file, when
 * this library reads the device's events. @lock is held.
 */
static int step_spliced(struct event_reader *reader)
{
	struct context_state *state = reader->state;
	int err = event_take(state, reader->out);
	int flags;

	if (err != -EAGAIN)
		return err;
	flags = fcntl(state->async.number, F_GETFL);
	if (flags < 0)
		return -errno;
	return flags & O_NONBLOCK ? -EAGAIN : STEP_WAIT;
}

/*
 * Next step while the async fd refers to the device's event file: libibverbs
 * reads the events. If another thread took the event first, libibverbs would
 * wait in read(2), and neither an SM event nor a close of the context would end
 * that wait. Therefore, unless the async fd has O_NONBLOCK, only one thread at
 * a time reads, and only when the async fd is readable. @lock is held.
 */
static int step_plain(struct event_reader *reader)
{
	struct async *async = &reader->state->async;
	const int flags = fcntl(async->number, F_GETFL);

	if (flags < 0)
		return -errno;
	if (flags & O_NONBLOCK)
		return STEP_READ;
	if (async->has_reader)
		return STEP_YIELD;
	if (!is_readable(async->number))
		return STEP_WAIT;
	async->has_reader = true;
	reader->is_reader = true;
	return STEP_READ;
}

/*
 * Whether libibverbs can read the device's events although this library lacks
 * memory or descriptors (@err): only in a call that behaves as libibverbs' own.
 */
static bool can_read_stock(const struct event_reader *reader, int err)
{
	return reader->is_stock && reader->context->cmd_fd >= 0 &&
	       (err == -EMFILE || err == -ENFILE || err == -ENOMEM);
}

static int step_find(struct event_reader *reader)
{
	struct context_state *state = reader->state;
	int step;

	pthread_mutex_lock(&state->lock);
	step = state->is_closed ? STEP_CLOSED : ibsa__async_begin(state);
	if (!step)
		step = state->async.is_own || state->async.is_spliced
			       ? step_spliced(reader)
			       : step_plain(reader);
	else if (can_read_stock(reader, step))
		step = STEP_READ;
	pthread_mutex_unlock(&state->lock);
	return step;
}

static bool event_reader_is_child(const struct event_reader *reader)
{
	return reader->process != ibsa__process();
}

static void reader_end(struct event_reader *reader)
{
	struct context_state *state = reader->state;

	if (!reader->is_reader)
		return;
	reader->is_reader = false;
	pthread_mutex_lock(&state->lock);
	state->async.has_reader = false;
	pthread_cond_broadcast(&state->changed);
	pthread_mutex_unlock(&state->lock);
}

/*
 * Drop the thread's reference to the context state. In a forked child, the
 * state of the parent is not changed.
 */
static void event_reader_drop(struct event_reader *reader)
{
	if (reader->state && !event_reader_is_child(reader)) {
		reader_end(reader);
		ibsa__context_state_put(reader->state);
	}
	reader->state = NULL;
}

static void event_reader_cancel(void *arg)
{
	sigset_t before;

	signals_hold(&before);
	event_reader_drop(arg);
	signals_restore(&before);
}

/*
 * Call @wait, during which the thread may be cancelled or interrupted. When it
 * returns, signals and cancellation are blocked again.
 */
static int interruptible(struct event_reader *reader,
			 int (*wait)(struct event_reader *reader))
{
	int err;

	pthread_cleanup_push(event_reader_cancel, reader);
	err = wait(reader);
	pthread_cleanup_pop(0);
	return err;
}

static int stock_wait(struct event_reader *reader)
{
	return ibsa__stock_get(reader->context, reader->out, &reader->before);
}

/*
 * Whether the kernel would restart read(2) after a signal: it does not if a
 * signal that the thread does not block has a handler without SA_RESTART.
 * poll(2), which waits here instead, is never restarted. signal(7).
 */
static bool signals_restart(const sigset_t *blocked)
{
	struct sigaction action;

	for (int signal = 1; signal < NSIG; signal++) {
		if (sigismember(blocked, signal) ||
		    sigaction(signal, NULL, &action))
			continue;
		if (action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN &&
		    !(action.sa_flags & SA_RESTART))
			return false;
	}
	return true;
}

/*
 * Wait until one of @files is readable. Return: 0; -EINTR if read(2) would
 * return it; or another error.
 */
static int file_wait(struct event_reader *reader, struct pollfd *files,
		     nfds_t count)
{
	const sigset_t *allowed = &reader->before.signals;
	const bool restarts = signals_restart(allowed);
	int err;
	int cancel;

	pthread_setcancelstate(reader->before.cancel.state, &cancel);
	err = ppoll(files, count, NULL, allowed) < 0 ? -errno : 0;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* The handler may have replaced itself. */
	reader->is_restarted = err == -EINTR && restarts &&
			       signals_restart(allowed);
	return reader->is_restarted ? 0 : err;
}

static int event_wait(struct event_reader *reader)
{
	struct pollfd file = {
		.fd = ibsa__async_wait_fd(&reader->state->async),
		.events = POLLIN,
	};

	return file_wait(reader, &file, 1);
}

/*
 * Wait as a read(2) does whose descriptor was closed meanwhile: the read
 * continues, but if a signal restarts it, the descriptor no longer exists.
 */
static int closed_wait(struct event_reader *reader)
{
	const int err = file_wait(reader, NULL, 0);

	return err ? err : -EBADF;
}

/*
 * Wait up to 10 ms until the other thread has read the event. That thread may
 * take longer, if another process that shares the file reads the event first.
 */
static int reader_await(struct event_reader *reader)
{
	struct context_state *state = reader->state;
	const struct timespec until =
		clock_timespec(clock_now_ns() + 10 * NS_PER_MS);

	pthread_mutex_lock(&state->lock);
	if (state->async.has_reader && !state->is_closed)
		pthread_cond_timedwait(&state->changed, &state->lock, &until);
	pthread_mutex_unlock(&state->lock);
	interrupts_restore(&reader->before);
	pthread_testcancel();
	interrupts_hold(&reader->before);
	return 0;
}

/*
 * Whether an error of libibverbs may come only from another thread that has
 * made the async fd refer to the epoll file, or set O_NONBLOCK, during the
 * call.
 */
static bool is_spliced_now(struct event_reader *reader)
{
	struct context_state *state = reader->state;
	bool is_spliced;

	pthread_mutex_lock(&state->lock);
	is_spliced = !state->is_closed &&
		     (state->async.is_spliced || state->async.is_splicing);
	pthread_mutex_unlock(&state->lock);
	return is_spliced;
}

static int device_wait(struct event_reader *reader)
{
	const int err = interruptible(reader, stock_wait);

	if (event_reader_is_child(reader))
		return err;
	reader_end(reader);
	return err && err != -EINTR && is_spliced_now(reader) ? STEP_WAIT : err;
}

/*
 * Do the step @step. Return: STEP_WAIT: determine the next step; any other
 * value is the result of state_read().
 */
static int step_take(struct event_reader *reader, int step)
{
	int err;

	switch (step) {
	case STEP_WAIT:
		err = interruptible(reader, event_wait);
		break;
	case STEP_YIELD:
		err = interruptible(reader, reader_await);
		break;
	case STEP_READ:
		return device_wait(reader);
	default:
		return step;
	}
	if (!err && event_reader_is_child(reader))
		return STEP_CHILD;
	return err ? err : STEP_WAIT;
}

static int state_read(struct event_reader *reader)
{
	int step;

	do {
		step = step_find(reader);
		step = step_take(reader, step);
	} while (step == STEP_WAIT);
	return step;
}

/*
 * Read an event although the context state could not be created, because of
 * @err. Libibverbs reads it if the program called libibverbs' own function;
 * otherwise return @err.
 */
static int without_state(struct event_reader *reader, int err)
{
	return reader->is_stock && reader->context->cmd_fd >= 0
		       ? interruptible(reader, stock_wait)
		       : err;
}

static int event_read(struct event_reader *reader)
{
	int step;

	do {
		reader->process = ibsa__process();
		step = ibsa__context_state_get(reader->context, true,
					       &reader->before, &reader->state);
		if (step)
			return without_state(reader, step);
		step = state_read(reader);
		event_reader_drop(reader);
	} while (step == STEP_CHILD);
	if (step != STEP_CLOSED)
		return step;
	return reader->is_stock && !reader->is_restarted
		       ? interruptible(reader, closed_wait)
		       : -EBADF;
}

static int event_get(struct ibv_context *context,
		     struct ibsa_async_event *event, bool is_stock)
{
	struct event_reader reader = {
		.context = context,
		.out = event,
		.is_stock = is_stock,
	};
	int err;

	if (!context || !event)
		return ibsa__context_state_result(-EINVAL);
	pthread_testcancel();
	interrupts_hold(&reader.before);
	err = event_read(&reader);
	interrupts_restore(&reader.before);
	return ibsa__context_state_result(err);
}

int ibsa_get_async_event(struct ibv_context *context,
			 struct ibsa_async_event *event)
{
	return event_get(context, event, false);
}

int ibsa_stock_get_event(struct ibv_context *context,
			 struct ibsa_async_event *event)
{
	return event_get(context, event, true);
}

static const char *own_text(int event_type)
{
	switch (event_type) {
	case IBV_EVENT_MCG_CREATED:
		return "MCG created";
	case IBV_EVENT_MCG_DELETED:
		return "MCG deleted";
	case IBV_EVENT_GID_AVAIL:
		return "GID available";
	case IBV_EVENT_GID_UNAVAIL:
		return "GID unavailable";
	case IBV_EVENT_SM_GAP:
		return "SM events may have been missed";
	default:
		return NULL;
	}
}

void ibsa_ack_async_event(struct ibsa_async_event *event)
{
	if (!own_text(event->event_type))
		ibsa__stock_ack(event);
}

const char *ibsa_event_type_text(int event_type)
{
	const char *text = own_text(event_type);

	if (!text)
		text = ibsa__stock_text(event_type);
	return text ? text : "unknown";
}
