/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens a umad file again at the next fabric server, and registers its agents
 * with the same numbers. No step waits: a server process may be suspended.
 */
#include <errno.h>
#include <sys/timerfd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/registry.h"
#include "remote/portid.h"

enum {
	PAUSE_MIN_MS = 100, /* between attempts, at first */
	PAUSE_MAX_MS = 1000,
};

static int sets_open(struct remote_portid *portid, int data_fd)
{
	int err;

	portid->set_fd = epoll_create1(EPOLL_CLOEXEC);
	portid->timer_fd = timerfd_create(CLOCK_MONOTONIC,
					  TFD_CLOEXEC | TFD_NONBLOCK);
	if (portid->set_fd < 0 || portid->timer_fd < 0)
		return -errno;
	err = fd_watch(portid->set_fd, portid->timer_fd);
	return err ? err : fd_watch(portid->set_fd, data_fd);
}

static void attempt_init(struct portid_attempt *attempt)
{
	attempt->process = ibsa__process();
	attempt->step = STEP_NONE;
	attempt->connection.fd = -1;
	remote_data_init(&attempt->data);
	ibsa__control_init(&attempt->control);
	attempt->control.bytes = attempt->bytes;
	attempt->control.room = sizeof(attempt->bytes);
}

int ibsa__remote_portid_new(const struct remote_address *address, int data_fd,
			    struct remote_portid **out)
{
	struct remote_portid *portid = ibsa__calloc(1, sizeof(*portid));
	int err;

	if (!portid)
		return -ENOMEM;
	atomic_init(&portid->uses, 1);
	portid->set_fd = -1;
	portid->timer_fd = -1;
	portid->address = *address;
	portid->reopen_ns = address->reopen_s * NS_PER_S;
	portid->pause_ns = PAUSE_MIN_MS * NS_PER_MS;
	attempt_init(&portid->attempt);
	err = ibsa__pending_new(&portid->pending);
	if (!err)
		err = sets_open(portid, data_fd);
	if (err)
		ibsa__remote_portid_put(portid);
	else
		*out = portid;
	return err;
}

/*
 * Whether the program has not closed the portid by close(2): changing an entry
 * of another epoll set, or of another file, fails.
 */
static bool portid_is_open(const struct remote_portid *portid)
{
	struct epoll_event event = { .events = EPOLLIN };

	return !epoll_ctl(portid->set_fd, EPOLL_CTL_MOD, portid->timer_fd,
			  &event);
}

static void attempt_close(struct portid_attempt *attempt)
{
	ibsa__control_reset(&attempt->control);
	ibsa__data_close(&attempt->data);
	ibsa__remote_disconnect(&attempt->connection);
	attempt->step = STEP_NONE;
}

static void attempt_end(struct remote_portid *portid)
{
	struct portid_attempt *attempt = &portid->attempt;
	const int fds[] = { attempt->connection.fd, attempt->data.fd };

	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			epoll_ctl(portid->set_fd, EPOLL_CTL_DEL, fds[i], NULL);
	attempt_close(attempt);
}

void ibsa__remote_portid_put(struct remote_portid *portid)
{
	if (atomic_fetch_sub(&portid->uses, 1) != 1)
		return;
	attempt_end(portid);
	if (!portid_is_open(portid))
		portid->set_fd = -1;
	fd_close(&portid->timer_fd);
	fd_close(&portid->set_fd);
	if (portid->pending)
		ibsa__pending_free(portid->pending);
	ibsa__free(portid);
}

static bool is_lost(const struct remote_portid *portid)
{
	return atomic_load(&portid->lost_ns);
}

bool ibsa__remote_portid_fails(const struct remote_portid *portid)
{
	return is_lost(portid) &&
	       clock_now_ns() - atomic_load(&portid->lost_ns) >=
		       portid->reopen_ns;
}

bool ibsa__remote_portid_has_result(struct remote_portid *portid)
{
	return ibsa__pending_due_ns(portid->pending) <= clock_now_ns() ||
	       ibsa__remote_portid_fails(portid);
}

void ibsa__remote_portid_timer_set(struct remote_portid *portid)
{
	uint64_t due_ns = ibsa__pending_due_ns(portid->pending);
	struct itimerspec at = { 0 };

	if (is_lost(portid) && atomic_load(&portid->next_ns) < due_ns)
		due_ns = atomic_load(&portid->next_ns);
	if (ibsa__remote_portid_fails(portid))
		due_ns = 0;
	if (due_ns != UINT64_MAX)
		at.it_value = clock_timespec(due_ns ? due_ns : 1);
	/* Setting the timer also clears an expiration that was not read. */
	timerfd_settime(portid->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

void ibsa__remote_portid_lose(struct remote_portid *portid, int data_fd)
{
	const uint64_t now_ns = clock_now_ns();

	epoll_ctl(portid->set_fd, EPOLL_CTL_DEL, data_fd, NULL);
	atomic_store(&portid->next_ns, now_ns);
	atomic_store(&portid->lost_ns, now_ns);
	ibsa__pending_lose(portid->pending);
	ibsa__remote_portid_timer_set(portid);
}

/*
 * A forked child begins an attempt of its own. If a thread of the parent
 * process used the attempt during the fork, its state is incomplete in the
 * child.
 */
bool ibsa__remote_portid_enter(struct remote_portid *portid)
{
	const unsigned int own = ibsa__process() + 1;
	unsigned int user = atomic_load(&portid->user);

	if (user == own ||
	    !atomic_compare_exchange_strong(&portid->user, &user, own))
		return false;
	if (portid->attempt.process != ibsa__process()) {
		if (!user)
			attempt_close(&portid->attempt);
		attempt_init(&portid->attempt);
	}
	return true;
}

void ibsa__remote_portid_leave(struct remote_portid *portid)
{
	atomic_store(&portid->user, 0);
}

static int attempt_fail(struct remote_portid *portid)
{
	attempt_end(portid);
	atomic_store(&portid->next_ns, clock_now_ns() + portid->pause_ns);
	portid->pause_ns *= 2;
	if (portid->pause_ns > PAUSE_MAX_MS * NS_PER_MS)
		portid->pause_ns = PAUSE_MAX_MS * NS_PER_MS;
	return -EAGAIN;
}

static int attempt_begin(struct remote_portid *portid)
{
	struct portid_attempt *attempt = &portid->attempt;
	int err;

	attempt->address = portid->address;
	err = ibsa__remote_connect_begin(&attempt->connection,
					 &attempt->address, false, NULL);
	if (!err)
		err = fd_watch_for(portid->set_fd, attempt->connection.fd,
				   attempt->address.is_tcp ? EPOLLOUT
							   : EPOLLIN);
	if (err)
		return err;
	attempt->step = STEP_CONNECTING;
	return 0;
}

static int attempt_request(struct remote_portid *portid)
{
	struct portid_attempt *attempt = &portid->attempt;
	int err = ibsa__remote_connected(&attempt->connection,
					 &attempt->address);

	if (!err && attempt->address.is_tcp)
		err = fd_watch(portid->set_fd, attempt->connection.fd);
	if (err)
		return err;
	ibsa__control_open(&attempt->control, attempt->connection.fd,
			   &attempt->address, false);
	attempt->step = STEP_OPENING;
	return 0;
}

/* The answer to REMOTE_ATTACH has arrived. */
static int attempt_join(struct remote_portid *portid)
{
	struct portid_attempt *attempt = &portid->attempt;
	int err;

	attempt->step = STEP_JOINING;
	if (!attempt->address.is_tcp)
		return ibsa__data_open(&attempt->data, &attempt->control.fds,
				       attempt->control.ring_bytes, NULL);
	err = ibsa__remote_join_begin(&attempt->address, &attempt->data.fd);
	return err ? err
		   : fd_watch_for(portid->set_fd, attempt->data.fd, EPOLLOUT);
}

/*
 * Read the answer to the last request. Return: 0; -EINPROGRESS it has not
 * arrived; or another -errno.
 */
static int answer_read(struct portid_attempt *attempt)
{
	struct remote_control *control = &attempt->control;
	int err = ibsa__control_read(control, attempt->connection.fd);

	if (err)
		return err;
	return control->asked == CONTROL_IDLE ? control->answer_err
					      : -EINPROGRESS;
}

static int attached_take(struct remote_portid *portid)
{
	struct portid_attempt *attempt = &portid->attempt;
	int err = 0;

	if (attempt->address.is_tcp)
		err = ibsa__remote_join_send(attempt->data.fd,
					     attempt->control.ticket);
	/* The program is not woken for packets before all agents exist. */
	if (!err && attempt->address.is_tcp)
		err = fd_watch_for(portid->set_fd, attempt->data.fd, 0);
	if (err)
		return err;
	attempt->count = ibsa__pending_agents(portid->pending, attempt->agents,
					      attempt->has_agent);
	attempt->agent = 0;
	attempt->removes = false;
	attempt->step = STEP_REGISTERING;
	return 0;
}

/*
 * Register the next agent. Numbers that are not in use are registered, too, and
 * unregistered afterwards, because the server gives the lowest free number.
 */
static int agent_register(struct portid_attempt *attempt)
{
	static const struct umad_agent_request2 unused = {
		.qpn = IBSA_QPN_GSI,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = IBSA_CLASS_VERSION,
	};
	const uint32_t at = attempt->agent;
	const struct umad_agent_request2 *request =
		attempt->has_agent[at] ? &attempt->agents[at] : &unused;

	return ibsa__control_request(&attempt->control, attempt->connection.fd,
				     REMOTE_REGISTER, request,
				     sizeof(*request));
}

/*
 * Send the next request about an agent. Return: 0; -ENOENT all agents are
 * registered; or another -errno.
 */
static int agent_next(struct portid_attempt *attempt)
{
	if (!attempt->removes && attempt->agent < attempt->count)
		return agent_register(attempt);
	if (!attempt->removes)
		attempt->agent = 0;
	attempt->removes = true;
	while (attempt->agent < attempt->count &&
	       attempt->has_agent[attempt->agent])
		attempt->agent++;
	if (attempt->agent == attempt->count)
		return -ENOENT;
	return ibsa__control_request(&attempt->control, attempt->connection.fd,
				     REMOTE_UNREGISTER, &attempt->agent,
				     sizeof(attempt->agent));
}

/*
 * Register all agents. Return: 0; -EINPROGRESS an answer has not arrived; or
 * another -errno.
 */
static int agents_go(struct portid_attempt *attempt)
{
	for (;;) {
		int err = 0;

		if (attempt->control.asked == CONTROL_IDLE)
			err = agent_next(attempt);
		if (err)
			return err == -ENOENT ? 0 : err;
		err = answer_read(attempt);
		if (!err && !attempt->removes &&
		    attempt->control.answer != attempt->agent)
			err = -EPROTO;
		if (err)
			return err;
		attempt->agent++;
	}
}

static int attempt_go(struct remote_portid *portid)
{
	struct portid_attempt *attempt = &portid->attempt;
	int err = 0;

	if (attempt->step == STEP_NONE)
		err = attempt_begin(portid);
	if (!err && attempt->step == STEP_CONNECTING)
		err = attempt_request(portid);
	if (!err && attempt->step == STEP_OPENING)
		err = answer_read(attempt);
	if (!err && attempt->step == STEP_OPENING)
		err = attempt_join(portid);
	if (!err && attempt->step == STEP_JOINING)
		err = attached_take(portid);
	if (!err)
		err = agents_go(attempt);
	if (!err)
		err = fd_watch(portid->set_fd, attempt->data.fd);
	return err;
}

int ibsa__remote_portid_try(struct remote_portid *portid)
{
	struct portid_attempt *attempt = &portid->attempt;
	const struct remote_connection *connection = &attempt->connection;
	int err;

	if (attempt->step == STEP_NONE &&
	    clock_now_ns() < atomic_load(&portid->next_ns))
		return -EAGAIN;
	err = attempt_go(portid);
	if (err == -EINPROGRESS &&
	    ibsa__clock_left_ms((int)connection->patience_ms,
				connection->start_ns)) {
		atomic_store(&portid->next_ns,
			     connection->start_ns +
				     connection->patience_ms * NS_PER_MS);
		return -EAGAIN;
	}
	if (err)
		return attempt_fail(portid);
	epoll_ctl(portid->set_fd, EPOLL_CTL_DEL, connection->fd, NULL);
	attempt->step = STEP_NONE;
	return 0;
}

void ibsa__remote_portid_end(struct remote_portid *portid, bool is_taken)
{
	if (!is_taken) {
		(void)attempt_fail(portid);
		return;
	}
	portid->pause_ns = PAUSE_MIN_MS * NS_PER_MS;
	atomic_store(&portid->lost_ns, 0);
	ibsa__pending_expire(portid->pending);
}
