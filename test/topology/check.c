/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings about a topology, and about differences from an expected one. */
#include <errno.h>

#include "test/topology/rig.h"

enum { LEAF = 3, SPINE = 4, LID_COUNT = 5 };

/*
 * Return: a topology of hosts 1 and 2, a leaf switch and a spine, without
 * cables. With the cables of whole(), the hosts are at ports 1 and 2 of the
 * leaf, which has two cables to the spine, at ports 5 and 6 of each.
 */
static struct ibsa_topology *fabric(void)
{
	static const char *const names[LID_COUNT] = {
		[1] = "a", [2] = "b", [LEAF] = "leaf", [SPINE] = "spine"
	};
	struct ibsa_topology *topology;

	assert_int_equal(ibsa_topology_new(&topology), 0);
	for (uint16_t lid = 1; lid < LID_COUNT; lid++)
		assert_int_equal(rig_node(topology,
					  lid < LEAF ? IBSA_NODE_CA
						     : IBSA_NODE_SWITCH,
					  lid, names[lid]),
				 0);
	return topology;
}

/* An active link at EDR. */
static void link(struct ibsa_topology *topology, uint16_t a, uint8_t a_port,
		 uint16_t b, uint8_t b_port)
{
	const struct ibsa_port_info ports[] = { rig_edr(a, a_port),
						rig_edr(b, b_port) };

	assert_int_equal(rig_link(topology, a, a_port, b, b_port), 0);
	assert_int_equal(rig_port(topology, &ports[0]), 0);
	assert_int_equal(rig_port(topology, &ports[1]), 0);
}

static struct ibsa_topology *whole(void)
{
	struct ibsa_topology *topology = fabric();

	link(topology, LEAF, 1, 1, 1);
	link(topology, LEAF, 2, 2, 1);
	link(topology, LEAF, 5, SPINE, 5);
	link(topology, LEAF, 6, SPINE, 6);
	return topology;
}

static void finish(struct ibsa_topology *topology)
{
	assert_int_equal(ibsa_topology_finish(topology), 0);
}

/* Check that these are the findings. */
static void expect(struct ibsa_topology *topology,
		   const struct ibsa_topology *expected,
		   const char *const *sentences)
{
	struct ibsa_finding finding;
	size_t i = 0;

	assert_int_equal(ibsa_topology_check(topology, expected), 0);
	for (; sentences[i]; i++) {
		char text[400];

		assert_int_equal(
			ibsa_topology_finding_at(topology, i, &finding), 0);
		snprintf(text, sizeof(text), "%s: %s", finding.name,
			 finding.what.text);
		assert_string_equal(text, sentences[i]);
		assert_int_equal(finding.severity,
				 ibsa_finding_severity(finding.kind));
		assert_string_equal(finding.name,
				    ibsa_finding_name(finding.kind));
		/* Records without a node have no GUID. */
		assert_true(finding.guid ||
			    finding.kind == IBSA_FINDING_HIDDEN);
	}
	assert_int_equal(ibsa_topology_finding_at(topology, i, &finding),
			 -ENOENT);
}

static void unknown_kind_has_no_name(void **state)
{
	const int past = IBSA_FINDING_RAIL_SLOW + 1;

	(void)state;
	assert_string_equal(ibsa_finding_name(past - 1), "rail-slow");
	assert_null(ibsa_finding_name(past));
	assert_null(ibsa_finding_name(-1));
	assert_int_equal(ibsa_finding_severity(past), IBSA_SEVERITY_WARNING);
}

#define SENTENCES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void a_whole_fabric_has_no_findings(void **state)
{
	struct ibsa_topology *topology = whole();

	(void)state;
	finish(topology);
	expect(topology, NULL, (const char *const[]){ NULL });
	expect(topology, topology, (const char *const[]){ NULL });
	ibsa_topology_free(topology);
}

static void a_link_that_is_not_active_is_down(void **state)
{
	struct ibsa_topology *topology = whole();
	struct ibsa_port_info port = rig_edr(1, 1);

	(void)state;
	port.port_state = IBSA_PORT_INIT;
	assert_int_equal(rig_port(topology, &port), 0);
	finish(topology);
	expect(topology, NULL,
	       SENTENCES("link-down: a port 1 to leaf port 1 is not active: "
			 "Init and Active"));
	ibsa_topology_free(topology);
}

/*
 * A file of ibsa topology --format net has the states of ports that are not
 * active.
 */
static void a_file_may_have_states(void **state)
{
	static const char text[] =
		"Ca 1 \"a\" # \"state=Down\"\n"
		"[1] \"b\"[1] # lid 1 lmc 0 \"state=Armed\" 4xEDR state=Init\n"
		"Ca 1 \"b\"\n";
	struct ibsa_topology *topology;

	(void)state;
	assert_int_equal(ibsa_topology_parse(text, sizeof(text) - 1, NULL, NULL,
					     &topology),
			 0);
	expect(topology, NULL,
	       SENTENCES("link-down: state=Down port 1 to b port 1 is not "
			 "active: Init and unknown"));
	ibsa_topology_free(topology);
}

/* Each check reports them; a LID of two ports is told once, as of a fabric. */
static void anomalies_of_a_file_are_found(void **state)
{
	static const char text[] =
		"Ca 1 \"a\"\n[1] \"b\"[1] # lid 4 lmc 0 \"\" state=Init\n"
		"Ca 1 \"b\"\n[1] \"a\"[1] # lid 4 lmc 0 \"\" state=Init\n"
		"Ca 1 \"c\x1b\"\n";
	struct ibsa_topology *topology;

	(void)state;
	assert_int_equal(ibsa_topology_parse(text, sizeof(text) - 1, "x.net",
					     NULL, &topology),
			 0);
	for (int i = 0; i < 2; i++)
		expect(topology, NULL,
		       SENTENCES("no-cable: x.net:5: \"c\\x1b\" has no cable",
				 "same-lid: a port 1 and b port 1 have "
				 "overlapping LIDs: LID 4 with LMC 0, and LID "
				 "4 with LMC 0",
				 "link-down: a port 1 to b port 1 is not "
				 "active: Init and Init"));
	ibsa_topology_free(topology);
}

static void a_link_below_both_ends_is_degraded(void **state)
{
	struct ibsa_topology *topology = whole();
	struct ibsa_port_info port = rig_edr(LEAF, 5);
	struct ibsa_port_info far = rig_edr(SPINE, 5);
	struct ibsa_port_info host = rig_edr(1, 1);

	(void)state;
	port.link_width_active = far.link_width_active = 1;
	/*
	 * The leaf supports less than the host, so their link is as fast as it
	 * can be.
	 */
	host.link_speed_ext_supported = 7;
	host.link_width_supported = 7;
	assert_int_equal(rig_port(topology, &port), 0);
	assert_int_equal(rig_port(topology, &far), 0);
	assert_int_equal(rig_port(topology, &host), 0);
	finish(topology);
	expect(topology, NULL,
	       SENTENCES("link-degraded: leaf port 5 to spine port 5 runs at "
			 "1xEDR, but both ends support 4xEDR"));
	ibsa_topology_free(topology);
}

static void one_end_is_a_finding(void **state)
{
	struct ibsa_topology *topology = whole();
	struct ibsa_port_info lone = rig_edr(LEAF, 9);

	(void)state;
	assert_int_equal(rig_end(topology, LEAF, 7, SPINE, 7), 0);
	assert_int_equal(rig_port(topology, &lone), 0);
	finish(topology);
	expect(topology, NULL,
	       SENTENCES("one-end: leaf port 7 to spine port 7: only one end "
			 "reports this link",
			 "hidden: leaf port 9 is active, but the SA does not "
			 "show its other end"));
	ibsa_topology_free(topology);
}

/* A switch port that is down has no cable; an adapter's should have one. */
static void an_adapter_port_should_be_active(void **state)
{
	struct ibsa_topology *topology = whole();
	struct ibsa_port_info idle = rig_edr(LEAF, 9);
	struct ibsa_port_info down = rig_edr(1, 2);

	(void)state;
	idle.port_state = down.port_state = IBSA_PORT_DOWN;
	down.lid = 0;
	assert_int_equal(rig_port(topology, &idle), 0);
	assert_int_equal(rig_port(topology, &down), 0);
	finish(topology);
	expect(topology, NULL,
	       SENTENCES("link-down: a port 2 is not active: Down"));
	ibsa_topology_free(topology);
}

static void guids_and_lids_must_differ(void **state)
{
	struct ibsa_topology *topology = whole();
	const struct ibsa_node twin = {
		.lid = 9,
		.node_type = IBSA_NODE_SWITCH,
		.num_ports = 36,
		.node_guid = 0x300,
		.system_image_guid = 0x300,
		.port_guid = 0x300,
		.node_description = "twin",
	};
	const struct ibsa_node same_lid = {
		.lid = 2,
		.node_type = IBSA_NODE_CA,
		.num_ports = 1,
		.node_guid = 0x900,
		.port_guid = 0x201,
		.local_port_num = 1,
		.node_description = "other",
	};

	(void)state;
	assert_int_equal(ibsa_topology_add(topology, &ibsa_node_record, &twin,
					   sizeof(twin)),
			 0);
	assert_int_equal(ibsa_topology_add(topology, &ibsa_node_record,
					   &same_lid, sizeof(same_lid)),
			 0);
	finish(topology);
	expect(topology, NULL,
	       SENTENCES("same-guid: leaf port 0 and twin port 0 have the same "
			 "GUID",
			 "same-guid: b port 1 and other port 1 have the same "
			 "GUID",
			 "same-lid: b port 1 and other port 1 have overlapping "
			 "LIDs: LID 2 with LMC 0, and LID 2 with LMC 0"));
	ibsa_topology_free(topology);
}

static void a_node_should_have_a_description(void **state)
{
	struct ibsa_topology *topology = whole();

	(void)state;
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 8, " "), 0);
	link(topology, LEAF, 8, 8, 1);
	finish(topology);
	expect(topology, NULL,
	       SENTENCES("no-name: node 0x0000000000000800 has no "
			 "description"));
	ibsa_topology_free(topology);
}

static void names_are_safe_to_print(void **state)
{
	struct ibsa_topology *topology = whole();

	(void)state;
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 8, "\033[31m\n\xff"),
			 0);
	assert_int_equal(rig_end(topology, LEAF, 8, 8, 1), 0);
	finish(topology);
	expect(topology, NULL,
	       SENTENCES("one-end: leaf port 8 to \\x1b[31m\\x0a\\xff port 1: "
			 "only one end reports this link"));
	ibsa_topology_free(topology);
}

/*
 * Compare @topology with the complete fabric as the expected one, and free it.
 */
static void expect_instead(struct ibsa_topology *topology,
			   const char *const *sentences)
{
	struct ibsa_topology *expected = whole();

	finish(topology);
	finish(expected);
	expect(topology, expected, sentences);
	ibsa_topology_free(topology);
	ibsa_topology_free(expected);
}

static void a_cut_cable_is_missing(void **state)
{
	struct ibsa_topology *topology = fabric();

	(void)state;
	link(topology, LEAF, 1, 1, 1);
	link(topology, LEAF, 2, 2, 1);
	link(topology, LEAF, 5, SPINE, 5);
	expect_instead(topology, SENTENCES("missing: leaf port 6 to spine port "
					   "6 is missing"));
}

/*
 * A node that is expected at an active port without a known other end is not
 * reported as missing.
 */
static void hidden_links_and_nodes_are_not_missing(void **state)
{
	const struct ibsa_port_info ports[] = {
		rig_edr(LEAF, 1),
		rig_edr(LEAF, 2),
		rig_edr(1, 1),
		rig_edr(SPINE, 6),
	};
	struct ibsa_topology *topology;

	(void)state;
	assert_int_equal(ibsa_topology_new(&topology), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 1, "a"), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, LEAF, "leaf"), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, SPINE, "spine"),
			 0);
	link(topology, LEAF, 5, SPINE, 5);
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		assert_int_equal(rig_port(topology, &ports[i]), 0);
	expect_instead(topology,
		       SENTENCES("hidden: a port 1 and 3 other ports are "
				 "active, but the SA does not show their other "
				 "ends"));
	/* The switch between both is not shown. */
	assert_int_equal(ibsa_topology_new(&topology), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 1, "a"), 0);
	assert_int_equal(rig_port(topology, &ports[2]), 0);
	expect_instead(
		topology,
		SENTENCES("hidden: a port 1 is active, but the SA does not "
			  "show its other end",
			  "missing: b is missing, or the SA does not show it "
			  "(port 1 to leaf port 2)"));
}

/* Omni-Path LIDs above 16 bits are 0 in LinkRecords and PortInfoRecords. */
static void records_without_a_node_are_hidden(void **state)
{
	const struct ibsa_port_info port = rig_edr(7, 1);
	struct ibsa_topology *topology = fabric();

	(void)state;
	assert_int_equal(rig_end(topology, 0, 1, 0, 2), 0);
	finish(topology);
	expect(topology, NULL,
	       SENTENCES("hidden: 1 record of the SA has a LID that no node "
			 "has, and is left out"));
	ibsa_topology_free(topology);
	topology = fabric();
	assert_int_equal(rig_end(topology, 0, 1, 0, 2), 0);
	assert_int_equal(rig_port(topology, &port), 0);
	expect_instead(topology,
		       SENTENCES("hidden: 2 records of the SA have a LID that "
				 "no node has, and are left out"));
}

/*
 * If records are left out, a link is missing only if one of its ports is shown,
 * and is not active.
 */
static void only_a_port_that_is_shown_lacks_its_link(void **state)
{
	struct ibsa_port_info down = rig_edr(LEAF, 2);
	struct ibsa_topology *topology = fabric();

	(void)state;
	down.port_state = IBSA_PORT_DOWN;
	link(topology, LEAF, 1, 1, 1);
	link(topology, LEAF, 5, SPINE, 5);
	assert_int_equal(rig_end(topology, 0, 1, 0, 2), 0);
	assert_int_equal(rig_port(topology, &down), 0);
	expect_instead(topology,
		       SENTENCES("hidden: 1 record of the SA has a LID that no "
				 "node has, and is left out",
				 "missing: b port 1 to leaf port 2 is "
				 "missing"));
}

static void two_swapped_cables_have_moved(void **state)
{
	struct ibsa_topology *topology = fabric();

	(void)state;
	link(topology, LEAF, 1, 2, 1);
	link(topology, LEAF, 2, 1, 1);
	link(topology, LEAF, 5, SPINE, 5);
	link(topology, LEAF, 6, SPINE, 6);
	expect_instead(topology,
		       SENTENCES("moved: a port 1 is connected to leaf port 2, "
				 "expected is leaf port 1",
				 "moved: b port 1 is connected to leaf port 1, "
				 "expected is leaf port 2"));
}

/*
 * A cable is in another port than expected; the finding is the same from
 * either end.
 */
static void a_cable_in_another_port_has_moved(void **state)
{
	struct ibsa_topology *topology = fabric();

	(void)state;
	link(topology, LEAF, 3, 1, 1);
	link(topology, LEAF, 2, 2, 1);
	link(topology, LEAF, 7, SPINE, 5);
	link(topology, LEAF, 6, SPINE, 6);
	expect_instead(topology,
		       SENTENCES("moved: a port 1 is connected to leaf port 3, "
				 "expected is leaf port 1",
				 "moved: spine port 5 is connected to leaf "
				 "port 7, expected is leaf port 5"));
}

/* One cable is missing, and another one is in its port of the spine. */
static void a_cable_may_be_where_another_was(void **state)
{
	struct ibsa_topology *topology = fabric();

	(void)state;
	link(topology, LEAF, 1, 1, 1);
	link(topology, LEAF, 2, 2, 1);
	link(topology, LEAF, 6, SPINE, 5);
	expect_instead(topology,
		       SENTENCES("missing: leaf port 5 to spine port 5 is "
				 "missing",
				 "moved: leaf port 6 is connected to spine "
				 "port 5, expected is spine port 6"));
}

static void a_new_cable_and_a_new_host_are_new(void **state)
{
	struct ibsa_topology *topology = whole();

	(void)state;
	link(topology, LEAF, 7, SPINE, 7);
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 8, "c"), 0);
	link(topology, LEAF, 8, 8, 1);
	expect_instead(topology, SENTENCES("new: c is new (port 1 to leaf "
					   "port 8)",
					   "new: leaf port 7 to spine port 7 "
					   "is new"));
}

/* The fabric without b, whose port at the switch the SA shows, or does not. */
static struct ibsa_topology *without_b(bool is_shown)
{
	struct ibsa_port_info port = rig_edr(LEAF, 2);
	struct ibsa_topology *topology;

	assert_int_equal(ibsa_topology_new(&topology), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_CA, 1, "a"), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, LEAF, "leaf"), 0);
	assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, SPINE, "spine"),
			 0);
	link(topology, LEAF, 1, 1, 1);
	link(topology, LEAF, 5, SPINE, 5);
	link(topology, LEAF, 6, SPINE, 6);
	port.port_state = IBSA_PORT_DOWN;
	if (is_shown)
		assert_int_equal(rig_port(topology, &port), 0);
	return topology;
}

static void a_host_without_a_link_is_missing(void **state)
{
	(void)state;
	expect_instead(without_b(true),
		       SENTENCES("missing: b is missing (port 1 to leaf port "
				 "2)"));
}

/*
 * Expected nodes that no cable connects with the fabric are in another subnet.
 * If none of the expected nodes is shown, all are missing.
 */
static void another_subnet_is_not_missing(void **state)
{
	static const char text[] = "caguid=0x100\nCa 1 \"a\"\n[1] \"b\"[1]\n"
				   "caguid=0x200\nCa 1 \"b\"\n"
				   "caguid=0x300\nCa 1 \"c\"\n[1] \"d\"[1]\n"
				   "caguid=0x400\nCa 1 \"d\"\n"
				   "caguid=0x500\nCa 1 \"e\"\n";
	struct ibsa_topology *expected, *now;

	(void)state;
	assert_int_equal(ibsa_topology_parse(text, sizeof(text) - 1, NULL, NULL,
					     &expected),
			 0);
	assert_int_equal(ibsa_topology_new(&now), 0);
	assert_int_equal(rig_node(now, IBSA_NODE_CA, 1, "a"), 0);
	finish(now);
	expect(now, expected,
	       SENTENCES("missing: b is missing (port 1 to a port 1)",
			 "missing: e is missing (the node has no link)"));
	ibsa_topology_free(now);
	assert_int_equal(ibsa_topology_new(&now), 0);
	finish(now);
	expect(now, expected,
	       SENTENCES("missing: a is missing (port 1 to b port 1)",
			 "missing: b is missing (port 1 to a port 1)",
			 "missing: c is missing (port 1 to d port 1)",
			 "missing: d is missing (port 1 to c port 1)",
			 "missing: e is missing (the node has no link)"));
	ibsa_topology_free(now);
	ibsa_topology_free(expected);
}

/* An SA does not show a switch's port whose peer is in another partition. */
static void a_host_in_another_partition_is_told(void **state)
{
	(void)state;
	expect_instead(without_b(false),
		       SENTENCES("missing: b is missing, or in no partition of "
				 "this port (port 1 to leaf port 2)"));
}

/* A link that is slower than expected is reported as slower only, although both
 * of its ends support a higher speed. */
static void a_slower_link_is_one_finding(void **state)
{
	struct ibsa_topology *topology = whole();
	struct ibsa_port_info port = rig_edr(LEAF, 5);

	(void)state;
	port.link_speed_ext_active = 1;
	assert_int_equal(rig_port(topology, &port), 0);
	port = rig_edr(SPINE, 5);
	port.link_speed_ext_active = 1;
	assert_int_equal(rig_port(topology, &port), 0);
	expect_instead(topology,
		       SENTENCES("slower: leaf port 5 to spine port 5 runs at "
				 "4xFDR, expected is 4xEDR"));
}

static void a_faster_link_has_no_finding(void **state)
{
	struct ibsa_topology *topology = whole();

	(void)state;
	for (uint16_t lid = LEAF; lid <= SPINE; lid++) {
		struct ibsa_port_info port = rig_edr(lid, 5);

		port.link_speed_ext_active = 4;
		port.link_speed_ext_supported = 7;
		assert_int_equal(rig_port(topology, &port), 0);
	}
	expect_instead(topology, (const char *const[]){ NULL });
}

static void findings_are_limited(void **state)
{
	struct ibsa_topology *topology;
	struct ibsa_finding finding;

	(void)state;
	assert_int_equal(ibsa_topology_new(&topology), 0);
	for (uint32_t i = 0; i < 70000; i++) {
		const struct ibsa_node node = { .node_guid = i + 1 };

		assert_int_equal(ibsa_topology_add(topology, &ibsa_node_record,
						   &node, sizeof(node)),
				 0);
	}
	finish(topology);
	assert_int_equal(ibsa_topology_check(topology, NULL), 0);
	assert_int_equal(ibsa_topology_finding_at(topology, 65535, &finding),
			 0);
	assert_int_equal(ibsa_topology_finding_at(topology, 65536, &finding),
			 -ENOENT);
	ibsa_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_kind_has_no_name),
		cmocka_unit_test(a_whole_fabric_has_no_findings),
		cmocka_unit_test(a_link_that_is_not_active_is_down),
		cmocka_unit_test(a_file_may_have_states),
		cmocka_unit_test(anomalies_of_a_file_are_found),
		cmocka_unit_test(a_link_below_both_ends_is_degraded),
		cmocka_unit_test(one_end_is_a_finding),
		cmocka_unit_test(an_adapter_port_should_be_active),
		cmocka_unit_test(guids_and_lids_must_differ),
		cmocka_unit_test(a_node_should_have_a_description),
		cmocka_unit_test(names_are_safe_to_print),
		cmocka_unit_test(a_cut_cable_is_missing),
		cmocka_unit_test(hidden_links_and_nodes_are_not_missing),
		cmocka_unit_test(records_without_a_node_are_hidden),
		cmocka_unit_test(only_a_port_that_is_shown_lacks_its_link),
		cmocka_unit_test(two_swapped_cables_have_moved),
		cmocka_unit_test(a_cable_in_another_port_has_moved),
		cmocka_unit_test(a_cable_may_be_where_another_was),
		cmocka_unit_test(a_new_cable_and_a_new_host_are_new),
		cmocka_unit_test(a_host_without_a_link_is_missing),
		cmocka_unit_test(a_host_in_another_partition_is_told),
		cmocka_unit_test(another_subnet_is_not_missing),
		cmocka_unit_test(a_slower_link_is_one_finding),
		cmocka_unit_test(a_faster_link_has_no_finding),
		cmocka_unit_test(findings_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
