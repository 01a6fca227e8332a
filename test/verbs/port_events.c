/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of the ports of a context at a fabric server. The server is a thread of
 * this process, so ThreadSanitizer reports allocations that fail on purpose:
 * with the argument "memory", only these are tested.
 */
#include "test/support/server_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include <ibsa/fabric.h>
#include <ibsa/verbs.h>

#include "test/support/descriptors.h"
#include "test/support/fail_alloc.h"
#include "verbs/port_events.h"

enum { FAILURES_MAX = 3000, WAIT_MS = 20000 };

static struct ibv_context *context_open(const struct server_rig *server)
{
	const struct ibsa_options options = {
		.fabric = server_address(server),
		.device = "right",
	};
	struct ibv_context *context;

	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	return context;
}

static struct ibv_context *watching(const struct server_rig *server)
{
	struct ibv_context *context = context_open(server);

	assert_int_equal(ibsa__verbs_port_events_start(context), 0);
	return context;
}

/* The next event is one of port 1, with this type. */
static void expect(struct ibv_context *context, enum ibv_event_type type)
{
	struct pollfd file = { .fd = context->async_fd, .events = POLLIN };
	struct ibsa_async_event event;

	assert_int_equal(poll(&file, 1, WAIT_MS), 1);
	assert_int_equal(ibsa_get_async_event(context, &event), 0);
	assert_string_equal(
		ibv_event_type_str((enum ibv_event_type)event.event_type),
		ibv_event_type_str(type));
	assert_int_equal(event.element.port_num, 1);
	ibsa_ack_async_event(&event);
}

static void expect_none(struct ibv_context *context)
{
	struct ibsa_async_event event;

	assert_int_equal(fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(ibsa_get_async_event(context, &event), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fcntl(context->async_fd, F_SETFL, 0), 0);
}

/* A cable is cut and connected, while the port was down when it was opened. */
static void cable_makes_events(void **state)
{
	struct ibv_context *context;

	server_command(*state, "link down right/1");
	context = watching(*state);
	expect_none(context);
	server_command(*state, "link up right/1");
	expect(context, IBV_EVENT_CLIENT_REREGISTER);
	expect(context, IBV_EVENT_PORT_ACTIVE);
	server_command(*state, "link down right/1");
	expect(context, IBV_EVENT_PORT_ERR);
	expect_none(context);
	assert_int_equal(ibsa_verbs_close(context), 0);
	server_command(*state, "link up right/1");
}

static void moved_sm_makes_events(void **state)
{
	struct ibv_context *context = watching(*state);

	server_command(*state, "sm move right");
	expect(context, IBV_EVENT_SM_CHANGE);
	expect(context, IBV_EVENT_CLIENT_REREGISTER);
	expect_none(context);
	assert_int_equal(ibsa_verbs_close(context), 0);
	server_command(*state, "sm move left");
}

/* An alias GUID of the port is a GID. */
static void alias_guid_makes_an_event(void **state)
{
	struct ibv_context *context = watching(*state);
	struct ibsa_client *client = server_client(*state, "right");
	const struct ibsa_guid_info alias = { .lid = 2,
					      .guid = { [1] = 0xa51 } };
	const struct ibsa_query set = {
		.record = &ibsa_guid_info_record,
		.method = IBSA_METHOD_SET,
		.match = &alias,
		.mask = IBSA_GUID_INFO_CM(lid) | IBSA_GUID_INFO_CM(block_num) |
			IBSA_GUID_INFO_CM(guid) << 1,
	};
	struct ibsa_guid_info answer;

	assert_int_equal(
		ibsa_query_one(client, &set, NULL, &answer, sizeof(answer)), 0);
	expect(context, IBV_EVENT_GID_CHANGE);
	expect_none(context);
	ibsa_close(client);
	assert_int_equal(ibsa_verbs_close(context), 0);
}

/* Without its server a port is down; it comes back with the next server. */
static void restarted_server_makes_events(void **state)
{
	struct ibv_context *context = watching(*state);

	server_end(*state);
	expect(context, IBV_EVENT_PORT_ERR);
	server_restart(*state);
	expect(context, IBV_EVENT_CLIENT_REREGISTER);
	expect(context, IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(ibsa_verbs_close(context), 0);
}

/* The end of registrations for SM events leaves events of the ports. */
static void events_stay_without_registrations(void **state)
{
	struct ibv_context *context = watching(*state);
	struct pollfd file = { .fd = context->async_fd, .events = POLLIN };

	assert_int_equal(ibv_register_sm_events(context, IBV_SM_EVENT_UGID_ALL,
						0, NULL),
			 0);
	server_command(*state, "link down right/1");
	assert_int_equal(poll(&file, 1, WAIT_MS), 1);
	assert_int_equal(ibv_unregister_sm_events(
				 context, IBV_SM_EVENT_UGID_ALL, 0, NULL),
			 0);
	expect(context, IBV_EVENT_PORT_ERR);
	assert_int_equal(ibsa_verbs_close(context), 0);
	server_command(*state, "link up right/1");
}

/*
 * Return: the number of descriptors, when the server, which is in this process,
 * has closed those of clients that have gone.
 */
static unsigned int descriptors_left(struct server_rig *server)
{
	struct ibsa_fabric_server_stats stats = { .clients = 1 };

	for (int i = 0; stats.clients && i < WAIT_MS; i++) {
		poll(NULL, 0, 1);
		ibsa_fabric_server_stats_get(server_pause(server), &stats);
		server_resume(server);
	}
	assert_int_equal(stats.clients, 0);
	return descriptors_count();
}

/* A second start changes nothing, and a close ends all of it. */
static void close_leaves_no_descriptor(void **state)
{
	const unsigned int before = descriptors_left(*state);
	struct ibv_context *context = watching(*state);
	const unsigned int during = descriptors_count();

	assert_int_equal(ibsa__verbs_port_events_start(context), 0);
	assert_int_equal(descriptors_count(), during);
	assert_int_equal(ibsa_verbs_close(context), 0);
	assert_int_equal(descriptors_left(*state), before);
}

/* The context is closed while its port changes. */
static void close_during_changes(void **state)
{
	for (int i = 0; i < 20; i++) {
		struct ibv_context *context = watching(*state);

		server_command(*state,
			       i % 2 ? "sm move left" : "sm move right");
		assert_int_equal(ibsa_verbs_close(context), 0);
	}
}

/* Only a context at a fabric server has such events. */
static void other_contexts_are_refused(void **state)
{
	struct ibsa_fabric *fabric = server_fabric(*state);
	const struct ibsa_options options = { .on = fabric };
	struct ibv_context *context;

	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	assert_int_equal(ibsa__verbs_port_events_start(context), -EINVAL);
	assert_int_equal(ibsa_verbs_close(context), 0);
	assert_int_equal(ibsa__verbs_port_events_start(NULL), -EINVAL);
}

/*
 * Without memory nothing begins, and nothing is left. The server, which is in
 * this process, may lack the memory, too, and end the connection.
 */
static void lack_of_memory_is_reported(void **state)
{
	const unsigned int before = descriptors_left(*state);
	int err = -ENOMEM;

	for (long i = 0; err; i++) {
		struct ibv_context *context = context_open(*state);

		assert_in_range(i, 0, FAILURES_MAX);
		fail_alloc_after(i);
		err = ibsa__verbs_port_events_start(context);
		fail_alloc_after(-1);
		assert_in_range(-err, 0, ERANGE);
		assert_int_equal(ibsa_verbs_close(context), 0);
	}
	assert_int_equal(descriptors_left(*state), before);
}

static int setup(void **state)
{
	*state = server_start(server_pair);
	return 0;
}

static int teardown(void **state)
{
	server_stop(*state);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cable_makes_events),
		cmocka_unit_test(moved_sm_makes_events),
		cmocka_unit_test(alias_guid_makes_an_event),
		cmocka_unit_test(restarted_server_makes_events),
		cmocka_unit_test(events_stay_without_registrations),
		cmocka_unit_test(close_leaves_no_descriptor),
		cmocka_unit_test(close_during_changes),
		cmocka_unit_test(other_contexts_are_refused),
	};
	const struct CMUnitTest memory[] = {
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	(void)argv;
	if (argc > 1)
		return cmocka_run_group_tests(memory, setup, teardown);
	return cmocka_run_group_tests(tests, setup, teardown);
}
