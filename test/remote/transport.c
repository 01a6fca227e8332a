/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients on a fabric in another process. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibsa/types.h>
#include <ibsa/device.h>
#include <ibsa/event.h>
#include <ibsa/ib_sa.h>
#include <ibsa/records.h>
#include <ibsa/fabric.h>
#include <ibsa/verbs.h>

#include "base/clock.h"
#include "remote/file.h"
#include "remote/transport.h"
#include "fabric/mad/mad.h"
#include "../support/server_rig.h"
#include "wire/mad.h"

struct table {
	size_t count;
	int err;
	size_t calls;
};

static void note_table(const struct ibsa_reply *reply, void *arg)
{
	struct table *table = arg;

	table->count = reply->count;
	table->err = reply->err;
	table->calls++;
}

static void a_client_is_answered(void **state)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, "right");
	struct ibsa_port_state port;
	struct table table = { 0 };

	(void)state;
	assert_int_equal(ibsa_query_wait(client, &query, note_table, &table),
			 0);
	assert_int_equal(table.count, 3);
	assert_int_equal(ibsa_port_get(client, true, &port), 0);
	assert_int_equal(port.lid, 2);
	assert_int_equal(port.sm_lid, 1);
	assert_int_equal(port.port_state, 4);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

/* The program polls and dispatches by itself. */
static void an_own_loop_works(void **state)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record
	};
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, NULL);
	struct pollfd fd = { .fd = ibsa_fd(client), .events = POLLIN };
	struct table table = { 0 };

	(void)state;
	assert_int_equal(
		ibsa_query_start(client, &query, note_table, &table, NULL), 0);
	while (!table.calls) {
		assert_int_equal(poll(&fd, 1, ibsa_timeout_ms(client)), 1);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
	assert_int_equal(table.err, 0);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

/* The descriptor is created only when the program asks for it. */
static void fd_of_a_waiting_reply_is_readable(void **state)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record
	};
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, NULL);
	struct pollfd fd = { .events = POLLIN };
	struct table table = { 0 };

	(void)state;
	assert_int_equal(ibsa_query_wait(client, &query, note_table, &table),
			 0);
	assert_int_equal(
		ibsa_query_start(client, &query, note_table, &table, NULL), 0);
	poll(NULL, 0, 100);
	fd.fd = ibsa_fd(client);
	while (table.calls < 2) {
		assert_int_equal(poll(&fd, 1, 10000), 1);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

static void tables_of_a_port_are_read(void **state)
{
	static const uint16_t pkeys[] = { 0xffff, 0x8001 };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = pkeys,
		.pkey_count = 2,
	};
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *transport = server_transport(server, "right");
	struct pollfd fd = { .fd = transport->ops->fd(transport),
			     .events = POLLIN };
	struct ibsa_gid_entry gid;
	uint16_t pkey;

	(void)state;
	assert_int_equal(ibsa_fabric_port_set(server_fabric(server), "right", 1,
					      &change),
			 0);
	server_wake(server);
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(transport->ops->pkey(transport, 1, &pkey), 0);
	/*
	 * The change must still be reported, although pkey() has already read
	 * it.
	 */
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_true(transport->ops->changed(transport));
	assert_false(transport->ops->changed(transport));
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(pkey, 0x8001);
	assert_int_equal(transport->ops->pkey(transport, 2, &pkey), -EINVAL);
	assert_int_equal(transport->ops->gid(transport, 0, &gid), 0);
	assert_int_equal(gid.gid.raw[0], 0xfe);
	assert_int_equal(transport->ops->gid(transport, 1, &gid), -ENODATA);
	assert_int_equal(transport->ops->gid(transport, 1000, &gid), -EINVAL);
	transport->ops->close(transport);
	server_stop(server);
}

/*
 * When the server has ended, a socket at its path listens but accepts no
 * connection: calls still return soon.
 */
static void a_silent_server_does_not_block_calls(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *transport = server_transport(server, "right");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const uint64_t start_ns = clock_now_ns();
	struct ibsa_port_state port;

	(void)state;
	strcpy(address.sun_path, server_path(server));
	server_end(server);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	assert_int_equal(listen(fd, 1), 0);
	for (int i = 0; i < 30; i++, poll(NULL, 0, 10))
		assert_int_equal(transport->ops->port(transport, &port,
						      sizeof(port)),
				 -ENODEV);
	assert_true(clock_now_ns() - start_ns < 5000 * NS_PER_MS);
	close(fd);
	unlink(address.sun_path);
	server_restart(server);
	for (int i = 0;
	     i < 1000 && transport->ops->port(transport, &port, sizeof(port));
	     i++)
		poll(NULL, 0, 10);
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	transport->ops->close(transport);
	server_stop(server);
}

static void changes_wake_the_client(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *transport = server_transport(server, "right");
	struct pollfd fd = { .fd = transport->ops->fd(transport),
			     .events = POLLIN };
	struct ibsa_port_state port;

	(void)state;
	assert_false(transport->ops->changed(transport));
	server_command(server, "link down right/1");
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_true(transport->ops->changed(transport));
	assert_false(transport->ops->changed(transport));
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_int_equal(port.port_state, 1);
	transport->ops->close(transport);
	server_stop(server);
}

/* A wait that finds nothing hides neither an earlier change nor a later one. */
static void changes_around_a_wait_are_told(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *transport = server_transport(server, "right");
	struct pollfd fd = { .fd = transport->ops->fd(transport),
			     .events = POLLIN };
	struct ibsa_port_state port;

	(void)state;
	assert_int_equal(transport->ops->wait(transport, 0), 0);
	server_command(server, "link down right/1");
	assert_int_equal(poll(&fd, 1, 10000), 1);
	(void)transport->ops->changed(transport);
	assert_true(!poll(&fd, 1, 0) || transport->ops->changed(transport));
	server_command(server, "link up right/1");
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_int_equal(transport->ops->wait(transport, 0), 0);
	assert_true(transport->ops->changed(transport));
	transport->ops->close(transport);
	server_stop(server);
}

/*
 * A call that waits for an answer also reads the change that comes before it.
 */
static void changes_before_an_answer_are_told(void **state)
{
	const char *const lines[] = { "link up right/1", "link down right/1" };
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *transport = server_transport(server, "right");
	struct pollfd fd = { .fd = transport->ops->fd(transport),
			     .events = POLLIN };

	(void)state;
	for (int on = 1; on >= 0; on--) {
		server_command(server, lines[on]);
		assert_int_equal(poll(&fd, 1, 10000), 1);
		assert_int_equal(transport->ops->listen(transport, on), 0);
		assert_int_equal(poll(&fd, 1, 10000), 1);
		assert_true(transport->ops->changed(transport));
		assert_int_equal(poll(&fd, 1, 0), 0);
	}
	transport->ops->close(transport);
	server_stop(server);
}

/* Clients receive changes that the process of the server makes itself. */
static void changes_from_inside_are_told(void **state)
{
	const struct ibsa_fabric_port_change other_sl = {
		.mask = IBSA_CHANGE_SM_SL,
		.sm_sl = 3,
	};
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *transport = server_transport(server, "right");
	struct pollfd fd = { .fd = transport->ops->fd(transport),
			     .events = POLLIN };

	(void)state;
	assert_int_equal(ibsa_fabric_port_set(server_fabric(server), "right", 1,
					      &other_sl),
			 0);
	server_wake(server);
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_true(transport->ops->changed(transport));
	transport->ops->close(transport);
	server_stop(server);
}

struct smp {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* Send a Get or Set of PortInfo from the left host to the right host. */
static void send_smp(struct remote_file *file, uint32_t agent, uint8_t method,
		     struct smp *smp)
{
	static const uint8_t path[] = { 1, 2 };

	smp->header = (struct umad_header){
		.id = agent,
		.timeout_ms = 1000,
		.lid = 0xffff,
	};
	memset(smp->mad, 0, 64);
	smp->mad[MAD_BASE_VERSION] = 1;
	smp->mad[MAD_CLASS] = 0x81;
	smp->mad[MAD_CLASS_VERSION] = 1;
	smp->mad[MAD_METHOD] = method;
	smp->mad[SMP_HOP_COUNT] = sizeof(path);
	smp->mad[MAD_TID + 7] = method;
	ibsa_put_be16(smp->mad + MAD_ATTRIBUTE, 0x0015);
	memset(smp->mad + SMP_DR_SLID, 0xff, 4);
	memcpy(smp->mad + SMP_INITIAL_PATH + 1, path, sizeof(path));
	assert_int_equal(ibsa__remote_file_write(file, smp, sizeof(*smp)), 0);
}

/* Run @command, then set the SM's LID in the PortInfo of the right host. */
static void send_sm_lid(struct server_rig *server, const char *command,
			uint16_t lid)
{
	enum { PORT_INFO_AT = 64 - 4 };
	struct umad_agent_request2 request = {
		.mgmt_class = 0x81,
		.mgmt_class_version = 1,
	};
	struct pollfd fd = { .events = POLLIN };
	struct remote_file file;
	struct ibsa_port_info info;
	struct smp smp = { .mad = { 0 } };
	uint64_t over;

	assert_int_equal(server_file_open(server, "left", &file), 0);
	assert_int_equal(file.base.ops->register_agent2(&file.base, &request),
			 0);
	send_smp(&file, request.id, IBSA_METHOD_GET, &smp);
	fd.fd = file.shared->data.fd;
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(ibsa__remote_file_read(&file, &smp, sizeof(smp)),
			 sizeof(smp));
	ibsa_port_info_record.decode(smp.mad + PORT_INFO_AT, &info);
	info.master_sm_lid = lid;
	info.port_physical_state = 0;
	ibsa_port_info_record.encode(&info, smp.mad + PORT_INFO_AT, &over);
	server_command(server, command);
	send_smp(&file, request.id, IBSA_METHOD_SET, &smp);
	assert_int_equal(poll(&fd, 1, 10000), 1);
	ibsa__remote_file_close(&file);
}

/* A delayed MAD of the SM changes the SM's LID. */
static void late_changes_are_told(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *transport = server_transport(server, "right");
	struct pollfd fd = { .fd = transport->ops->fd(transport),
			     .events = POLLIN };

	(void)state;
	send_sm_lid(server, "fault delay=100,1,20", 7);
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_true(transport->ops->changed(transport));
	transport->ops->close(transport);
	server_stop(server);
}

static void count_event(const struct ibsa_event *event, void *arg)
{
	(void)event;
	++*(int *)arg;
}

static void check_events(struct server_rig *server, const char *node)
{
	struct ibsa_client *client = server_client(server, node);
	struct ibsa_event_watch *watch = NULL;
	int events = 0;
	int seen;

	assert_int_equal(ibsa_event_watch_start(client, NULL, count_event,
						&events, NULL, &watch),
			 0);
	for (int i = 0; i < 200 && !events; i++)
		assert_int_equal(ibsa_wait(client, 50), 0);
	seen = events;
	server_command(server, "link down third/1");
	for (int i = 0; i < 200 && events == seen; i++)
		assert_int_equal(ibsa_wait(client, 50), 0);
	assert_true(events > seen);
	ibsa_event_watch_stop(watch);
	assert_int_equal(ibsa_close(client), 0);
	server_command(server, "link up third/1");
}

/*
 * A client at the SA's own port ("left") receives the SA's Reports, as a client
 * at another port ("right") does.
 */
static void events_of_the_sm_come(void **state)
{
	struct server_rig *server = server_start(
		"Switch 4 \"S\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\n[3] \"H3\"[1]\n"
		"Ca 1 \"H1\" # \"left\"\n[1] \"S\"[1]\n"
		"Ca 1 \"H2\" # \"right\"\n[1] \"S\"[2]\n"
		"Ca 1 \"H3\" # \"third\"\n[1] \"S\"[3]\n");

	(void)state;
	check_events(server, "right");
	check_events(server, "left");
	server_stop(server);
}

/*
 * A client uses a server that returns, as it uses a device that was unplugged
 * and is plugged in again.
 */
static void a_server_that_returns_is_used_again(void **state)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct server_rig *server = server_start(server_pair);
	struct ibsa_transport *transport = server_transport(server, "right");
	struct ibsa_options options = { .transport = transport };
	struct ibsa_port_state before;
	struct ibsa_port_state after;
	struct ibsa_client *client;
	int err;

	(void)state;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_port_get(client, true, &before), 0);
	server_end(server);
	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), -ENODEV);
	assert_int_equal(ibsa_port_get(client, true, &after), -ENODEV);
	server_restart(server);
	do
		err = ibsa_wait(client, 100);
	while (!err && ibsa_port_get(client, true, &after) == -ENODEV);
	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), 0);
	assert_int_equal(after.lid, before.lid);
	assert_true(after.reregisters != before.reregisters);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

static int open_wrong(const char *fabric, const char *node, unsigned int port)
{
	const struct ibsa_options options = {
		.fabric = fabric,
		.device = node,
		.port = port,
	};
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client = NULL;
	int err = ibsa_open(&options, &error, &client);

	assert_true(err < 0);
	assert_true(error.text[0]);
	return err;
}

static void wrong_addresses_are_refused(void **state)
{
	struct server_rig *server = server_start(server_pair);
	char longest[200] = "unix:/";

	(void)state;
	memset(longest + 6, 'x', sizeof(longest) - 7);
	assert_int_equal(open_wrong(server_address(server), "nobody", 0),
			 -ENODEV);
	assert_int_equal(open_wrong(server_address(server), "left", 9), -ENXIO);
	assert_int_equal(open_wrong("unix:", NULL, 0), -EINVAL);
	assert_int_equal(open_wrong("unix:/nowhere", NULL, 0), -ENODEV);
	assert_int_equal(open_wrong(server_path(server), NULL, 0), -EINVAL);
	assert_int_equal(open_wrong(longest, NULL, 0), -ENAMETOOLONG);
	assert_int_equal(open_wrong(server_address(server), longest, 0),
			 -EINVAL);
	server_stop(server);
}

/* The device's port is the port of the node that IBSA_NODE names. */
static void wrong_nodes_and_ports_are_told_apart(void **state)
{
	static const struct {
		const char *node;
		int err;
	} cases[] = {
		{ "nobody", -ENODEV },
		{ "nobody/1", -ENODEV },
		{ "right/9", -ENXIO },
	};
	struct server_rig *server = server_start(server_pair);

	(void)state;
	setenv("IBSA_FABRIC", server_address(server), 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibsa_device_list *devices;
		struct ibsa_gid_list *gids;
		struct ib_device *device;

		setenv("IBSA_NODE", cases[i].node, 1);
		assert_int_equal(open_wrong(NULL, NULL, 0), cases[i].err);
		assert_int_equal(ibsa_devices_read(&devices), cases[i].err);
		assert_int_equal(ibsa_gids_read(NULL, 0, &gids), cases[i].err);
		assert_int_equal(ibsa_ib_device_get(NULL, &device),
				 cases[i].err);
	}
	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	server_stop(server);
}

/* The functions that read device files list the device of the fabric server. */
static void the_device_is_listed(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_device_list *list;
	const struct ibsa_port *port;

	(void)state;
	setenv("IBSA_FABRIC", server_address(server), 1);
	setenv("IBSA_NODE", "right/1", 1);
	assert_int_equal(ibsa_devices_read(&list), 0);
	assert_int_equal(list->count, 1);
	assert_string_equal(ibsa_device_at(list, 0)->name, "ibsa0");
	assert_int_equal(ibsa_device_at(list, 0)->err, 0);
	assert_int_equal(ibsa_device_at(list, 0)->port_count, 1);
	port = &ibsa_device_at(list, 0)->ports[0];
	assert_int_equal(port->err, 0);
	assert_int_equal(port->number, 1);
	assert_int_equal(port->state->lid, 2);
	assert_int_equal(port->state->port_state, 4);
	assert_int_equal(port->pkey_count, 1);
	assert_string_equal(port->umad, "umad0");
	assert_string_equal(port->link_layer, "InfiniBand");
	ibsa_devices_free(list);
	server_end(server);
	assert_true(ibsa_devices_read(&list) < 0);
	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	server_stop(server);
}

/* A context of the fabric server's port works with libibverbs' names. */
static void verbs_contexts_are_made(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibv_context *context = NULL;
	struct ibv_gid_entry entry;
	union ibv_gid other;

	(void)state;
	setenv("IBSA_FABRIC", server_address(server), 1);
	assert_int_equal(ibsa_verbs_open(NULL, NULL, &context), 0);
	assert_string_equal(context->device->name, "ibsa0");
	assert_int_equal(ibsa_query_gid_ex(context, 1, 0, &entry, 0), 0);
	other = entry.gid;
	assert_int_equal(ibv_gid_reachable(context, 1, &entry.gid, 5000), 0);
	other.raw[8] ^= 0xff;
	assert_int_equal(ibv_gid_reachable(context, 1, &other, 5000), -1);
	assert_int_equal(ibsa_verbs_close(context), 0);
	unsetenv("IBSA_FABRIC");
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_is_answered),
		cmocka_unit_test(an_own_loop_works),
		cmocka_unit_test(fd_of_a_waiting_reply_is_readable),
		cmocka_unit_test(tables_of_a_port_are_read),
		cmocka_unit_test(changes_wake_the_client),
		cmocka_unit_test(changes_around_a_wait_are_told),
		cmocka_unit_test(changes_before_an_answer_are_told),
		cmocka_unit_test(changes_from_inside_are_told),
		cmocka_unit_test(late_changes_are_told),
		cmocka_unit_test(events_of_the_sm_come),
		cmocka_unit_test(a_server_that_returns_is_used_again),
		cmocka_unit_test(a_silent_server_does_not_block_calls),
		cmocka_unit_test(wrong_addresses_are_refused),
		cmocka_unit_test(wrong_nodes_and_ports_are_told_apart),
		cmocka_unit_test(the_device_is_listed),
		cmocka_unit_test(verbs_contexts_are_made),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
