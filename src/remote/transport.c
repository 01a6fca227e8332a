/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A port at a fabric server as a transport: opening, asking, closing. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "remote/link.h"
#include "remote/transport.h"

/* Room for a good many packets at a time. */
enum { INBOX_BYTES = 65536 };

/* How long calls wait for an answer that they need not have. */
enum { ANSWER_MS = 250 };

static uint64_t now_ns(struct ibsa_transport *transport)
{
	(void)transport;
	return clock_now_ns();
}

/* What a server counts begins anew with each; what is shown never goes back. */
static uint32_t count_reregisters(struct remote_link *link, uint32_t now)
{
	link->reregisters += now - link->counted;
	link->counted = now;
	return link->reregisters;
}

void ibsa__away_state(struct remote_link *link, struct ibsa_port_state *out)
{
	ibsa__control_port(&link->control, out);
	out->reregisters = count_reregisters(link, out->reregisters);
}

/* The answer to the question that was asked came. */
static void answer_note(struct remote_link *link, uint32_t asked)
{
	const int err = link->control.answer_err;

	if (link->asks_opa) {
		link->asks_opa = false;
		link->is_opa = !err;
		link->opa_agent = link->control.answer;
		return;
	}
	if (asked == REMOTE_REGISTER) {
		link->has_reports = !err;
		link->report_agent = link->control.answer;
		link->reports_err = err == -EINVAL || err == -EPERM ? -EBUSY
								    : err;
		link->reports_refusal = link->control.refusal;
	}
	/* They may have become wanted, or unwanted, meanwhile. */
	if (!err)
		ibsa__away_reports_ask(link);
}

int ibsa__away_hear(struct remote_link *link)
{
	const uint32_t asked = link->control.asked;
	int err = ibsa__control_read(&link->control, link->connection.fd);

	if (!err && asked != link->control.asked)
		answer_note(link, asked);
	return err;
}

static int port_get(struct ibsa_transport *transport,
		    struct ibsa_port_state *out)
{
	struct remote_link *link = link_of(transport);
	int err = ibsa__away_have(link);

	if (err)
		return err;
	pthread_mutex_lock(&link->renewing);
	err = ibsa__away_hear(link);
	if (!err)
		ibsa__away_state(link, out);
	pthread_mutex_unlock(&link->renewing);
	return err ? ibsa__away_lose(link) : 0;
}

/* Whether an event came since the last call. */
static bool event_take(struct remote_link *link)
{
	bool has_event;
	int err;

	if (link->data < 0)
		return false;
	pthread_mutex_lock(&link->renewing);
	err = link->is_quiet ? 0 : ibsa__away_hear(link);
	has_event = link->control.has_event;
	link->control.has_event = false;
	pthread_mutex_unlock(&link->renewing);
	if (has_event)
		ibsa__away_nudge_end(link);
	if (err)
		ibsa__away_lose(link);
	return has_event;
}

static bool changed(struct ibsa_transport *transport)
{
	struct remote_link *link = link_of(transport);
	bool is_changed = event_take(link);

	is_changed = is_changed || link->is_renewed;
	link->is_quiet = false;
	link->is_renewed = false;
	return is_changed;
}

/* Bring the tables up to date. Locked. Return: 0; -ENODEV without a server. */
static int tables_refresh(struct remote_link *link)
{
	const bool had_event = link->control.has_event;

	if (link->data < 0)
		return -ENODEV;
	/* The dispatcher finds the end of the connection, too. */
	(void)!ibsa__away_hear(link);
	if (link->control.has_event && !had_event)
		ibsa__away_nudge(link);
	return 0;
}

static int gid_get(struct ibsa_transport *transport, uint32_t index,
		   struct ibsa_gid_entry *out)
{
	struct remote_link *link = link_of(transport);
	int err;

	pthread_mutex_lock(&link->renewing);
	err = tables_refresh(link);
	if (!err)
		err = ibsa__control_gid(&link->control, index, out);
	pthread_mutex_unlock(&link->renewing);
	return err;
}

static int pkey_get(struct ibsa_transport *transport, uint32_t index,
		    uint16_t *out)
{
	struct remote_link *link = link_of(transport);
	int err;

	pthread_mutex_lock(&link->renewing);
	err = tables_refresh(link);
	if (!err)
		err = ibsa__control_pkey(&link->control, index, out);
	pthread_mutex_unlock(&link->renewing);
	return err;
}

static struct umad_agent_request2 agent_request(uint8_t class_version,
						uint64_t methods)
{
	return (struct umad_agent_request2){
		.qpn = IBSA_QPN_GSI,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = class_version,
		.method_mask = { methods },
		.rmpp_version = 1,
	};
}

static int agent_register(struct remote_connection *connection, uint32_t *out)
{
	struct umad_agent_request2 request = agent_request(IBSA_CLASS_VERSION,
							   0);
	int err = ibsa__remote_register(connection, &request);

	if (!err)
		*out = request.id;
	return err;
}

/* Register @methods of @class_version at the attached file, without waiting. */
static int register_ask(struct remote_link *link, uint8_t class_version,
			uint64_t methods)
{
	const struct umad_agent_request2 request = agent_request(class_version,
								 methods);

	return ibsa__control_ask(&link->control, link->connection.fd,
				 REMOTE_REGISTER, &request, sizeof(request));
}

void ibsa__away_reports_ask(struct remote_link *link)
{
	const uint32_t agent = link->report_agent;

	if (link->control.asked != CONTROL_IDLE ||
	    link->listens == link->has_reports)
		return;
	link->reports_err = 0;
	if (link->listens) {
		link->reports_err = register_ask(link, IBSA_CLASS_VERSION,
						 1 << IBSA_METHOD_REPORT);
		return;
	}
	link->has_reports = false;
	(void)!ibsa__control_ask(&link->control, link->connection.fd,
				 REMOTE_UNREGISTER, &agent, sizeof(agent));
}

/* One look for the answer to what was asked. *@out_is_idle: it came. */
static int answer_look(struct remote_link *link, bool *out_is_idle)
{
	int err;

	pthread_mutex_lock(&link->renewing);
	err = ibsa__away_hear(link);
	*out_is_idle = link->control.asked == CONTROL_IDLE;
	pthread_mutex_unlock(&link->renewing);
	return err;
}

/* Give the server a moment for its answer. Return: 0, also without; -ENODEV. */
static int answer_await(struct remote_link *link)
{
	struct pollfd end = { .fd = link->connection.fd, .events = POLLIN };
	const uint64_t start_ns = clock_now_ns();
	bool is_idle = false;
	int err = 0;
	int left;

	do {
		left = clock_left_ms(ANSWER_MS, start_ns);
		err = answer_look(link, &is_idle);
	} while (!err && !is_idle && left && poll(&end, 1, left));
	return err;
}

/* Ask for Reports, or for none. *@out_err: why the last request for them
 * failed, 0 if none did. */
static int listen_ask(struct remote_link *link, bool on, int *out_err)
{
	int err;

	pthread_mutex_lock(&link->renewing);
	err = ibsa__away_hear(link);
	*out_err = link->reports_err;
	link->listens = on;
	if (!err)
		ibsa__away_reports_ask(link);
	pthread_mutex_unlock(&link->renewing);
	return err;
}

/*
 * Without the server's answer the Reports are taken as granted: a later call
 * returns the answer, whatever it is.
 */
static int listen_begin(struct remote_link *link)
{
	const bool listened = link->listens;
	int result;
	int err = listen_ask(link, true, &result);

	if (!err && !listened) {
		err = answer_await(link);
		result = link->reports_err;
	}
	if (err)
		return ibsa__away_lose(link);
	if (link->has_reports)
		return 0;
	if (result && !listened)
		link->listens = false;
	return result;
}

/* Until the server has answered, it refuses the Reports to other clients. */
static void listen_end(struct remote_link *link)
{
	int last;

	link->listens = false;
	/* Should the server have gone, recv says so. */
	if (link->data >= 0 && !listen_ask(link, false, &last))
		(void)!answer_await(link);
}

int ibsa__away_listen(struct ibsa_transport *transport, bool on)
{
	struct remote_link *link = link_of(transport);

	if (on)
		return link->data >= 0 ? listen_begin(link) : -ENODEV;
	listen_end(link);
	return 0;
}

static bool holder(struct ibsa_transport *transport, struct ibsa_error *out)
{
	struct remote_link *link = link_of(transport);
	bool is_known;

	pthread_mutex_lock(&link->renewing);
	is_known = link->reports_refusal.text[0];
	if (is_known)
		*out = link->reports_refusal;
	pthread_mutex_unlock(&link->renewing);
	return is_known;
}

/* Take up the connection that has been made. The state comes last: from then on
 * there are events. */
static int take_up(struct remote_link *link, struct ibsa_error *error)
{
	uint8_t *state = ibsa__calloc(1, REMOTE_BODY_MAX);
	struct remote_question watch = {
		.type = REMOTE_WATCH,
		.answer = state,
		.room = REMOTE_BODY_MAX,
	};
	int err = state ? agent_register(&link->connection, &link->agent)
			: -ENOMEM;

	ibsa__control_reset(&link->control);
	if (!err)
		err = ibsa__remote_ask(&link->connection, &watch, error);
	if (!err)
		err = ibsa__control_state_set(&link->control, state,
					      watch.answered);
	ibsa__free(state);
	return err;
}

/* Wait for the answer, whatever else comes meanwhile. */
static int opa_await(struct remote_link *link, struct ibsa_error *error)
{
	struct pollfd end = { .fd = link->connection.fd, .events = POLLIN };
	const int patience_ms = (int)link->connection.patience_ms;
	const uint64_t start_ns = clock_now_ns();
	int err = 0;

	while (!err && link->asks_opa) {
		const int left_ms = clock_left_ms(patience_ms, start_ns);

		if (!left_ms)
			return ibsa__fail(error, -ETIMEDOUT,
					  "the fabric server does not answer");
		if (poll(&end, 1, left_ms) > 0)
			err = ibsa__away_hear(link);
	}
	return err;
}

/* On Omni-Path, an agent for MADs of its class version. */
static int opa_take_up(struct remote_link *link, struct ibsa_error *error)
{
	struct ibsa_port_state state;
	int err;

	ibsa__control_port(&link->control, &state);
	link->counted = state.reregisters;
	link->is_opa = false;
	link->asks_opa = state.link == IBSA_LINK_OPA;
	if (!link->asks_opa)
		return 0;
	err = register_ask(link, IBSA_CLASS_VERSION_OPA, 0);
	return err ? err : opa_await(link, error);
}

int ibsa__away_up(struct remote_link *link, struct ibsa_error *error)
{
	int err = ibsa__remote_attach(&link->connection, error, &link->data);

	if (!err)
		err = take_up(link, error);
	if (!err)
		err = opa_take_up(link, error);
	if (!err)
		err = ibsa__away_watch(link);
	if (!err)
		return 0;
	if (link->data >= 0)
		close(link->data);
	link->data = -1;
	ibsa__remote_disconnect(&link->connection);
	return err;
}

/* A umad file of a fabric server is one of the kernel in this, too. */
static bool holds(struct ibsa_transport *transport)
{
	(void)transport;
	return true;
}

static void link_free(struct remote_link *link)
{
	ibsa__away_wait_done(link);
	pthread_mutex_destroy(&link->renewing);
	ibsa__free(link->inbox.bytes);
	ibsa__control_free(&link->control);
	ibsa__free(link);
}

static void file_detach(struct remote_link *link)
{
	/* One question at a time. */
	if (!answer_await(link) &&
	    !ibsa__control_ask(&link->control, link->connection.fd,
			       REMOTE_DETACH, NULL, 0))
		(void)!answer_await(link);
}

static void transport_close(struct ibsa_transport *transport)
{
	struct remote_link *link = link_of(transport);

	if (link->data >= 0) {
		/* The agents' methods are free for others once this returns. */
		if (link->has_reports)
			file_detach(link);
		close(link->data);
		ibsa__remote_disconnect(&link->connection);
	}
	ibsa__away_renew_end(link);
	link_free(link);
}

/* In a forked child: the locks may be held by threads that it has not. */
static void inherited(struct ibsa_transport *transport)
{
	const struct remote_link *link = link_of(transport);
	const int fds[] = { link->data, link->connection.fd, link->epoll_fd,
			    link->timer_fd, link->wake_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static const struct ibsa_transport_ops ops = {
	.now_ns = now_ns,
	.send = ibsa__away_send,
	.holds = holds,
	.recv = ibsa__away_recv,
	.fd = ibsa__away_fd,
	.wait = ibsa__away_wait,
	.wake = ibsa__away_wake,
	.port = port_get,
	.changed = changed,
	.gid = gid_get,
	.pkey = pkey_get,
	.listen = ibsa__away_listen,
	.holder = holder,
	.inherited = inherited,
	.close = transport_close,
};

static struct remote_link *link_new(size_t reply_bytes)
{
	struct remote_link *link = ibsa__calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->base.ops = &ops;
	ibsa__control_init(&link->control);
	link->data = -1;
	link->connection.fd = -1;
	link->epoll_fd = -1;
	link->timer_fd = -1;
	link->wake_fd = -1;
	pthread_mutex_init(&link->renewing, NULL);
	if (reply_bytes > REMOTE_PACKET_MAX - UMAD_HEADER_BYTES)
		reply_bytes = REMOTE_PACKET_MAX - UMAD_HEADER_BYTES;
	link->inbox.room = INBOX_BYTES;
	link->inbox.most = reply_bytes + UMAD_HEADER_BYTES;
	link->inbox.bytes = ibsa__calloc(1, link->inbox.room);
	if (!link->inbox.bytes) {
		link_free(link);
		return NULL;
	}
	return link;
}

int ibsa__remote_open(struct remote_place *place, size_t reply_bytes,
		      struct ibsa_error *error, struct ibsa_transport **out)
{
	struct remote_link *link = link_new(reply_bytes);
	int err;

	if (!link)
		return ibsa__fail(error, -ENOMEM, "no memory for a transport");
	link->place = *place;
	err = ibsa__away_wait_init(link);
	if (err)
		ibsa__fail(error, err, "no descriptors to wait with");
	else
		err = ibsa__remote_connect(&link->connection, &link->place,
					   error);
	if (!err)
		err = ibsa__away_up(link, error);
	if (err) {
		link_free(link);
		return err;
	}
	*place = link->place;
	*out = &link->base;
	return 0;
}
