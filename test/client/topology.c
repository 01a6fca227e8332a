/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Topologies from the SA of an embedded fabric, and from its file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/fabric.h>
#include <ibsa/topology.h>

#include "test/client/reach_support.h"

static struct rig rig;

static int start(void **state)
{
	(void)state;
	rig_start(&rig, NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	if (rig.client)
		rig_stop(&rig);
	return 0;
}

/* How a read ended. */
struct end {
	int calls;
	int err;
	struct ibsa_topology *topology;
};

static void end_note(int err, struct ibsa_topology *topology,
		     const struct ibsa_reply *reply, void *arg)
{
	struct end *end = arg;

	assert_non_null(reply);
	end->calls++;
	end->err = err;
	end->topology = topology;
}

static void a_topology_has_all_hosts(void **state)
{
	struct ibsa_topology_info info;
	struct ibsa_topology_port port;
	struct end end = { 0 };
	size_t node;

	(void)state;
	assert_int_equal(ibsa_topology_read(rig.client, NULL, end_note, &end),
			 0);
	assert_int_equal(end.calls, 0);
	while (!end.calls)
		assert_int_equal(ibsa_wait(rig.client, -1), 0);
	assert_int_equal(end.calls, 1);
	assert_int_equal(end.err, 0);
	ibsa_topology_info_get(end.topology, &info);
	assert_int_equal(info.nodes, HOSTS + 1);
	assert_int_equal(info.links, HOSTS);
	assert_int_equal(info.unmatched, 0);
	assert_int_equal(ibsa_topology_lid_find(end.topology, 1, &node,
						&port.number),
			 0);
	assert_int_equal(ibsa_topology_port_at(end.topology, node, 1, &port),
			 0);
	assert_string_equal(port.speed, "EDR");
	assert_int_equal(port.lanes, 4);
	assert_int_equal(port.state, 4);
	assert_false(port.is_one_end);
	ibsa_topology_free(end.topology);
}

static void the_blocking_call_does_the_same(void **state)
{
	struct ibsa_topology_info info;
	struct ibsa_topology *topology;

	(void)state;
	assert_int_equal(ibsa_topology_wait(rig.client, NULL, &topology), 0);
	ibsa_topology_info_get(topology, &info);
	assert_int_equal(info.nodes, HOSTS + 1);
	ibsa_topology_free(topology);
}

/* The number of queries does not depend on the number of nodes. */
static void four_queries_are_sent(void **state)
{
	struct ibsa_topology *topology;
	struct ibsa_stats stats;

	(void)state;
	assert_int_equal(ibsa_topology_wait(rig.client, NULL, &topology), 0);
	ibsa_stats_get(rig.client, &stats);
	assert_int_equal(stats.sent, 4);
	ibsa_topology_free(topology);
}

static void the_callback_is_needed(void **state)
{
	(void)state;
	assert_int_equal(ibsa_topology_read(rig.client, NULL, NULL, NULL),
			 -EINVAL);
}

static void a_silent_sa_is_a_timeout(void **state)
{
	const struct ibsa_fault all = { .kind = IBSA_FAULT_SILENCE,
					.percent = 100 };
	const struct ibsa_topology_options options = { .timeout_ms = 300 };
	struct ibsa_topology *topology = NULL;
	struct end end = { 0 };

	(void)state;
	assert_int_equal(ibsa_fabric_fault(rig.fabric, &all), 0);
	assert_int_equal(ibsa_topology_wait(rig.client, &options, &topology),
			 -ETIMEDOUT);
	assert_null(topology);
	assert_int_equal(
		ibsa_topology_read(rig.client, &options, end_note, &end), 0);
	while (!end.calls)
		assert_int_equal(ibsa_wait(rig.client, -1), 0);
	assert_int_equal(end.err, -ETIMEDOUT);
	assert_null(end.topology);
}

static void a_busy_sa_is_a_refusal(void **state)
{
	const struct ibsa_fault all = { .kind = IBSA_FAULT_BUSY,
					.percent = 100 };
	const struct ibsa_topology_options options = { .timeout_ms = 300 };
	struct ibsa_topology *topology = NULL;

	(void)state;
	assert_int_equal(ibsa_fabric_fault(rig.fabric, &all), 0);
	assert_int_equal(ibsa_topology_wait(rig.client, &options, &topology),
			 -EREMOTEIO);
	assert_null(topology);
}

static void closing_ends_a_read(void **state)
{
	struct end end = { 0 };

	(void)state;
	assert_int_equal(ibsa_topology_read(rig.client, NULL, end_note, &end),
			 0);
	assert_int_equal(ibsa_close(rig.client), 0);
	rig.client = NULL;
	ibsa_fabric_put(rig.fabric);
	assert_int_equal(end.calls, 1);
	assert_int_equal(end.err, -ECANCELED);
	assert_null(end.topology);
}

static void wait_inside(int err, struct ibsa_topology *topology,
			const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_topology *other;
	int *out = arg;

	(void)err;
	(void)reply;
	*out = ibsa_topology_wait(rig.client, NULL, &other);
	ibsa_topology_free(topology);
}

static void a_callback_may_not_wait(void **state)
{
	int err = 0;

	(void)state;
	assert_int_equal(
		ibsa_topology_read(rig.client, NULL, wait_inside, &err), 0);
	while (!err)
		assert_int_equal(ibsa_wait(rig.client, -1), 0);
	assert_int_equal(err, -EBUSY);
}

/*
 * The engine's queue has room for only two of the four queries that read a
 * topology.
 */
static void a_full_queue_is_an_error(void **state)
{
	const struct ibsa_options options = { .window = 1, .queue = 1 };
	struct ibsa_topology *topology = NULL;
	struct rig small;

	(void)state;
	rig_start(&small, &options);
	assert_int_equal(ibsa_topology_wait(small.client, NULL, &topology),
			 -ENOBUFS);
	assert_null(topology);
	rig_stop(&small);
}

/* Compare what the topology file and the SA of its fabric give for a port. */
static void port_compare(const struct ibsa_topology *file,
			 const struct ibsa_topology *sa, size_t node,
			 unsigned int number)
{
	struct ibsa_topology_port a;
	struct ibsa_topology_port b;

	if (ibsa_topology_port_at(file, node, number, &a))
		return;
	assert_int_equal(ibsa_topology_port_at(sa, node, number, &b), 0);
	assert_int_equal(a.guid, b.guid);
	assert_int_equal(a.has_link, b.has_link);
	if (!a.has_link)
		return;
	assert_int_equal(a.far_node, b.far_node);
	assert_int_equal(a.far_port, b.far_port);
	assert_int_equal(a.lanes, b.lanes);
	assert_string_equal(a.speed, b.speed);
	assert_false(a.is_one_end);
	assert_false(b.is_one_end);
}

static void a_file_and_its_fabric_have_one_topology(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct ibsa_topology_info info[2];
	struct ibsa_topology_node node[2];
	struct ibsa_client *client;
	struct ibsa_topology *file;
	struct ibsa_topology *sa;

	(void)state;
	assert_int_equal(ibsa_topology_load(FABRIC, NULL, &file), 0);
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_topology_wait(client, NULL, &sa), 0);
	ibsa_topology_info_get(file, &info[0]);
	ibsa_topology_info_get(sa, &info[1]);
	assert_memory_equal(&info[0], &info[1], sizeof(info[0]));
	assert_int_equal(info[0].nodes, 22);
	for (size_t i = 0; i < info[0].nodes; i++) {
		assert_int_equal(ibsa_topology_node_at(file, i, &node[0]), 0);
		assert_int_equal(ibsa_topology_node_at(sa, i, &node[1]), 0);
		assert_int_equal(node[0].guid, node[1].guid);
		assert_string_equal(node[0].name, node[1].name);
		assert_int_equal(node[0].type, node[1].type);
		assert_int_equal(node[0].level, node[1].level);
		assert_int_equal(node[0].island, node[1].island);
		for (unsigned int port = 0; port < 256; port++)
			port_compare(file, sa, i, port);
	}
	ibsa_topology_free(file);
	ibsa_topology_free(sa);
	assert_int_equal(ibsa_close(client), 0);
}

static void a_copy_has_the_links_that_are_up(void **state)
{
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = false,
	};
	struct ibsa_topology_info info;
	struct ibsa_topology *topology;

	(void)state;
	assert_int_equal(ibsa_topology_copy(rig.fabric, &topology), 0);
	ibsa_topology_info_get(topology, &info);
	assert_int_equal(info.nodes, HOSTS + 1);
	assert_int_equal(info.links, HOSTS);
	ibsa_topology_free(topology);
	assert_int_equal(ibsa_fabric_port_set(rig.fabric, "host7", 1, &down),
			 0);
	assert_int_equal(ibsa_topology_copy(rig.fabric, &topology), 0);
	ibsa_topology_info_get(topology, &info);
	assert_int_equal(info.nodes, HOSTS + 1);
	assert_int_equal(info.links, HOSTS - 1);
	ibsa_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define RIG(test) cmocka_unit_test_setup_teardown(test, start, stop)
		RIG(a_topology_has_all_hosts),
		RIG(the_blocking_call_does_the_same),
		RIG(four_queries_are_sent),
		RIG(the_callback_is_needed),
		RIG(a_silent_sa_is_a_timeout),
		RIG(a_busy_sa_is_a_refusal),
		RIG(closing_ends_a_read),
		RIG(a_callback_may_not_wait),
		RIG(a_copy_has_the_links_that_are_up),
		cmocka_unit_test(a_full_queue_is_an_error),
		cmocka_unit_test(a_file_and_its_fabric_have_one_topology),
#undef RIG
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
