/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Umad files and agents of nodes with the n-th allocation failing, for every n:
 * the operation fails, or a MAD is lost.
 */
#include <errno.h>

#include "../support/fail_alloc.h"
#include "file_rig.h"

#define MS UINT64_C(1000000)

enum {
	GET = 1,
	SET = 2,
	CLASS_VENDOR = 0x09,
	NODE_RECORD = 0x0011,
};

static const char two_hosts[] = "Switch 20 \"s\"\n"
				"[1] \"a\"[1]\n"
				"[17] \"b\"[1]\n"
				"Ca 1 \"a\"\n"
				"Ca 2 \"b\"\n";

/*
 * Sets with zero data, sent along the path to b; columns: attribute, modifier,
 * hops.
 */
static const struct {
	uint16_t attribute;
	uint32_t modifier;
	uint8_t hops;
} sets[] = {
	{ 0x12, 0, 1 },	 { 0x14, 1, 2 },
	{ 0x15, 0, 2 },	 { 0x15, 17, 1 },
	{ 0x16, 0, 2 },	 { 0x16, 17 << 16, 1 },
	{ 0x17, 17, 1 }, { 0x18, 1 << 16 | 17, 1 },
	{ 0x19, 0, 1 },	 { 0x19, 100, 1 },
	{ 0x1b, 0, 1 },	 { 0xff90, 1, 1 },
};

/* Whether the request is answered without an error. */
static bool exchange(struct port_file *file, const struct packet_out *packet,
		     int *missing)
{
	struct packet_in in;
	bool is_good = false;
	int err = file_write(file, packet);

	assert_true(!err || err == -ENOMEM);
	while (!err && file_read(file, &in))
		is_good = !in.header.status &&
			  (ibsa_be16(in.mad + MAD_STATUS) & 0x7fff) != 1;
	if (!is_good)
		++*missing;
	return is_good;
}

static void set_all(struct port_file *file, uint32_t agent, int *missing)
{
	static const uint8_t path[] = { 1, 17 };

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct packet_out packet =
			file_smp(agent, SET, sets[i].attribute,
				 sets[i].modifier, path, sets[i].hops);

		/* An alias, and tables with new values. */
		if (sets[i].attribute != 0x15)
			packet.mad[64 + 15] = (uint8_t)i;
		packet.mad[MAD_TID + 7] = (uint8_t)i;
		packet.header.retries = 1;
		exchange(file, &packet, missing);
	}
}

static bool have_agent(struct port_file *file, uint8_t mgmt_class, uint32_t *id)
{
	struct agent_request request = {
		.qpn = mgmt_class != CLASS_SMP_DIRECT,
		.mgmt_class = mgmt_class,
		.class_version = mgmt_class == IBSA_CLASS_SA ? 2 : 1,
		.rmpp_version = mgmt_class == IBSA_CLASS_SA,
	};

	*id = 0;
	if (ibsa__port_file_register(file, &request))
		return false;
	*id = request.id;
	return true;
}

/* Return: the number of operations that failed. */
static int exercise(struct ibsa_fabric *fabric)
{
	const struct ibsa_fabric_port_change pull = {
		.mask = IBSA_CHANGE_LINK,
	};
	const uint32_t port = ibsa__fabric_find_port(
		fabric, ibsa__fabric_find_node(fabric, "b"), 1);
	struct port_file *file = NULL;
	struct packet_out packet;
	uint32_t smi = 0;
	uint32_t gsi = 0;
	int missing = 0;

	if (ibsa__port_file_open(
		    &fabric->first.files,
		    ibsa__fabric_find_port(
			    fabric, ibsa__fabric_find_node(fabric, "a"), 1),
		    NULL, NULL, &file))
		return 1;
	assert_true(have_agent(file, CLASS_SMP_DIRECT, &smi));
	assert_true(have_agent(file, IBSA_CLASS_SA, &gsi));
	packet = file_request(
		gsi, fabric->first.subnet.ends[fabric->first.subnet.sa_end].lid,
		IBSA_CLASS_SA, IBSA_METHOD_GET_TABLE, NODE_RECORD, 1);
	if (!fabric->first.subnet.is_bare)
		exchange(file, &packet, &missing);
	set_all(file, smi, &missing);
	fabric->first.subnet.setups[fabric->first.subnet.topo.ports[port].end]
		.sm_lid = 1;
	assert_int_equal(ibsa_fabric_port_set(fabric, "b", 1, &pull), 0);
	assert_int_equal(ibsa_fabric_advance(fabric, 5000 * MS), 0);
	ibsa__port_file_close(file);
	return missing;
}

static void every_allocation_may_fail(const struct ibsa_fabric_options *options)
{
	int missing = 1;
	long n = 0;

	for (; missing; n++) {
		struct ibsa_fabric *fabric = file_fabric(two_hosts, options);

		fail_alloc_after(n);
		missing = exercise(fabric);
		fail_alloc_after(-1);
		ibsa_fabric_put(fabric);
	}
	assert_true(n > 10);
}

static void with_an_sa(void **state)
{
	(void)state;
	every_allocation_may_fail(NULL);
}

static void without_one(void **state)
{
	static const struct ibsa_fabric_options bare = {
		.virtual_clock = true,
		.no_sa = true,
	};

	(void)state;
	every_allocation_may_fail(&bare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_an_sa),
		cmocka_unit_test(without_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
