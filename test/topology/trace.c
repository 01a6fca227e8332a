/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traces by forwarding tables, also by tables with holes and loops. */
#include <errno.h>

#include <ibsa/topology.h>

#include "test/topology/rig.h"

enum { A = 1, B = 2, LEAF_A = 3, LEAF_B = 4, SPINE = 5, LID_COUNT = 6 };

enum { HIDDEN_PORT = 20 }; /* of SPINE: active, without a link */

static struct ibsa_topology *topology;

/* The last trace; the next one, or the end of the test, frees it. */
static struct ibsa_trace *last_trace;
static struct ibsa_lft blocks[3]; /* of LEAF_A, LEAF_B and SPINE */

static void link(uint16_t a, uint8_t a_port, uint16_t b, uint8_t b_port,
		 bool is_slow)
{
	struct ibsa_port_info ports[] = { rig_edr(a, a_port),
					  rig_edr(b, b_port) };

	for (int i = 0; i < 2; i++) {
		if (is_slow)
			ports[i].link_width_active = 1; /* 1x */
		assert_int_equal(rig_port(topology, &ports[i]), 0);
	}
	assert_int_equal(rig_link(topology, a, a_port, b, b_port), 0);
}

static void route(uint16_t at, uint16_t lid, uint8_t port)
{
	blocks[at - LEAF_A].port[lid] = port;
}

/*
 * Set up a topology: each host is at port 1 of its leaf switch, each leaf is
 * connected to the spine by port 9.
 */
static int start(void **state)
{
	const struct ibsa_port_info hidden = rig_edr(SPINE, HIDDEN_PORT);

	(void)state;
	assert_int_equal(ibsa_topology_new(&topology), 0);
	for (uint16_t lid = 1; lid < LID_COUNT; lid++)
		assert_int_equal(rig_node(topology,
					  lid < LEAF_A ? IBSA_NODE_CA
						       : IBSA_NODE_SWITCH,
					  lid, "node"),
				 0);
	link(A, 1, LEAF_A, 1, false);
	link(B, 1, LEAF_B, 1, false);
	link(LEAF_A, 9, SPINE, 1, false);
	link(LEAF_B, 9, SPINE, 2, true);
	assert_int_equal(rig_port(topology, &hidden), 0);
	assert_int_equal(ibsa_topology_finish(topology), 0);
	for (uint16_t i = 0; i < 3; i++) {
		memset(&blocks[i], 255, sizeof(blocks[i]));
		blocks[i].lid = LEAF_A + i;
		blocks[i].block_num = 0;
	}
	route(LEAF_A, B, 9);
	route(SPINE, B, 2);
	route(LEAF_B, B, 1);
	route(LEAF_A, LEAF_B, 9);
	route(SPINE, LEAF_B, 2);
	route(LEAF_B, LEAF_B, 0);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ibsa_topology_free(topology);
	ibsa_trace_free(last_trace);
	last_trace = NULL;
	return 0;
}

static size_t node_of(uint16_t lid)
{
	unsigned int port;
	size_t node;

	assert_int_equal(ibsa_topology_lid_find(topology, lid, &node, &port),
			 0);
	return node;
}

static const struct ibsa_trace *trace_of(uint16_t slid, uint16_t dlid)
{
	ibsa_trace_free(last_trace);
	last_trace = NULL;
	assert_int_equal(ibsa_topology_trace(topology, slid, dlid, blocks, 3,
					     &last_trace),
			 0);
	return last_trace;
}

static void expect_hop(const struct ibsa_trace *trace, size_t index,
		       uint16_t lid, unsigned int port, uint16_t far_lid,
		       unsigned int far_port)
{
	const struct ibsa_trace_hop *hop = ibsa_trace_hop_at(trace, index);

	assert_in_range(index + 1, 1, trace->count);
	assert_int_equal(hop->node, node_of(lid));
	assert_int_equal(hop->port, port);
	assert_int_equal(hop->far_node, node_of(far_lid));
	assert_int_equal(hop->far_port, far_port);
}

static void expect_end(const struct ibsa_trace *trace, enum ibsa_trace_end end,
		       uint16_t lid, size_t count)
{
	assert_int_equal(trace->end, end);
	assert_int_equal(trace->node, node_of(lid));
	assert_int_equal(trace->count, count);
}

static void trace_follows_the_tables(void **state)
{
	const struct ibsa_trace *trace = trace_of(A, B);

	(void)state;
	expect_end(trace, IBSA_TRACE_REACHED, B, 4);
	expect_hop(trace, 0, A, 1, LEAF_A, 1);
	expect_hop(trace, 1, LEAF_A, 9, SPINE, 1);
	expect_hop(trace, 2, SPINE, 2, LEAF_B, 9);
	expect_hop(trace, 3, LEAF_B, 1, B, 1);
	for (size_t i = 0; i < trace->count; i++)
		assert_int_equal(ibsa_trace_hop_at(trace, i)->is_narrowest,
				 i == 2);
}

static void switches_are_ends_too(void **state)
{
	const struct ibsa_trace *trace = trace_of(A, LEAF_B);

	(void)state;
	expect_end(trace, IBSA_TRACE_REACHED, LEAF_B, 3);
	trace = trace_of(SPINE, B);
	expect_end(trace, IBSA_TRACE_REACHED, B, 2);
	expect_hop(trace, 0, SPINE, 2, LEAF_B, 9);
}

static void trace_to_itself_has_no_links(void **state)
{
	const struct ibsa_trace *trace = trace_of(A, A);

	(void)state;
	expect_end(trace, IBSA_TRACE_REACHED, A, 0);
	trace = trace_of(SPINE, SPINE);
	expect_end(trace, IBSA_TRACE_REACHED, SPINE, 0);
}

static void hole_ends_the_trace(void **state)
{
	const struct ibsa_trace *trace;

	(void)state;
	route(SPINE, B, 255);
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_NO_ENTRY, SPINE, 2);
	route(SPINE, B, 0);
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_NO_ENTRY, SPINE, 2);
	blocks[2].block_num = 1;
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_NO_TABLE, SPINE, 2);
}

static void loop_ends_the_trace(void **state)
{
	const struct ibsa_trace *trace;

	(void)state;
	route(LEAF_B, B, 9);
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_LOOP, SPINE, 4);
	route(SPINE, B, 1);
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_LOOP, LEAF_A, 3);
}

static void port_without_a_link_ends_the_trace(void **state)
{
	const struct ibsa_trace *trace;

	(void)state;
	route(SPINE, B, 30);
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_NO_LINK, SPINE, 2);
	assert_int_equal(trace->port, 30);
	route(SPINE, B, 254);
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_NO_LINK, SPINE, 2);
}

static void hidden_link_ends_the_trace(void **state)
{
	const struct ibsa_trace *trace;

	(void)state;
	route(SPINE, B, HIDDEN_PORT);
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_HIDDEN, SPINE, 2);
	assert_int_equal(trace->port, HIDDEN_PORT);
}

static void wrong_adapter_ends_the_trace(void **state)
{
	const struct ibsa_trace *trace;

	(void)state;
	route(LEAF_A, B, 1);
	trace = trace_of(A, B);
	expect_end(trace, IBSA_TRACE_WRONG_PORT, A, 2);
	assert_int_equal(trace->port, 1);
}

static void unknown_lid_has_no_trace(void **state)
{
	struct ibsa_trace *trace;

	(void)state;
	assert_int_equal(ibsa_topology_trace(topology, A, 99, blocks, 3,
					     &trace),
			 -ENOENT);
	assert_int_equal(ibsa_topology_trace(topology, 99, A, blocks, 3,
					     &trace),
			 -ENOENT);
}

static void every_end_has_a_text(void **state)
{
	(void)state;
	assert_string_equal(ibsa_trace_end_text(IBSA_TRACE_LOOP), "loop");
	assert_string_equal(ibsa_trace_end_text(IBSA_TRACE_HIDDEN + 1), "");
	assert_string_equal(ibsa_trace_end_text(-1), "");
}

/* Tables of a group, for the same switches. */
static struct ibsa_mft tables[3];

enum { MLID = 0xc021 }; /* block 1, entry 1 */

static void group_set(uint16_t at, uint16_t mask)
{
	tables[at - LEAF_A] = (struct ibsa_mft){
		.lid = at,
		.block_num = 1,
		.port_mask = { [1] = mask },
	};
}

/* Return: the tree of a group in which both hosts are members. */
static struct ibsa_trace_tree *tree_of(uint16_t slid)
{
	struct ibsa_trace_tree *tree;

	assert_int_equal(ibsa_topology_trace_group(topology, slid, MLID, tables,
						   3, &tree),
			 0);
	return tree;
}

static void expect_branch(const struct ibsa_trace_tree *tree, size_t index,
			  unsigned int depth, enum ibsa_trace_end end,
			  uint16_t lid, unsigned int port)
{
	assert_in_range(index + 1, 1, tree->count);
	assert_int_equal(ibsa_trace_branch_at(tree, index)->depth, depth);
	assert_int_equal(ibsa_trace_branch_at(tree, index)->end, end);
	assert_int_equal(ibsa_trace_branch_at(tree, index)->node, node_of(lid));
	assert_int_equal(ibsa_trace_branch_at(tree, index)->port, port);
}

static void group_start(void)
{
	group_set(LEAF_A, 1 << 1 | 1 << 9);
	group_set(SPINE, 1 << 1 | 1 << 2);
	group_set(LEAF_B, 1 << 1 | 1 << 9);
}

static void tree_follows_the_tables(void **state)
{
	struct ibsa_trace_tree *tree;

	(void)state;
	group_start();
	tree = tree_of(A);
	assert_int_equal(tree->count, 4);
	expect_branch(tree, 0, 1, IBSA_TRACE_REACHED, A, 1);
	expect_branch(tree, 1, 2, IBSA_TRACE_REACHED, LEAF_A, 9);
	expect_branch(tree, 2, 3, IBSA_TRACE_REACHED, SPINE, 2);
	expect_branch(tree, 3, 4, IBSA_TRACE_REACHED, LEAF_B, 1);
	assert_int_equal(ibsa_trace_branch_at(tree, 3)->far_node, node_of(B));
	ibsa_trace_tree_free(tree);
	tree = tree_of(0);
	assert_int_equal(tree->count, 4);
	expect_branch(tree, 0, 1, IBSA_TRACE_REACHED, LEAF_A, 1);
	ibsa_trace_tree_free(tree);
}

static void hole_in_a_tree_is_reported(void **state)
{
	struct ibsa_trace_tree *tree;

	(void)state;
	group_start();
	group_set(SPINE, 1 << 1);
	tree = tree_of(A);
	assert_int_equal(tree->count, 4);
	expect_branch(tree, 2, 3, IBSA_TRACE_NO_ENTRY, SPINE, 0);
	expect_branch(tree, 3, 0, IBSA_TRACE_ISLAND, LEAF_B, 0);
	ibsa_trace_tree_free(tree);
}

/* In a ring of switches, the packet comes back to a switch by another way. */
static void loop_in_a_tree_ends(void **state)
{
	struct ibsa_trace_tree *tree;
	struct ibsa_topology *ring;

	(void)state;
	assert_int_equal(ibsa_topology_new(&ring), 0);
	for (uint16_t lid = LEAF_A; lid <= SPINE; lid++)
		assert_int_equal(rig_node(ring, IBSA_NODE_SWITCH, lid, "s"), 0);
	assert_int_equal(rig_link(ring, LEAF_A, 1, LEAF_B, 2), 0);
	assert_int_equal(rig_link(ring, LEAF_B, 1, SPINE, 2), 0);
	assert_int_equal(rig_link(ring, SPINE, 1, LEAF_A, 2), 0);
	assert_int_equal(ibsa_topology_finish(ring), 0);
	for (uint16_t lid = LEAF_A; lid <= SPINE; lid++)
		group_set(lid, 1 << 1 | 1 << 2);
	assert_int_equal(
		ibsa_topology_trace_group(ring, 0, MLID, tables, 3, &tree), 0);
	assert_int_equal(tree->count, 4);
	assert_int_equal(ibsa_trace_branch_at(tree, 2)->end, IBSA_TRACE_LOOP);
	ibsa_trace_tree_free(tree);
	ibsa_topology_free(ring);
}

static void port_without_a_link_is_reported(void **state)
{
	struct ibsa_trace_tree *tree;

	(void)state;
	group_start();
	tables[0].port_mask[1] |= 1 << 7;
	tree = tree_of(A);
	assert_int_equal(tree->count, 5);
	expect_branch(tree, 1, 2, IBSA_TRACE_NO_LINK, LEAF_A, 7);
	ibsa_trace_tree_free(tree);
}

static void group_without_entries_has_an_empty_tree(void **state)
{
	struct ibsa_trace_tree *tree;

	(void)state;
	memset(tables, 0, sizeof(tables));
	tree = tree_of(0);
	assert_int_equal(tree->count, 0);
	ibsa_trace_tree_free(tree);
	ibsa_trace_tree_free(NULL);
	assert_int_equal(ibsa_topology_trace_group(topology, 99, MLID, tables,
						   3, &tree),
			 -ENOENT);
	assert_int_equal(ibsa_topology_trace_group(topology, A, 3, tables, 3,
						   &tree),
			 -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trace_follows_the_tables),
		TEST(switches_are_ends_too),
		TEST(trace_to_itself_has_no_links),
		TEST(hole_ends_the_trace),
		TEST(loop_ends_the_trace),
		TEST(port_without_a_link_ends_the_trace),
		TEST(hidden_link_ends_the_trace),
		TEST(wrong_adapter_ends_the_trace),
		TEST(unknown_lid_has_no_trace),
		TEST(every_end_has_a_text),
		TEST(tree_follows_the_tables),
		TEST(hole_in_a_tree_is_reported),
		TEST(loop_in_a_tree_ends),
		TEST(port_without_a_link_is_reported),
		TEST(group_without_entries_has_an_empty_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
