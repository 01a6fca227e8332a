/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets up a connection to a fabric server without waiting, so that a
 * dispatcher can do it: all requests are sent at once, and each call reads the
 * answers that have arrived.
 */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "remote/link.h"

/*
 * Return the error from reading the connection. The server closes the
 * connection of a client that could not receive the descriptors of its umad
 * file.
 */
static int link_read_failed(const struct remote_link *link,
			    struct ibsa_error *error)
{
	const struct remote_control *control = &link->control;

	if (control->fds.is_cut)
		return ibsa__remote_fds_check(&control->fds, error);
	if (control->asked == REMOTE_HELLO)
		return ibsa__remote_no_hello(&link->address,
					     control->has_answer, error);
	return ibsa__fail(error, -ENODEV,
			  "the fabric server has closed the connection; check "
			  "that it runs");
}

/*
 * Handle the answer to REMOTE_WATCH, which is the last request of a new
 * connection: after it, the server sends events.
 */
static void watch_take(struct remote_link *link)
{
	struct ibsa_port_state state;

	ibsa__control_port(&link->control, &state);
	link->counted = state.reregisters;
	link->transport.link = state.link;
}

/*
 * Open the data socket; over TCP, connect it first. Return: 1 it is open; 0 it is
 * not connected yet; or an error.
 */
static int data_open(struct remote_link *link, struct ibsa_error *error)
{
	struct remote_control *control = &link->control;
	int err = 0;

	if (!link->address.is_tcp) {
		err = ibsa__data_open(&link->data, &control->fds,
				      control->ring_bytes, error);
		return err ? err : 1;
	}
	if (link->step == LINK_OPENING)
		err = ibsa__remote_join_begin(&link->address, &link->join_fd);
	link->step = LINK_JOINING;
	if (!err)
		err = ibsa__remote_join_send(link->join_fd, control->ticket);
	if (err == -EINPROGRESS)
		return ibsa__remote_link_watch(link, link->join_fd, EPOLLOUT);
	if (err)
		return ibsa__remote_tcp_failed(&link->address, err, error);
	link->data.fd = link->join_fd;
	link->join_fd = -1;
	return 1;
}

/*
 * The answers to all requests of the new connection have arrived. Return: as
 * ibsa__remote_link_up_go().
 */
static int link_finish(struct remote_link *link, struct ibsa_error *error)
{
	const int got = data_open(link, error);
	int err;

	if (got <= 0)
		return got;
	err = ibsa__remote_link_watch(link, link->data.fd, EPOLLIN);
	if (err)
		return err;
	watch_take(link);
	link->step = LINK_UP;
	return 1;
}

int ibsa__remote_link_up_begin(struct remote_link *link)
{
	int err;

	link->step = LINK_CONNECTING;
	err = ibsa__remote_link_watch(link, link->connection.fd,
				      link_is_connecting(link) ? EPOLLOUT
							       : EPOLLIN);
	if (err)
		ibsa__remote_link_down(link);
	return err;
}

/* Send the requests of a connection. Return: 0; -EINPROGRESS or an error. */
static int link_request(struct remote_link *link, struct ibsa_error *error)
{
	int err = ibsa__remote_connected(&link->connection, &link->address);

	if (err == -EINPROGRESS)
		return err;
	if (err)
		return ibsa__remote_tcp_failed(&link->address, err, error);
	link->step = LINK_OPENING;
	err = ibsa__remote_link_watch(link, link->connection.fd, EPOLLIN);
	if (err)
		return err;
	ibsa__control_open(&link->control, link->connection.fd, &link->address,
			   true);
	return 0;
}

int ibsa__remote_link_up_go(struct remote_link *link, struct ibsa_error *error)
{
	const struct remote_control *control = &link->control;
	int err = 0;

	if (link->step == LINK_CONNECTING)
		err = link_request(link, error);
	if (err)
		return err == -EINPROGRESS ? 0 : err;
	if (ibsa__control_read(&link->control, link->connection.fd))
		return link_read_failed(link, error);
	if (control->asked != CONTROL_IDLE)
		return 0;
	if (control->answer_err)
		return ibsa__remote_refusal(control->answer_err,
					    control->refusal.text, error);
	return link_finish(link, error);
}

int ibsa__remote_link_left_ms(const struct remote_link *link)
{
	return ibsa__clock_left_ms((int)link->connection.patience_ms,
				   link->connection.start_ns);
}

int ibsa__remote_link_up_wait(struct remote_link *link,
			      struct ibsa_error *error)
{
	int got = ibsa__remote_link_up_go(link, error);

	while (!got) {
		const bool joins = link->step == LINK_JOINING;
		struct pollfd end = {
			.fd = joins ? link->join_fd : link->connection.fd,
			.events = joins ? POLLOUT : POLLIN,
		};
		const int left_ms = ibsa__remote_link_left_ms(link);

		if (!left_ms) {
			got = ibsa__remote_late_fail(&link->connection,
						     link->address.path,
						     -ETIMEDOUT, error);
			break;
		}
		(void)!poll(&end, 1, left_ms);
		got = ibsa__remote_link_up_go(link, error);
	}
	if (got > 0)
		return 0;
	ibsa__remote_link_down(link);
	return got;
}

void ibsa__remote_link_down(struct remote_link *link)
{
	if (link->step == LINK_DOWN)
		return;
	ibsa__control_reset(&link->control);
	link->step = LINK_DOWN;
	ibsa__remote_link_unwatch(link);
	ibsa__data_close(&link->data);
	fd_close(&link->join_fd);
	ibsa__remote_disconnect(&link->connection);
}
