/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric of the tests of reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reason_support.h"

/* Topology of the test. The last host has an adapter with two ports. */
static const char topology[] = "switchguid=0x100\n"
			       "Switch 8 \"hub\"\n"
			       "[1] \"a\"[1] # 4xEDR\n"
			       "[2] \"b\"[1] # 4xEDR\n"
			       "[3] \"c\"[1] # 4xEDR\n"
			       "[4] \"d\"[1] # 4xEDR\n"
			       "[5] \"e\"[1] # 4xEDR\n"
			       "[6] \"e\"[2] # 4xEDR\n"
			       "caguid=0x1000\nCa 1 \"a\"\n"
			       "caguid=0x2000\nCa 1 \"b\"\n"
			       "caguid=0x3000\nCa 1 \"c\"\n"
			       "caguid=0x4000\nCa 1 \"d\"\n"
			       "caguid=0x5000\nCa 2 \"e\"\n";

struct ibsa_fabric *fabric;
struct ibsa_client *clients[2];

int reason_start(void **state)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.latency_us = 100,
		.sa_node = "d",
	};

	(void)state;
	assert_int_equal(ibsa_fabric_parse(topology, sizeof(topology) - 1,
					   &options, NULL, &fabric),
			 0);
	for (uint64_t key = 0; key <= SM_KEY; key++) {
		const struct ibsa_options client_options = {
			.on = fabric,
			.device = "a",
			.window = 2,
			.access.sm_key = key,
		};

		assert_int_equal(
			ibsa_open(&client_options, NULL, &clients[key]), 0);
	}
	return 0;
}

int reason_stop(void **state)
{
	(void)state;
	assert_int_equal(ibsa_close(clients[0]), 0);
	assert_int_equal(ibsa_close(clients[1]), 0);
	ibsa_fabric_put(fabric);
	return 0;
}

struct ibsa_gid gid_of(uint64_t guid)
{
	struct ibsa_gid gid = { { 0xfe, 0x80 } };

	for (int i = 0; i < 8; i++)
		gid.raw[8 + i] = (uint8_t)(guid >> (56 - 8 * i));
	return gid;
}

void set_link(const char *node, unsigned int port, bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	assert_int_equal(ibsa_fabric_port_set(fabric, node, port, &change), 0);
}

uint64_t requests(void)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(fabric, &stats);
	return stats.requests;
}
