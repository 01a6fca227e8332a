/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths of SMPs through a fabric, and where they end. Source: IBA vol 1, 14.2.4
 * to 14.2.6 and 13.4.9.
 */
#include <errno.h>

#include "sma_rig.h"
#include "wire/mad.h"

static void an_smp_follows_its_path(void **state)
{
	const struct rig *rig = *state;
	const uint8_t *data = sma_get(rig, NODE_INFO, 0, no_path, 0);
	const uint8_t *mad;

	assert_int_equal(data[2], IBSA_NODE_CA);
	assert_int_equal(data[36], 1);
	mad = sma_exchange(rig, GET, NODE_INFO, 0, path_s, 1, NULL);
	assert_int_equal(mad[MAD_STATUS], 0x80);
	assert_int_equal(mad[SMP_HOP_POINTER], 0);
	assert_int_equal(mad[SMP_RETURN_PATH + 1], 1);
	assert_int_equal(mad[SMP_DATA + 2], IBSA_NODE_SWITCH);
	assert_int_equal(mad[SMP_DATA + 3], 20);
	assert_int_equal(mad[SMP_DATA + 36], 1);
	mad = sma_exchange(rig, GET, NODE_INFO, 0, path_b, 2, NULL);
	assert_int_equal(mad[SMP_RETURN_PATH + 1], 1);
	assert_int_equal(mad[SMP_RETURN_PATH + 2], 1);
	assert_int_equal(mad[SMP_DATA + 2], IBSA_NODE_CA);
	mad = sma_get(rig, NODE_DESCRIPTION, 0, path_s, 1);
	assert_string_equal((const char *)mad, "the switch");
}

/*
 * An SMP does not arrive if its path leads to a port without a cable, through
 * an adapter, or over a link that is down.
 */
static void a_wrong_path_ends(void **state)
{
	static const uint8_t paths[][3] = {
		{ 1, 3 },
		{ 1, 0 },
		{ 1, 21 },
		{ 1, 17, 1 },
	};
	static const uint8_t hops[] = { 2, 2, 2, 3 };
	const struct rig *rig = *state;
	struct packet_in in;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct packet_out packet = file_smp(rig->sm, GET, NODE_INFO, 0,
						    paths[i], hops[i]);

		packet.mad[MAD_TID + 7] = (uint8_t)i;
		assert_int_equal(file_write(rig->a, &packet), 0);
		assert_false(file_read(rig->a, &in));
	}
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_PORT_DOWN), 1);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_ROUTE), 3);
}

/*
 * An SMP is refused if the kernel's smi.c would reject its path before sending
 * it.
 */
static void an_smp_with_an_invalid_path_is_refused(void **state)
{
	static const struct {
		uint8_t direction, pointer, count, first, last;
		int err;
		bool is_answered;
	} cases[] = {
		{ 0, 0, 0, 0, 0, 0, true },	 { 0, 1, 0, 0, 0, 0, true },
		{ 0, 2, 0, 0, 0, -EINVAL },	 { 0, 0, 1, 2, 0, -EINVAL },
		{ 0, 1, 2, 1, 0, -EINVAL },	 { 0, 2, 2, 1, 0, -EINVAL },
		{ 0, 9, 2, 1, 0, -EINVAL },	 { 0, 0, 63, 1, 0, 0 },
		{ 0, 0, 64, 1, 0, -EINVAL },	 { 0, 255, 255, 1, 0, -EINVAL },
		{ 0x80, 3, 2, 0, 1, 0 },	 { 0x80, 3, 2, 0, 2, -EINVAL },
		{ 0x80, 2, 2, 0, 1, -EINVAL },	 { 0x80, 1, 2, 0, 1, 0 },
		{ 0x80, 0, 2, 0, 1, 0 },	 { 0x80, 4, 2, 0, 1, -EINVAL },
		{ 0x80, 0, 255, 0, 1, -EINVAL },
	};
	const struct rig *rig = *state;
	struct packet_in in;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct packet_out packet = file_smp(rig->sm, GET, NODE_INFO, 0,
						    no_path, 0);

		packet.mad[MAD_TID + 7] = (uint8_t)i;
		packet.mad[MAD_METHOD] |= cases[i].direction;
		packet.mad[MAD_STATUS] = cases[i].direction;
		packet.mad[SMP_HOP_POINTER] = cases[i].pointer;
		packet.mad[SMP_HOP_COUNT] = cases[i].count;
		packet.mad[SMP_INITIAL_PATH + 1] = cases[i].first;
		if (cases[i].count < 64)
			packet.mad[192 + cases[i].count] = cases[i].last;
		assert_int_equal(file_write(rig->a, &packet), cases[i].err);
		/* An SMP without a path is for the port itself. */
		assert_int_equal(file_read(rig->a, &in),
				 !cases[i].err && cases[i].is_answered);
		if (cases[i].is_answered)
			assert_int_equal(in.mad[SMP_DATA + 2], IBSA_NODE_CA);
	}
}

/*
 * Get the NodeInfo of the node that is @hops hops from the switch on the path to
 * b. The SMP goes to the switch by LID.
 */
static const uint8_t *node_info_from_switch(const struct rig *rig, uint8_t hops)
{
	struct packet_out packet = file_smp(rig->sm, GET, NODE_INFO, 0,
					    path_b + 1, hops);

	ibsa_put_be16((uint8_t *)&packet.header.lid,
		      (uint16_t)file_lid(rig->fabric, "s", 0));
	ibsa_put_be16(packet.mad + SMP_DR_SLID,
		      (uint16_t)file_lid(rig->fabric, "a", 1));
	return file_exchange(rig->a, &packet) + SMP_DATA;
}

/*
 * An SMP may go to a switch by LID, and from there along a directed path, which
 * may have no hops.
 */
static void a_path_may_begin_at_a_lid(void **state)
{
	const struct rig *rig = *state;
	const uint8_t *info = node_info_from_switch(rig, 1);

	assert_int_equal(info[2], IBSA_NODE_CA);
	assert_int_equal(info[3], 2);
	info = node_info_from_switch(rig, 0);
	assert_int_equal(info[2], IBSA_NODE_SWITCH);
	assert_int_equal(info[36], 1);
}

/* The LID-routed class reaches the same agents. */
static void smps_can_be_lid_routed(void **state)
{
	const struct rig *rig = *state;
	const struct packet_out packet =
		file_request(rig->lid, file_lid(rig->fabric, "s", 0),
			     CLASS_SMP_LID, GET, NODE_INFO, 9);
	const uint8_t *mad = file_exchange(rig->a, &packet);

	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0);
	assert_int_equal(mad[SMP_DATA + 2], IBSA_NODE_SWITCH);
	assert_int_equal(mad[SMP_DATA + 36], 1);
}

/* SMInfo goes to the agent that has registered for it. */
static void sm_info_goes_to_the_sm(void **state)
{
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->b, CLASS_SMP_DIRECT, 1,
					  1 << GET);
	struct packet_out packet = file_smp(rig->sm, GET, SM_INFO, 0, path_b,
					    2);
	struct packet_in in;

	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(in.header.id, agent);
	packet.header = in.header;
	memcpy(packet.mad, in.mad, sizeof(packet.mad));
	packet.mad[MAD_METHOD] = GET_RESP;
	packet.mad[MAD_STATUS] = 0x80;
	packet.mad[SMP_DATA] = 0x5a;
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.mad[SMP_DATA], 0x5a);
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid), 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_smp_follows_its_path),
		BARE(an_smp_follows_its_path),
		TEST(a_wrong_path_ends),
		TEST(an_smp_with_an_invalid_path_is_refused),
		TEST(a_path_may_begin_at_a_lid),
		TEST(smps_can_be_lid_routed),
		BARE(sm_info_goes_to_the_sm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
