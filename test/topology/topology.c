/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Topologies from records: nodes, links, levels, islands. */
#include <errno.h>

#include "test/topology/rig.h"

static struct ibsa_topology *start(void)
{
	struct ibsa_topology *topology;

	assert_int_equal(ibsa_topology_new(&topology), 0);
	return topology;
}

/*
 * Return: a topology of two hosts with LIDs 1 and 2 at the switch with LID 3.
 */
static struct ibsa_topology *two_hosts(void)
{
	struct ibsa_topology *topology = start();

	assert_int_equal(rig_link(topology, 3, 1, 1, 1), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, 3, "leaf"), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 2, "b mlx5_0"), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 1, "a mlx5_0"), 0);
	assert_int_equal(rig_link(topology, 3, 2, 2, 1), 0);
	return topology;
}

static struct ibsa_topology_node node_at(const struct ibsa_topology *topology,
					 size_t index)
{
	struct ibsa_topology_node node;

	assert_int_equal(ibsa_topology_node_at(topology, index, &node), 0);
	return node;
}

static struct ibsa_topology_port port_at(const struct ibsa_topology *topology,
					 size_t node, unsigned int number)
{
	struct ibsa_topology_port port;

	assert_int_equal(ibsa_topology_port_at(topology, node, number, &port),
			 0);
	return port;
}

static struct ibsa_topology_info info_of(const struct ibsa_topology *topology)
{
	struct ibsa_topology_info info;

	ibsa_topology_info_get(topology, &info);
	return info;
}

static void records_in_any_order_become_nodes_by_guid(void **state)
{
	struct ibsa_topology *topology = two_hosts();

	(void)state;
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).nodes, 3);
	assert_int_equal(info_of(topology).adapters, 2);
	assert_int_equal(info_of(topology).switches, 1);
	assert_int_equal(info_of(topology).links, 2);
	assert_int_equal(info_of(topology).islands, 1);
	assert_int_equal(info_of(topology).levels, 1);
	assert_int_equal(info_of(topology).unmatched, 0);
	assert_string_equal(node_at(topology, 0).name, "a mlx5_0");
	assert_string_equal(node_at(topology, 1).name, "b mlx5_0");
	assert_string_equal(node_at(topology, 2).name, "leaf");
	assert_int_equal(node_at(topology, 2).guid, 0x300);
	assert_int_equal(node_at(topology, 2).level, 1);
	assert_int_equal(node_at(topology, 0).level, 0);
	ibsa_topology_free(topology);
}

static void a_link_leads_to_the_other_port_and_back(void **state)
{
	struct ibsa_topology *topology = two_hosts();
	struct ibsa_topology_port port;

	(void)state;
	assert_int_equal(ibsa_topology_finish(topology), 0);
	port = port_at(topology, 1, 1);
	assert_true(port.has_link);
	assert_false(port.is_one_end);
	assert_false(port.has_info);
	assert_int_equal(port.far_node, 2);
	assert_int_equal(port.far_port, 2);
	assert_int_equal(port.guid, 0x201);
	assert_int_equal(port.lid, 2);
	port = port_at(topology, 2, 2);
	assert_int_equal(port.far_node, 1);
	assert_int_equal(port.far_port, 1);
	assert_int_equal(port.lid, 0);
	assert_int_equal(port_at(topology, 2, 0).lid, 3);
	assert_false(port_at(topology, 2, 0).has_link);
	ibsa_topology_free(topology);
}

static void absent_nodes_and_ports_are_not_found(void **state)
{
	struct ibsa_topology *topology = two_hosts();
	struct ibsa_topology_node node;
	struct ibsa_topology_port port;
	unsigned int number;
	size_t index;

	(void)state;
	assert_int_equal(ibsa_topology_node_at(topology, 0, &node), -ENOENT);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(ibsa_topology_node_at(topology, 3, &node), -ENOENT);
	assert_int_equal(ibsa_topology_port_at(topology, 3, 1, &port), -ENOENT);
	assert_int_equal(ibsa_topology_port_at(topology, 0, 2, &port), -ENOENT);
	assert_int_equal(ibsa_topology_port_at(topology, 0, 256, &port),
			 -ENOENT);
	assert_int_equal(ibsa_topology_node_find(topology, 0x200, &index), 0);
	assert_int_equal(index, 1);
	assert_int_equal(ibsa_topology_node_find(topology, 0x201, &index),
			 -ENOENT);
	assert_int_equal(ibsa_topology_lid_find(topology, 2, &index, &number),
			 0);
	assert_int_equal(index, 1);
	assert_int_equal(number, 1);
	assert_int_equal(ibsa_topology_lid_find(topology, 0, &index, &number),
			 -ENOENT);
	assert_int_equal(ibsa_topology_lid_find(topology, 4, &index, &number),
			 -ENOENT);
	ibsa_topology_free(topology);
}

static void misuse_is_refused(void **state)
{
	struct ibsa_topology *topology = two_hosts();
	const struct ibsa_path path = { .dlid = 1 };

	(void)state;
	assert_int_equal(ibsa_topology_add(topology, &ibsa_path_record, &path,
					   sizeof(path)),
			 -EINVAL);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(ibsa_topology_finish(topology), -EALREADY);
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 9, ""), -EALREADY);
	ibsa_topology_free(topology);
	ibsa_topology_free(NULL);
}

static void an_empty_topology_has_nothing(void **state)
{
	struct ibsa_topology *topology = start();
	size_t index;

	(void)state;
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).nodes, 0);
	assert_int_equal(info_of(topology).islands, 0);
	assert_int_equal(ibsa_topology_node_find(topology, 0, &index), -ENOENT);
	ibsa_topology_free(topology);
}

static void ports_have_widths_and_speeds(void **state)
{
	struct ibsa_topology *topology = two_hosts();
	struct ibsa_port_info fast = rig_edr(3, 1);
	struct ibsa_port_info slow = rig_edr(1, 1);
	struct ibsa_topology_port port;

	(void)state;
	fast.link_width_supported = 7;
	fast.link_speed_ext_supported = 7;
	slow.link_width_active = 1;
	slow.lmc = 2;
	slow.lid = 8;
	assert_int_equal(rig_port(topology, &fast), 0);
	assert_int_equal(rig_port(topology, &slow), 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	port = port_at(topology, 2, 1);
	assert_true(port.has_info);
	assert_int_equal(port.state, IBSA_PORT_ACTIVE);
	assert_int_equal(port.mtu, 5);
	assert_int_equal(port.rate, 16);
	assert_int_equal(port.lanes, 4);
	assert_string_equal(port.speed, "EDR");
	assert_int_equal(port.lanes_supported, 8);
	assert_string_equal(port.speed_supported, "HDR");
	assert_int_equal(port.lanes_common, 4);
	assert_string_equal(port.speed_common, "EDR");
	port = port_at(topology, 0, 1);
	assert_int_equal(port.lanes, 1);
	assert_int_equal(port.lmc, 2);
	assert_int_equal(port.lid, 8);
	ibsa_topology_free(topology);
}

static void each_lid_of_a_port_finds_it(void **state)
{
	struct ibsa_topology *topology = two_hosts();
	struct ibsa_port_info port = rig_edr(2, 1);
	unsigned int number;
	size_t index;

	(void)state;
	port.lid = 8;
	port.lmc = 2;
	assert_int_equal(rig_port(topology, &port), 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	for (uint32_t lid = 8; lid < 12; lid++) {
		assert_int_equal(ibsa_topology_lid_find(topology, lid, &index,
							&number),
				 0);
		assert_int_equal(index, 1);
	}
	assert_int_equal(ibsa_topology_lid_find(topology, 12, &index, &number),
			 -ENOENT);
	ibsa_topology_free(topology);
}

/* The active bits of each speed that PortInfo has. */
static void each_speed_has_its_name(void **state)
{
	static const struct {
		uint8_t old, ext, ext2;
		const char *name;
	} speeds[] = {
		{ 1, 0, 0, "SDR" }, { 2, 0, 0, "DDR" }, { 4, 0, 0, "QDR" },
		{ 4, 1, 0, "FDR" }, { 4, 2, 0, "EDR" }, { 4, 4, 0, "HDR" },
		{ 4, 8, 0, "NDR" }, { 4, 0, 1, "XDR" }, { 0, 0, 0, "" },
		{ 3, 0, 0, "" },    { 4, 3, 0, "" },	{ 4, 0, 2, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		struct ibsa_topology *topology = two_hosts();
		struct ibsa_port_info port = rig_edr(1, 1);

		port.link_speed_active = speeds[i].old;
		port.link_speed_ext_active = speeds[i].ext;
		port.link_speed_ext_active2 = speeds[i].ext2;
		assert_int_equal(rig_port(topology, &port), 0);
		assert_int_equal(ibsa_topology_finish(topology), 0);
		assert_string_equal(port_at(topology, 0, 1).speed,
				    speeds[i].name);
		ibsa_topology_free(topology);
	}
}

static void an_adapter_has_a_record_for_each_port(void **state)
{
	struct ibsa_topology *topology = start();
	struct ibsa_node node = {
		.lid = 5,
		.node_type = IBSA_NODE_CA,
		.num_ports = 2,
		.node_guid = 0x10,
		.port_guid = 0x11,
		.local_port_num = 1,
	};

	(void)state;
	assert_int_equal(ibsa_topology_add(topology, &ibsa_node_record, &node,
					   sizeof(node)),
			 0);
	node.lid = 4;
	node.port_guid = 0x12;
	node.local_port_num = 2;
	assert_int_equal(ibsa_topology_add(topology, &ibsa_node_record, &node,
					   sizeof(node)),
			 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).nodes, 1);
	assert_int_equal(port_at(topology, 0, 1).guid, 0x11);
	assert_int_equal(port_at(topology, 0, 1).lid, 5);
	assert_int_equal(port_at(topology, 0, 2).guid, 0x12);
	assert_int_equal(port_at(topology, 0, 2).lid, 4);
	ibsa_topology_free(topology);
}

static void a_link_of_one_record_has_one_end(void **state)
{
	struct ibsa_topology *topology = two_hosts();

	(void)state;
	assert_int_equal(rig_end(topology, 3, 5, 3, 6), 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).links, 3);
	assert_true(port_at(topology, 2, 5).is_one_end);
	assert_true(port_at(topology, 2, 6).is_one_end);
	assert_int_equal(port_at(topology, 2, 6).far_port, 5);
	assert_false(port_at(topology, 2, 1).is_one_end);
	ibsa_topology_free(topology);
}

/*
 * If the record of another port contradicts the record of a port, this port
 * keeps the link of its own record.
 */
static void a_contradiction_has_one_end(void **state)
{
	struct ibsa_topology *topology = two_hosts();

	(void)state;
	assert_int_equal(rig_end(topology, 3, 7, 1, 1), 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).links, 3);
	assert_true(port_at(topology, 2, 7).is_one_end);
	assert_false(port_at(topology, 0, 1).is_one_end);
	assert_int_equal(port_at(topology, 0, 1).far_port, 1);
	ibsa_topology_free(topology);
}

static void records_of_unknown_lids_are_counted(void **state)
{
	const struct ibsa_switch_info info = { .lid = 78 };
	struct ibsa_topology *topology = two_hosts();
	struct ibsa_port_info port = rig_edr(77, 1);

	(void)state;
	assert_int_equal(rig_link(topology, 3, 9, 77, 1), 0);
	assert_int_equal(rig_port(topology, &port), 0);
	assert_int_equal(ibsa_topology_add(topology, &ibsa_switch_info_record,
					   &info, sizeof(info)),
			 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).unmatched, 4);
	assert_int_equal(info_of(topology).links, 2);
	assert_int_equal(info_of(topology).hidden, 0);
	ibsa_topology_free(topology);
}

static void active_ports_without_a_link_are_counted(void **state)
{
	struct ibsa_topology *topology = two_hosts();
	struct ibsa_port_info hidden = rig_edr(3, 9);
	struct ibsa_port_info down = rig_edr(3, 10);
	struct ibsa_port_info own = rig_edr(3, 0);

	(void)state;
	down.port_state = IBSA_PORT_DOWN;
	assert_int_equal(rig_port(topology, &hidden), 0);
	assert_int_equal(rig_port(topology, &down), 0);
	assert_int_equal(rig_port(topology, &own), 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).hidden, 1);
	ibsa_topology_free(topology);
}

static void a_switch_tells_of_its_port_0(void **state)
{
	const struct ibsa_switch_info info = { .lid = 3, .enhanced_port0 = 1 };
	struct ibsa_topology *topology = two_hosts();

	(void)state;
	assert_int_equal(ibsa_topology_add(topology, &ibsa_switch_info_record,
					   &info, sizeof(info)),
			 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_true(node_at(topology, 2).has_enhanced_port0);
	ibsa_topology_free(topology);
}

/*
 * Return: a topology of the leaf switches 1 and 2 and the spine 3 above both;
 * LIDs 11 and 12 are hosts.
 */
static struct ibsa_topology *tree(void)
{
	struct ibsa_topology *topology = start();

	for (uint16_t lid = 1; lid <= 3; lid++)
		assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, lid, "s"),
				 0);
	for (uint16_t lid = 11; lid <= 12; lid++) {
		assert_int_equal(rig_node(topology, IBSA_NODE_CA, lid, "h"), 0);
		assert_int_equal(
			rig_link(topology, lid, 1, (uint16_t)(lid - 10), 1), 0);
	}
	assert_int_equal(rig_link(topology, 1, 2, 3, 1), 0);
	assert_int_equal(rig_link(topology, 2, 2, 3, 2), 0);
	return topology;
}

static void a_level_is_the_distance_from_the_hosts(void **state)
{
	struct ibsa_topology *topology = tree();

	(void)state;
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).levels, 2);
	assert_int_equal(node_at(topology, 0).level, 1);
	assert_int_equal(node_at(topology, 1).level, 1);
	assert_int_equal(node_at(topology, 2).level, 2);
	ibsa_topology_free(topology);
}

/*
 * An aggregation node does not make its switch a leaf. Modern switches have
 * such a node inside, which is a channel adapter.
 */
static void an_aggregation_node_makes_no_leaf(void **state)
{
	struct ibsa_topology *topology = tree();

	(void)state;
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 20,
				  "Mellanox Technologies Aggregation Node"),
			 0);
	assert_int_equal(rig_link(topology, 3, 36, 20, 1), 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(node_at(topology, 2).level, 2);
	ibsa_topology_free(topology);
}

/* Each switch of a torus has a host. */
static void a_torus_has_one_level(void **state)
{
	struct ibsa_topology *topology = start();

	(void)state;
	for (uint16_t i = 1; i <= 9; i++) {
		assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, i, "s"),
				 0);
		assert_int_equal(rig_node(topology, IBSA_NODE_CA,
					  (uint16_t)(i + 9), "h"),
				 0);
		assert_int_equal(rig_link(topology, i, 1, (uint16_t)(i + 9), 1),
				 0);
		assert_int_equal(
			rig_link(topology, i, 2, (uint16_t)(i % 9 + 1), 3), 0);
	}
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).levels, 1);
	assert_int_equal(info_of(topology).links, 18);
	ibsa_topology_free(topology);
}

static void islands_are_counted(void **state)
{
	struct ibsa_topology *topology = two_hosts();

	(void)state;
	assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, 21, "s"), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, 22, "s"), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 23, "alone"), 0);
	assert_int_equal(rig_link(topology, 21, 1, 22, 1), 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).islands, 3);
	assert_int_equal(node_at(topology, 2).island, 0);
	assert_int_equal(node_at(topology, 3).island, 1);
	assert_int_equal(node_at(topology, 4).island, 1);
	assert_int_equal(node_at(topology, 4).level, 1);
	assert_int_equal(node_at(topology, 5).island, 2);
	ibsa_topology_free(topology);
}

/*
 * Two NodeRecords with one switch GUID, but different LIDs, are two switches.
 */
static void a_guid_may_have_two_nodes(void **state)
{
	struct ibsa_topology *topology = two_hosts();
	struct ibsa_node twin = {
		.lid = 9,
		.node_type = IBSA_NODE_SWITCH,
		.num_ports = 36,
		.node_guid = 0x300,
		.system_image_guid = 0x300,
		.port_guid = 0x300,
	};
	size_t index;

	(void)state;
	assert_int_equal(ibsa_topology_add(topology, &ibsa_node_record, &twin,
					   sizeof(twin)),
			 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(info_of(topology).nodes, 4);
	assert_int_equal(node_at(topology, 2).guid, 0x300);
	assert_int_equal(node_at(topology, 3).guid, 0x300);
	assert_int_equal(ibsa_topology_node_find(topology, 0x300, &index), 0);
	assert_int_equal(index, 2);
	ibsa_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_in_any_order_become_nodes_by_guid),
		cmocka_unit_test(a_link_leads_to_the_other_port_and_back),
		cmocka_unit_test(absent_nodes_and_ports_are_not_found),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(an_empty_topology_has_nothing),
		cmocka_unit_test(ports_have_widths_and_speeds),
		cmocka_unit_test(each_lid_of_a_port_finds_it),
		cmocka_unit_test(each_speed_has_its_name),
		cmocka_unit_test(an_adapter_has_a_record_for_each_port),
		cmocka_unit_test(a_link_of_one_record_has_one_end),
		cmocka_unit_test(a_contradiction_has_one_end),
		cmocka_unit_test(records_of_unknown_lids_are_counted),
		cmocka_unit_test(active_ports_without_a_link_are_counted),
		cmocka_unit_test(a_switch_tells_of_its_port_0),
		cmocka_unit_test(a_level_is_the_distance_from_the_hosts),
		cmocka_unit_test(an_aggregation_node_makes_no_leaf),
		cmocka_unit_test(a_torus_has_one_level),
		cmocka_unit_test(islands_are_counted),
		cmocka_unit_test(a_guid_may_have_two_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
