/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program that is compiled with changed headers; see sizes.py. */
#include <unistd.h>

#include <ibsa/device.h>
#include <ibsa/event.h>
#include <ibsa/server.h>
#include <ibsa/reach.h>
#include <ibsa/ib_sa.h>
#include <ibsa/responder.h>
#include <ibsa/service.h>
#include <ibsa/fabric.h>
#include <ibsa/verbs.h>

#include "sizes.h"

/* What the test uses. */
static struct ibsa_fabric *fabric;
static struct ibsa_client *client;

/* A transport of the program, around one of the library. */
struct wrapped {
	struct ibsa_transport base;
	struct ibsa_transport *inner;
	bool closed;
};

static struct ibsa_transport *inner(struct ibsa_transport *transport)
{
	return ((struct wrapped *)(void *)transport)->inner;
}

static uint64_t wrapped_now_ns(struct ibsa_transport *transport)
{
	return inner(transport)->ops->now_ns(inner(transport));
}

static int wrapped_send(struct ibsa_transport *transport,
			const struct ibsa_address *to, const uint8_t *mad,
			size_t len, unsigned int timeout_ms)
{
	return inner(transport)->ops->send(inner(transport), to, mad, len,
					   timeout_ms);
}

static int wrapped_recv(struct ibsa_transport *transport,
			struct ibsa_message *out)
{
	return inner(transport)->ops->recv(inner(transport), out);
}

static int wrapped_fd(struct ibsa_transport *transport)
{
	return inner(transport)->ops->fd(inner(transport));
}

static int wrapped_wait(struct ibsa_transport *transport, int timeout_ms)
{
	return inner(transport)->ops->wait(inner(transport), timeout_ms);
}

static void wrapped_wake(struct ibsa_transport *transport)
{
	inner(transport)->ops->wake(inner(transport));
}

/* Copies through the program's own struct. */
static int wrapped_port(struct ibsa_transport *transport,
			struct ibsa_port_state *out, size_t size)
{
	struct ibsa_port_state own = { .lid = 0 };
	const int err = inner(transport)->ops->port(inner(transport), &own,
						    sizeof(own));

	CHECK(IS_ZERO(own));
	if (!err)
		memcpy(out, &own, size < sizeof(own) ? size : sizeof(own));
	return err;
}

static void wrapped_close(struct ibsa_transport *transport)
{
	struct wrapped *wrapped = (struct wrapped *)(void *)transport;

	wrapped->inner->ops->close(wrapped->inner);
	wrapped->closed = true;
}

#ifdef LARGER
static int wrapped_new_operation(struct ibsa_transport *transport)
{
	(void)transport;
	abort();
}
#endif

/* A table of operations may be shorter, or have an unknown one at its end. */
static void test_transport(void)
{
	struct ibsa_transport_ops ops = {
		.size = sizeof(ops),
		.now_ns = wrapped_now_ns,
		.send = wrapped_send,
		.recv = wrapped_recv,
		.fd = wrapped_fd,
		.wait = wrapped_wait,
		.wake = wrapped_wake,
		.port = wrapped_port,
		.close = wrapped_close,
	};
	struct wrapped wrapped = { .base = { &ops } };
	const struct ibsa_options options = { .transport = &wrapped.base };
	const struct ibsa_gid zero = { { 0 } };
	ROOM(struct ibsa_port_state) port;
	struct ibsa_client *own;

	CHECK(!ibsa_fabric_attach(fabric, "node2", 0, &wrapped.inner));
#ifdef LARGER
	ops.new_operation = wrapped_new_operation;
	CHECK(ibsa_open(&options, NULL, &own) == -E2BIG);
	ops.new_operation = NULL;
#endif
	CHECK(!ibsa_open(&options, NULL, &own));
	FILL(port, CHECK(!ibsa_port_get(own, true, &port.out)));
	CHECK(port.out.lid && memcmp(&port.out.gid, &zero, sizeof(zero)));
	CHECK(!ibsa_close(own) && wrapped.closed);
}

static void test_fabric(const char *path)
{
	struct ibsa_fabric_options options = { .seed = 7 };
	struct ibsa_fault fault = { .kind = IBSA_FAULT_DELAY, .percent = 0 };
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_SM_SL,
						  .sm_sl = 0 };
	ROOM(struct ibsa_fabric_info) info;
	ROOM(struct ibsa_fabric_stats) stats;
	ROOM(struct ibsa_fabric_node) node;
	ROOM(struct ibsa_fabric_end) end;
	ROOM(struct ibsa_fault) parsed;
	struct {
		struct ibsa_fabric_port out;
		unsigned char guard[GUARD];
	} port;

	CALL_WITH(options, ibsa_fabric_load(path, &options, NULL, &fabric));
	CALL_WITH(fault, ibsa_fabric_fault(fabric, &fault));
	CALL_WITH(change, ibsa_fabric_port_set(fabric, "node2", 0, &change));
	FILL(info, ibsa_fabric_info_get(fabric, &info.out));
	CHECK(info.out.nodes == 6 && info.out.adapters == 4);
	FILL(stats, ibsa_fabric_stats_get(fabric, &stats.out));
	FILL(node, CHECK(!ibsa_fabric_node_at(fabric, 0, &node.out)));
	CHECK(node.out.guid == 0x2c90300a0010);
	FILL(end, CHECK(!ibsa_fabric_end_at(fabric, 0, 1, &end.out)));
	CHECK(end.out.has_cable && end.out.is_up);
	FILL(parsed, CHECK(!ibsa_fault_parse("lose=2,3", &parsed.out, NULL)));
	CHECK(parsed.out.kind == IBSA_FAULT_LOSE && parsed.out.count == 3);
	memset(&port, 0xa5, sizeof(port));
	CHECK(!ibsa_fabric_port_at(fabric, 1, &port.out));
	CHECK(guard_is_intact(port.guard) && IS_ZERO(port.out.state));
	CHECK(!strcmp(port.out.node, "node2") && port.out.state.lid);
}

/* What the library hands out. */
static void mad_count(const struct ibsa_mad *mad, void *arg)
{
	*(unsigned int *)arg += mad->bytes && mad->len && mad->peer.lid;
}

static void packet_count(const struct ibsa_packet *packet, void *arg)
{
	*(unsigned int *)arg += packet->bytes && packet->time_ns;
}

static void reply_count(const struct ibsa_reply *reply, void *arg)
{
	*(unsigned int *)arg += !reply->err && reply->count;
}

static void test_client(void)
{
	struct ibsa_options options = { .on = fabric, .device = "node1" };
	struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	ROOM(struct ibsa_stats) stats;
	ROOM(struct ibsa_port_state) port;
	unsigned int replies = 0, mads = 0, packets = 0;
	struct ibsa_node node;

	CALL_WITH(options, ibsa_open(&options, NULL, &client));
	ibsa_tap(client, mad_count, &mads);
	CHECK(!ibsa_fabric_tap(fabric, packet_count, &packets));
	CALL_WITH(query, ibsa_query_start(client, &query, reply_count, &replies,
					  NULL));
	while (!replies)
		CHECK(!ibsa_wait(client, -1));
	CALL_WITH(query,
		  ibsa_query_wait(client, &query, reply_count, &replies));
	CHECK(replies == 2);
	CHECK(mads >= 4 && packets >= 4);
	ibsa_tap(client, NULL, NULL);
	CHECK(!ibsa_fabric_tap(fabric, NULL, NULL));
	FILL(stats, ibsa_stats_get(client, &stats.out));
	CHECK(stats.out.queries == 2 && stats.out.replies == 2);
	FILL(port, CHECK(!ibsa_port_get(client, false, &port.out)));
	CHECK(port.out.lid && port.out.sm_lid &&
	      port.out.port_state == IBSA_PORT_ACTIVE);
	node.lid = (uint16_t)port.out.lid;
	query = IBSA_QUERY(node, &node, IBSA_NODE_CM(lid));
	node = (struct ibsa_node){ .lid = node.lid };
	CALL_WITH(query,
		  ibsa_query_one(client, &query, NULL, &node, sizeof(node)));
	CHECK(!strcmp(node.node_description, "node1"));
}

static void test_path(struct ibsa_gid *to)
{
	struct ibsa_path_options path_options = { .mask = 0 };
	struct ibsa_reach_options options = { .timeout_ms = 2000 };
	struct ibsa_gid nobody = *to;
	struct ibsa_query query;
	ROOM(struct ibsa_reach_answer) answer;
	ROOM(struct ibsa_reason) reason;
	struct ibsa_path path;

	CALL_WITH(path_options,
		  ibsa_path_wait(client, &path_options, to, NULL, &path));
	CHECK(!memcmp(&path.dgid, to, sizeof(*to)));
	nobody.raw[15] ^= 0x55;
#ifdef LARGER
	options.new_member = 1;
	CHECK(ibsa_reach_wait(client, &options, to, &answer.out) == -E2BIG);
	options.new_member = 0;
#endif
	FILL(answer,
	     CHECK(!ibsa_reach_wait(client, &options, to, &answer.out)));
	CHECK(answer.out.reach == IBSA_REACH_YES && answer.out.tries == 1);
	path.dgid = nobody;
	query = IBSA_QUERY(path, &path,
			   IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid));
	FILL(reason, CHECK(!ibsa_reason_wait(client, &query, &reason.out)));
	CHECK(reason.out.code == IBSA_REASON_UNKNOWN_PORT);
}

static void reach_note(const struct ibsa_reach_answer *answer, void *arg)
{
	*(unsigned int *)arg += answer->reach == IBSA_REACH_YES;
}

static void test_batch(const struct ibsa_gid *to)
{
	struct ibsa_reach_options options = { .timeout_ms = 2000 };
	unsigned int reached = 0;

	CALL_WITH(options, ibsa_reach_start(client, &options, to, 1, reach_note,
					    &reached, NULL));
	while (!reached)
		CHECK(!ibsa_wait(client, -1));
}

static void registration_note(const struct ibsa_registration_report *report,
			      void *arg)
{
	*(bool *)arg |= report->event == IBSA_REGISTRATION_REGISTERED;
}

static void event_note(const struct ibsa_event *event, void *arg)
{
	*(bool *)arg |= event->kind == IBSA_EVENT_SUBSCRIBED;
}

static void test_registrations(void)
{
	const struct ibsa_service service = { .service_id = 0x1234 };
	struct ibsa_service_options options = { .service = &service };
	struct ibsa_event_options watch = { .kinds = IBSA_EVENT_GID_OUT };
	struct ibsa_registration *registration;
	struct ibsa_event_watch *events;
	static bool registered, subscribed; /* set until the client closes */

	CALL_WITH(options,
		  ibsa_service_register(client, &options, registration_note,
					&registered, &registration));
	CALL_WITH(watch, ibsa_event_watch_start(client, &watch, event_note,
						&subscribed, NULL, &events));
	while (!registered || !subscribed)
		CHECK(!ibsa_wait(client, -1));
	ibsa_event_watch_stop(events);
}

static void port_info_take(const struct ibsa_reply *reply, void *arg)
{
	ROOM(struct ibsa_port_info) info;
	struct ibsa_node other;
	uint8_t wire[128] = { 0 };

	CHECK(reply->count == 1);
	memset(&info, 0xa5, sizeof(info));
	CHECK(!IBSA_DECODE(port_info, reply, 0, &info.out));
	CHECK(IBSA_DECODE(node, reply, 0, &other) == -EINVAL);
	CHECK(guard_is_intact(info.guard));
	CHECK(info.out.endport_lid == *(uint16_t *)arg);
	CHECK(info.out.port_state == IBSA_PORT_ACTIVE);
	CHECK(info.out.link_width_active == 2);
#ifdef LARGER
	CHECK(info.out.new_member == 0);
	info.out.new_member = 1;
	CHECK(ibsa_record_encode(&ibsa_port_info_record, &info.out,
				 sizeof(info.out), wire,
				 sizeof(wire)) == -E2BIG);
	info.out.new_member = 0;
#endif
	CHECK(!ibsa_record_encode(&ibsa_port_info_record, &info.out,
				  sizeof(info.out), wire, sizeof(wire)));
	CHECK(!memcmp(wire, ibsa_reply_at(reply, 0), 32));
	*(uint16_t *)arg = 0;
}

/* A record that will get fields: PortInfo. */
static void test_port_info(void)
{
	struct ibsa_port_state port;
	struct ibsa_port_info match = { .options = 0x80 };
	struct ibsa_query query;
	struct ibsa_error error;
	uint16_t lid;

	CHECK(!ibsa_port_get(client, false, &port));
	lid = (uint16_t)port.lid;
	match.endport_lid = lid;
	query = IBSA_QUERY(port_info, &match,
			   IBSA_PORT_INFO_CM(endport_lid) |
				   IBSA_PORT_INFO_CM(options));
#ifdef LARGER
	match.new_member = 1;
	CHECK(ibsa_query_wait(client, &query, NULL, NULL) == -E2BIG);
	match.new_member = 0;
#endif
	CHECK(!ibsa_query_wait(client, &query, port_info_take, &lid));
	CHECK(lid == 0);
	/* A mask cannot select by a field that the match lacks. */
	query.match_size = offsetof(struct ibsa_port_info, options);
	CHECK(ibsa_query_wait(client, &query, NULL, NULL) == -EINVAL);
	CHECK(ibsa_query_one(client, &query, &error, &match, sizeof(match)) ==
	      -EINVAL);
	CHECK(strstr(error.text, "not within match_size"));
	/* Without a size, a match has that of the first release. */
	query.match_size = 0;
	lid = (uint16_t)port.lid;
#ifndef SMALLER
	CHECK(!ibsa_query_wait(client, &query, port_info_take, &lid));
#endif
}

/* An array of structs that the library hands out. */
static void test_devices(void)
{
	ROOM(struct ibsa_port_access) access;
	struct ibsa_device_list *list;

	CHECK(!ibsa_devices_read(&list));
	CHECK(list->count == 2);
	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);
		const struct ibsa_port *port;

		CHECK(!strncmp(device->name, "mlx", 3) && device->port_count);
		for (size_t k = 0; k < device->port_count; k++) {
			port = ibsa_device_port_at(device, k);
			CHECK(port->number == k + 1 && !port->err);
			CHECK(!strcmp(port->link_layer, "InfiniBand"));
			CHECK(port->state->port_state);
			FILL(access,
			     CHECK(!ibsa_port_access_get(port, &access.out)));
			CHECK(access.out.umad.path[0]);
		}
	}
	ibsa_devices_free(list);
}

/* The functions with other names. */
static void test_compat(void)
{
	struct ibsa_ib_device_options options = { .on = fabric };
	struct ibsa_options open = { .on = fabric };
	struct ibsa_verbs_options attach = { .audit_ms = 60000 };
	struct ibsa_event_options watch = { .kinds = IBSA_EVENT_GID_OUT };
	struct ib_sa_client own = { .users = 0 };
	bool subscribed = false;
	struct ibv_context *context;
	struct ib_device *device;

	ib_sa_register_client(&own);
	CALL_WITH(options, ibsa_ib_device_open(&options, NULL, &device));
	CALL_WITH(watch,
		  ibsa_device_watch_start(&own, device, 1, &watch, event_note,
					  &subscribed, NULL));
	ib_sa_unregister_client(&own);
	ibsa_ib_device_put(device);
	CALL_WITH(open, ibsa_verbs_open(&open, NULL, &context));
	CALL_WITH(attach, ibsa_verbs_attach(context, &attach));
	CHECK(!ibsa_verbs_close(context));
}

static void test_server(void)
{
	struct ibsa_fabric_server_options options = { .connections = 8 };
	ROOM(struct ibsa_fabric_server_stats) stats;
	struct ibsa_fabric_server *server;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/ibsa-sizes-%d", (int)getpid());
	CALL_WITH(options, ibsa_fabric_server_open(fabric, path, &options, NULL,
						   &server));
	FILL(stats, ibsa_fabric_server_stats_get(server, &stats.out));
	CHECK(stats.out.accepted == 0);
	ibsa_fabric_server_close(server);
}

/* There is no such device; test responder-request has the struct of results. */
static void test_responder(void)
{
	struct ibsa_responder_options options = { .device = "none" };
	struct ibsa_responder *responder;

	CALL_FOR(options, -ENODEV,
		 ibsa_responder_open(fabric, &options, NULL, &responder));
}

int main(int argc, char **argv)
{
	struct ibsa_gid to;

	CHECK(argc == 2);
	test_fabric(argv[1]);
	test_client();
	test_hosts(client, &to);
	test_path(&to);
	test_batch(&to);
	test_port_info();
	test_topology(client);
	test_registrations();
	CHECK(!ibsa_close(client));
	test_transport();
	test_server();
	test_responder();
	test_devices();
	test_compat();
	ibsa_fabric_put(fabric);
	return 0;
}
