/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A port at a fabric server as a transport: opening, asking, closing. */
#include <errno.h>
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

static uint64_t now_ns(struct ibsa_transport *transport)
{
	(void)transport;
	return clock_now_ns();
}

/* Ask for an answer of exactly @room bytes. */
static int ask(struct remote_link *link, uint32_t type, const void *body,
	       size_t len, void *answer, size_t room)
{
	struct remote_question question = {
		.type = type,
		.body = body,
		.len = len,
		.answer = answer,
		.room = room,
	};
	int err = -ENODEV;

	pthread_mutex_lock(&link->renewing);
	if (link->data >= 0)
		err = ibsa__remote_ask(&link->connection, &question, NULL);
	pthread_mutex_unlock(&link->renewing);
	if (!err && question.answered != room)
		return -EPROTO;
	return err;
}

/* What a server counts begins anew with each; what is shown never goes back. */
static uint32_t count_reregisters(struct remote_link *link, uint32_t now)
{
	link->reregisters += now - link->counted;
	link->counted = now;
	return link->reregisters;
}

static int port_get(struct ibsa_transport *transport,
		    struct ibsa_port_state *out)
{
	struct remote_link *link = link_of(transport);
	struct remote_port port;
	int err = ibsa__away_have(link);

	if (!err)
		err = ask(link, REMOTE_PORT, NULL, 0, &port, sizeof(port));
	if (err)
		return err;
	*out = (struct ibsa_port_state){
		.lid = port.lid,
		.sm_lid = port.sm_lid,
		.pkey_index = port.pkey_index,
		.sm_sl = port.sm_sl,
		.lmc = port.lmc,
		.port_state = port.port_state,
		.phys_state = port.phys_state,
		.link = port.link,
		.port_num = port.port_num,
		.needs_grh = port.needs_grh,
		.reregisters = count_reregisters(link, port.reregisters),
	};
	memcpy(out->gid.raw, port.gid, sizeof(out->gid.raw));
	return 0;
}

static bool changed(struct ibsa_transport *transport)
{
	struct remote_link *link = link_of(transport);
	const bool is_quiet = link->is_quiet;
	bool is_changed = link->is_renewed;

	link->is_quiet = false;
	link->is_renewed = false;
	if (link->data >= 0 &&
	    ibsa__remote_changed(&link->connection, is_quiet))
		is_changed = true;
	/* An end of the connection that this was the first to see. */
	if (link->data >= 0 && link->connection.fd < 0) {
		ibsa__away_lose(link);
		is_changed = true;
	}
	return is_changed;
}

static int gid_get(struct ibsa_transport *transport, uint32_t index,
		   struct ibsa_gid_entry *out)
{
	return ask(link_of(transport), REMOTE_GID, &index, sizeof(index), out,
		   sizeof(*out));
}

static int pkey_get(struct ibsa_transport *transport, uint32_t index,
		    uint16_t *out)
{
	return ask(link_of(transport), REMOTE_PKEY, &index, sizeof(index), out,
		   sizeof(*out));
}

static int agent_register(struct remote_connection *connection,
			  uint8_t class_version, uint64_t methods,
			  uint32_t *out)
{
	struct umad_agent_request2 request = {
		.qpn = IBSA_QPN_GSI,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = class_version,
		.method_mask = { methods },
		.rmpp_version = 1,
	};
	int err = ibsa__remote_register(connection, &request);

	if (!err)
		*out = request.id;
	return err;
}

int ibsa__away_listen(struct ibsa_transport *transport, bool on)
{
	struct remote_link *link = link_of(transport);
	int err = 0;

	if (link->data >= 0 && on && !link->has_reports) {
		err = agent_register(&link->connection, IBSA_CLASS_VERSION,
				     1 << IBSA_METHOD_REPORT,
				     &link->report_agent);
		link->has_reports = !err;
	} else if (link->data >= 0 && !on && link->has_reports) {
		err = ibsa__remote_unregister(&link->connection,
					      link->report_agent);
		link->has_reports = false;
	} else if (link->data < 0 && on) {
		err = -ENODEV;
	}
	if (err == -EINVAL || err == -EPERM)
		err = -EBUSY;
	if (!err || !on)
		link->listens = on;
	return err;
}

/* Take up the connection that has been made. */
static int take_up(struct remote_link *link, struct ibsa_error *error)
{
	struct remote_port state;
	struct remote_question watch = {
		.type = REMOTE_WATCH,
		.answer = &state,
		.room = sizeof(state),
	};
	int err = ibsa__remote_ask(&link->connection, &watch, error);

	if (!err && watch.answered != sizeof(state))
		err = -EPROTO;
	if (!err)
		err = agent_register(&link->connection, IBSA_CLASS_VERSION, 0,
				     &link->agent);
	if (err)
		return err;
	link->is_opa = state.link == IBSA_LINK_OPA;
	link->counted = state.reregisters;
	if (link->is_opa)
		err = agent_register(&link->connection, IBSA_CLASS_VERSION_OPA,
				     0, &link->opa_agent);
	return err;
}

int ibsa__away_up(struct remote_link *link, struct ibsa_error *error)
{
	int err = ibsa__remote_connect(&link->connection, &link->place, error);

	if (err)
		return err;
	err = ibsa__remote_attach(&link->connection, error, &link->data);
	if (err)
		goto disconnect;
	err = take_up(link, error);
	if (!err)
		err = ibsa__away_watch(link);
	if (!err)
		return 0;
	close(link->data);
	link->data = -1;
disconnect:
	ibsa__remote_disconnect(&link->connection);
	return err;
}

static void link_free(struct remote_link *link)
{
	ibsa__away_wait_done(link);
	pthread_mutex_destroy(&link->renewing);
	ibsa__free(link->inbox.bytes);
	ibsa__free(link);
}

static void transport_close(struct ibsa_transport *transport)
{
	struct remote_link *link = link_of(transport);

	if (link->data >= 0) {
		/* Nobody else is kept from what only these agents have. */
		if (link->has_reports)
			ibsa__remote_detach(&link->connection);
		close(link->data);
		ibsa__remote_disconnect(&link->connection);
	}
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
	.recv = ibsa__away_recv,
	.fd = ibsa__away_fd,
	.wait = ibsa__away_wait,
	.wake = ibsa__away_wake,
	.port = port_get,
	.changed = changed,
	.gid = gid_get,
	.pkey = pkey_get,
	.listen = ibsa__away_listen,
	.inherited = inherited,
	.close = transport_close,
};

static struct remote_link *link_new(size_t reply_bytes)
{
	struct remote_link *link = ibsa__calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->base.ops = &ops;
	link->data = -1;
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
		err = ibsa__away_up(link, error);
	if (err) {
		link_free(link);
		return err;
	}
	*place = link->place;
	*out = &link->base;
	return 0;
}
