/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets up a connection to a fabric server without waiting, so that a
 * dispatcher can do it: each call sends the next request if the answer to the
 * previous request has arrived.
 */
#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "remote/link.h"

static int step_request(struct remote_link *link)
{
	struct remote_control *control = &link->control;
	const int fd = link->connection.fd;
	struct remote_hello hello;

	switch (link->step) {
	case LINK_HELLO:
		ibsa__remote_hello_put(&link->address, &hello);
		return ibsa__control_request(control, fd, REMOTE_HELLO, &hello,
					     sizeof(hello));
	case LINK_ATTACH:
		return ibsa__control_request(control, fd, REMOTE_ATTACH, NULL,
					     0);
	case LINK_WATCH:
		return ibsa__control_request(control, fd, REMOTE_WATCH, NULL,
					     0);
	default:
		return 0;
	}
}

/*
 * Return the error of reading the connection. The server closes the connection
 * of a client that could not receive the descriptors of its umad file.
 */
static int link_read_failed(const struct remote_control *control,
			    struct ibsa_error *error)
{
	if (control->fds.is_cut)
		return ibsa__remote_fds_check(&control->fds, error);
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

/* Handle the server's successful answer to the request of the current step. */
static int step_take(struct remote_link *link, struct ibsa_error *error)
{
	struct remote_control *control = &link->control;

	switch (link->step++) {
	case LINK_HELLO:
		return ibsa__remote_hello_take(&control->hello, &link->address);
	/* @control owns the descriptors until the link is up. */
	case LINK_ATTACH:
		return ibsa__remote_fds_check(&control->fds, error);
	case LINK_WATCH:
		watch_take(link);
		return 0;
	default:
		return 0;
	}
}

static int link_finish(struct remote_link *link, struct ibsa_error *error)
{
	struct remote_control *control = &link->control;
	int err = ibsa__data_open(&link->data, &control->fds,
				  control->ring_bytes, error);

	if (!err)
		err = ibsa__remote_link_watch(link, link->data.fd);
	return err ? err : 1;
}

static int step_go(struct remote_link *link, struct ibsa_error *error)
{
	const struct remote_control *control = &link->control;
	int err = control->answer_err;

	if (err)
		return ibsa__remote_refusal(err, control->refusal.text, error);
	err = step_take(link, error);
	return err ? err : step_request(link);
}

int ibsa__remote_link_up_begin(struct remote_link *link, enum link_step step)
{
	int err = ibsa__remote_link_watch(link, link->connection.fd);

	link->step = step;
	if (!err)
		err = step_request(link);
	if (err)
		ibsa__remote_link_down(link);
	return err;
}

int ibsa__remote_link_up_go(struct remote_link *link, struct ibsa_error *error)
{
	int err;

	if (ibsa__control_read(&link->control, link->connection.fd))
		return link_read_failed(&link->control, error);
	if (link->control.asked != CONTROL_IDLE)
		return 0;
	err = step_go(link, error);
	if (err || link->step != LINK_UP)
		return err;
	return link_finish(link, error);
}

int ibsa__remote_link_left_ms(const struct remote_link *link)
{
	return clock_left_ms((int)link->connection.patience_ms,
			     link->connection.start_ns);
}

int ibsa__remote_link_up_wait(struct remote_link *link,
			      struct ibsa_error *error)
{
	struct pollfd end = { .fd = link->connection.fd, .events = POLLIN };
	int got = 0;

	while (!got) {
		const int left_ms = ibsa__remote_link_left_ms(link);

		if (!left_ms) {
			got = ibsa__fail(error, -ETIMEDOUT,
					 "the fabric server at %s does not "
					 "answer; check whether its process is "
					 "stopped",
					 link->address.path);
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
	ibsa__remote_disconnect(&link->connection);
}
