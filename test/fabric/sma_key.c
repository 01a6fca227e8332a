/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an M_Key protects, and until when. Source: IBA vol 1, 14.2.4 to 14.2.6
 * and 13.4.9.
 */
#include "sma_rig.h"
#include "wire/mad.h"

static void protect(const struct rig *rig, uint8_t bits, uint16_t lease)
{
	struct ibsa_port_info info = sma_port_info(rig, 0, path_b, 2);

	info.m_key = 0x1234;
	info.m_key_protect_bits = bits;
	info.m_key_lease_period = lease;
	info.port_state = 0;
	info.port_physical_state = 0;
	assert_int_equal(sma_set_port(rig, 0, path_b, 2, &info), 0);
}

static bool is_answered(const struct rig *rig, uint8_t method, uint64_t key)
{
	struct packet_out packet = file_smp(rig->sm, method, PKEY_TABLE, 0,
					    path_b, 2);
	struct packet_in in;

	packet.header.timeout_ms = 1;
	ibsa_put_be64(packet.mad + SMP_M_KEY, key);
	ibsa_put_be16(packet.mad + SMP_DATA, 0xffff);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(ibsa_fabric_advance(rig->fabric, MS), 0);
	assert_true(file_read(rig->a, &in));
	return !in.header.status;
}

/* Requests without the key may read, unless the protect bits forbid that. */
static void an_m_key_protects(void **state)
{
	const struct rig *rig = *state;

	protect(rig, 1, 0);
	assert_true(is_answered(rig, GET, 0));
	assert_int_equal(sma_port_info(rig, 0, path_b, 2).m_key, 0);
	assert_false(is_answered(rig, SET, 0x1235));
	assert_true(is_answered(rig, SET, 0x1234));
	assert_int_equal(sma_port_info(rig, 0, path_b, 2).m_key_violations, 1);
}

/* The SM receives a trap with the requester, request, key and path. */
static void a_wrong_m_key_causes_a_trap(void **state)
{
	const struct rig *rig = *state;
	const uint8_t *details;
	struct packet_out packet;
	struct packet_in in;

	sma_bring_up(rig);
	protect(rig, 2, 0);
	packet = file_smp(rig->sm, SET, PKEY_TABLE, 5, path_b, 2);
	ibsa_put_be64(packet.mad + SMP_M_KEY, 0x9999);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.mad[MAD_METHOD], TRAP);
	assert_int_equal(in.mad[SMP_DATA], 0x82);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 4), 256);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 6), LID_B);
	details = in.mad + SMP_DATA + 10;
	assert_int_equal(ibsa_be16(details + 2), 0xffff);
	assert_int_equal(ibsa_be16(details + 4), 0xffff);
	assert_int_equal(details[6], SET);
	assert_int_equal(ibsa_be16(details + 8), PKEY_TABLE);
	assert_int_equal(ibsa_be32(details + 10), 5);
	assert_int_equal(ibsa_be64(details + 14), 0x9999);
	assert_int_equal(details[23], 0x82);
	assert_int_equal(details[24], 1);
	assert_int_equal(details[25], 1);
}

/* The lease of a key that no request uses ends. */
static void an_m_key_ends_with_its_lease(void **state)
{
	const struct rig *rig = *state;

	protect(rig, 3, 10);
	assert_false(is_answered(rig, GET, 1));
	assert_true(is_answered(rig, GET, 0x1234));
	assert_int_equal(ibsa_fabric_advance(rig->fabric, 20000 * MS), 0);
	assert_false(is_answered(rig, GET, 1));
	assert_int_equal(ibsa_fabric_advance(rig->fabric, 10000 * MS), 0);
	assert_true(is_answered(rig, GET, 1));
	assert_int_equal(sma_port_info(rig, 0, path_b, 2).m_key, 0x1234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BARE(an_m_key_protects),
		BARE(a_wrong_m_key_causes_a_trap),
		BARE(an_m_key_ends_with_its_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
