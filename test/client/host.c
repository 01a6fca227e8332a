/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts: the nodes that match a name, and their ports. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/reach.h>
#include <ibsa/types.h>

#include "common/host.h"

static void names_match_descriptions(void **state)
{
	static const struct {
		const char *name;
		const char *description;
		int match;
	} cases[] = {
		{ "dgx1", "dgx1 mlx5_0", 4 },
		{ "dgx1", "dgx1", 4 },
		{ "dgx1 mlx5_0", "dgx1 mlx5_0", 4 },
		{ "DGX1", "dgx1 mlx5_0", 3 },
		{ "Dgx1 mlx5_0", "dgx1 mlx5_0", 3 },
		{ "dgx1/mlx5_0", "dgx1 mlx5_0", 2 },
		{ "dgx1/MLX5_0", "dgx1 mlx5_0", 1 },
		{ "rack/1", "rack/1 up", 4 },
		{ "dgx1", "dgx10 mlx5_0", 0 },
		{ "dgx10", "dgx1", 0 },
		{ "dgx1 mlx5", "dgx1 mlx5_0", 0 },
		{ "dgx1 mlx5_0", "dgx1 mlx5_0 x", 0 },
		{ "dgx1/mlx5", "dgx1 mlx5_0", 0 },
		{ "dgx1/", "dgx1 ", 2 },
		{ "/mlx5_0", " mlx5_0", 0 },
		{ "mlx5_0", "dgx1 mlx5_0", 0 },
		{ "", "dgx1", 0 },
		{ "", "", 0 },
		{ "a", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (ibsa__host_match(cases[i].name, cases[i].description) !=
		    cases[i].match)
			fail_msg("'%s' and '%s'", cases[i].name,
				 cases[i].description);
	}
}

static void device_is_what_follows_the_first_word(void **state)
{
	(void)state;
	assert_string_equal(ibsa__host_device("dgx1 mlx5_0"), "mlx5_0");
	assert_string_equal(ibsa__host_device("dgx1  a b"), "a b");
	assert_string_equal(ibsa__host_device("dgx1"), "");
	assert_string_equal(ibsa__host_device("dgx1 "), "");
	assert_string_equal(ibsa__host_device(""), "");
}

static struct ibsa_node node(const char *description, uint8_t type,
			     uint8_t port)
{
	struct ibsa_node out = {
		.node_type = type,
		.local_port_num = port,
		.node_guid = 1,
		.port_guid = port,
	};

	snprintf(out.node_description, sizeof(out.node_description), "%s",
		 description);
	return out;
}

static void best_matches_are_selected_in_order(void **state)
{
	const struct ibsa_node nodes[] = {
		node("a mlx5_10", IBSA_NODE_CA, 1),
		node("A mlx5_1", IBSA_NODE_CA, 1),
		node("a mlx5_9", IBSA_NODE_CA, 2),
		node("a switch", IBSA_NODE_SWITCH, 0),
		node("a mlx5_9", IBSA_NODE_CA, 1),
		node("b", IBSA_NODE_SWITCH, 0),
	};
	const size_t count = sizeof(nodes) / sizeof(nodes[0]);
	struct ibsa_node *ports = NULL;
	size_t found = 9;

	(void)state;
	assert_int_equal(ibsa_host_select(nodes, count, "a", &ports, &found),
			 0);
	assert_int_equal(found, 3);
	assert_string_equal(ports[0].node_description, "a mlx5_9");
	assert_int_equal(ports[0].local_port_num, 1);
	assert_int_equal(ports[1].local_port_num, 2);
	assert_string_equal(ports[2].node_description, "a mlx5_10");
	ibsa_host_ports_free(ports);
	assert_int_equal(ibsa_host_select(nodes, count, "A", &ports, &found),
			 0);
	assert_int_equal(found, 1);
	ibsa_host_ports_free(ports);
	assert_int_equal(ibsa_host_select(nodes, count, "B", &ports, &found),
			 0);
	assert_int_equal(found, 1);
	ibsa_host_ports_free(ports);
	assert_int_equal(ibsa_host_select(nodes, count, "c", &ports, &found),
			 0);
	assert_int_equal(found, 0);
	assert_null(ports);
	assert_int_equal(ibsa_host_select(nodes, 0, "a", &ports, &found), 0);
	assert_int_equal(found, 0);
	assert_int_equal(ibsa_host_select(nodes, count, "", &ports, &found),
			 -EINVAL);
	assert_int_equal(ibsa_host_select(nodes, count, NULL, &ports, &found),
			 -EINVAL);
	ibsa_host_ports_free(NULL);
}

static void ports_of_a_host_are_queried(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC,
					      .device = "dgx3" };
	struct ibsa_client *client;
	struct ibsa_node *ports;
	size_t count;

	(void)state;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_host_ports(client, "dgx2", &ports, &count), 0);
	assert_int_equal(count, 4);
	assert_string_equal(ports[3].node_description, "dgx2 mlx5_3");
	ibsa_host_ports_free(ports);
	assert_int_equal(ibsa_host_ports(client, "dgx2/mlx5_1", &ports, &count),
			 0);
	assert_int_equal(count, 1);
	ibsa_host_ports_free(ports);
	/* The SA has no record of dgx4, since dgx4 has no link. */
	assert_int_equal(ibsa_host_ports(client, "dgx4", &ports, &count), 0);
	assert_int_equal(count, 0);
	assert_null(ports);
	assert_int_equal(ibsa_host_ports(client, "", &ports, &count), -EINVAL);
	ibsa_close(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_match_descriptions),
		cmocka_unit_test(device_is_what_follows_the_first_word),
		cmocka_unit_test(best_matches_are_selected_in_order),
		cmocka_unit_test(ports_of_a_host_are_queried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
