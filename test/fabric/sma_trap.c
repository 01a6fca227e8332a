/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Traps that nodes send to their SM. Source: IBA vol 1, 14.2.4 to 14.2.6 and
 * 13.4.9.
 */
#include "sma_rig.h"

static struct packet_out repress_of(const struct rig *rig,
				    const struct packet_in *trap)
{
	struct packet_out packet = { .header = trap->header };

	packet.header.id = rig->lid;
	memcpy(packet.mad, trap->mad, sizeof(packet.mad));
	packet.mad[MAD_METHOD] = TRAP_REPRESS;
	return packet;
}

/* A trap is sent again until it is repressed. */
static void a_switch_sends_a_trap_for_a_down_link(void **state)
{
	const struct ibsa_fabric_port_change pull = {
		.mask = IBSA_CHANGE_LINK,
	};
	const struct rig *rig = *state;
	struct packet_out repress;
	struct packet_in in;

	sma_bring_up(rig);
	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "b", 1, &pull), 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.header.id, rig->lid);
	assert_int_equal(in.mad[MAD_CLASS], CLASS_SMP_LID);
	assert_int_equal(in.mad[MAD_METHOD], TRAP);
	assert_int_equal(ibsa_be16(in.mad + MAD_ATTRIBUTE), NOTICE);
	assert_int_equal(in.mad[SMP_DATA], 0x81);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 4), 128);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 6), LID_S);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 10), LID_S);
	assert_false(file_read(rig->a, &in));
	assert_in_range(ibsa__port_file_due(rig->a), 1, 1100 * MS);
	assert_int_equal(ibsa_fabric_advance(rig->fabric, 1100 * MS), 0);
	assert_true(file_read(rig->a, &in));
	repress = repress_of(rig, &in);
	assert_int_equal(file_write(rig->a, &repress), 0);
	assert_int_equal(ibsa__port_file_due(rig->a), UINT64_MAX);
}

/* The SM may have sent the repress before the second trap reached it. */
static void a_repress_of_an_old_trap_keeps_the_new_one(void **state)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_LINK };
	const struct rig *rig = *state;
	struct packet_out represses[2];
	struct packet_in in;

	sma_bring_up(rig);
	for (int i = 0; i < 2; i++) {
		change.link_up = i;
		assert_int_equal(
			ibsa_fabric_port_set(rig->fabric, "b", 1, &change), 0);
		assert_true(file_read(rig->a, &in));
		represses[i] = repress_of(rig, &in);
	}
	assert_int_equal(file_write(rig->a, &represses[0]), 0);
	assert_int_not_equal(ibsa__port_file_due(rig->a), UINT64_MAX);
	assert_int_equal(file_write(rig->a, &represses[1]), 0);
	assert_int_equal(ibsa__port_file_due(rig->a), UINT64_MAX);
}

static void a_port_reports_an_sm_by_its_capabilities(void **state)
{
	const struct rig *rig = *state;
	struct packet_in in;

	sma_bring_up(rig);
	assert_int_equal(ibsa__port_file_issm(rig->b, true), 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.mad[SMP_DATA], 0x84);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 4), 144);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 12), LID_B);
	assert_int_equal(ibsa_be32(in.mad + SMP_DATA + 16) & 2, 2);
	assert_int_equal(sma_port_info(rig, 0, path_b, 2).capability_mask & 2,
			 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BARE(a_switch_sends_a_trap_for_a_down_link),
		BARE(a_repress_of_an_old_trap_keeps_the_new_one),
		BARE(a_port_reports_an_sm_by_its_capabilities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
