/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Get and Set of each SMP attribute at the nodes of a fabric. Source: IBA vol
 * 1, 14.2.4 to 14.2.6 and 13.4.9.
 */
#include "sma_rig.h"

static void request_for_a_missing_object_is_refused(void **state)
{
	static const struct {
		uint8_t method;
		uint16_t attribute;
		uint32_t modifier;
		uint8_t hops;
		uint16_t status;
	} cases[] = {
		{ GET, 0x0099, 0, 1, UNSUPPORTED },
		{ SET, NODE_INFO, 0, 1, UNSUPPORTED },
		{ SET, NODE_DESCRIPTION, 0, 1, UNSUPPORTED },
		{ GET, SWITCH_INFO, 0, 2, UNSUPPORTED },
		{ GET, LINEAR_TABLE, 0, 2, UNSUPPORTED },
		{ GET, MULTICAST_TABLE, 0, 2, UNSUPPORTED },
		{ GET, PORT_INFO, 21, 1, INVALID },
		{ SET, PORT_INFO, 2, 2, INVALID },
		{ GET, PKEY_TABLE, 1, 1, INVALID },
		{ GET, PKEY_TABLE, 21 << 16, 1, INVALID },
		{ GET, PKEY_TABLE, 2, 2, INVALID },
		{ GET, SL_TO_VL, 21, 1, INVALID },
		{ GET, SL_TO_VL, 21 << 8, 1, INVALID },
		{ GET, VL_ARBITRATION, 0, 1, INVALID },
		{ GET, VL_ARBITRATION, 2 << 16 | 1, 1, INVALID },
		{ GET, VL_ARBITRATION, 5 << 16 | 1, 1, INVALID },
		{ GET, VL_ARBITRATION, 1 << 16 | 21, 1, INVALID },
		{ GET, LINEAR_TABLE, 768, 1, INVALID },
		{ GET, MULTICAST_TABLE, 32, 1, INVALID },
		{ GET, MULTICAST_TABLE, UINT32_C(2) << 28, 1, INVALID },
		{ GET, GUID_INFO, 1, 1, INVALID },
		{ GET, GUID_INFO, 4, 2, INVALID },
		{ GET, SM_INFO, 0, 2, UNSUPPORTED },
		{ GET_TABLE, NODE_INFO, 0, 1, BAD_METHOD },
		{ GET_TABLE, NODE_INFO, 0, 2, BAD_METHOD },
	};
	const struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(sma_status(sma_exchange(
					 rig, cases[i].method,
					 cases[i].attribute, cases[i].modifier,
					 path_b, cases[i].hops, NULL)),
				 cases[i].status);
}

/* Of the two switches, one is a device of another vendor. */
static void only_devices_of_mellanox_have_their_attribute(void **state)
{
	static const uint8_t path_s2[] = { 1, 2 };
	const struct rig *rig = *state;

	(void)sma_get(rig, MLNX_PORT_INFO, 1, path_s, 1);
	assert_int_equal(sma_status(sma_exchange(rig, GET, MLNX_PORT_INFO, 1,
						 path_s2, 2, NULL)),
			 UNSUPPORTED);
}

static void impossible_values_are_refused(void **state)
{
	const struct rig *rig = *state;
	const struct ibsa_port_info have = sma_port_info(rig, 0, path_b, 2);
	struct ibsa_port_info want;
	uint8_t before[SMP_DATA_BYTES];

	memcpy(before, sma_get(rig, PORT_INFO, 0, path_b, 2), sizeof(before));
#define REFUSED(field, value)                                            \
	do {                                                             \
		want = have;                                             \
		want.port_state = 0;                                     \
		want.port_physical_state = 0;                            \
		want.field = (value);                                    \
		assert_int_equal(sma_set_port(rig, 0, path_b, 2, &want), \
				 0x1c);                                  \
	} while (0)
	REFUSED(lid, 0xc000);
	REFUSED(lmc, 2);
	REFUSED(master_sm_lid, 0xc000);
	REFUSED(link_width_enabled, 0x20);
	REFUSED(link_speed_enabled, 8);
	REFUSED(neighbor_mtu, 5);
	REFUSED(operational_vls, 5);
	REFUSED(port_state, 2);
	REFUSED(port_state, 5);
	REFUSED(port_physical_state, 4);
	REFUSED(link_down_default_state, 3);
#undef REFUSED
	assert_memory_equal(sma_get(rig, PORT_INFO, 0, path_b, 2), before,
			    sizeof(before));
}

/* The response repeats the request to reregister, which a Get does not show. */
static void a_request_to_reregister_is_repeated(void **state)
{
	enum { PORT_INFO_AT = 4, REREGISTER_AT = 51, REREGISTER = 0x80 };
	const struct rig *rig = *state;
	struct ibsa_port_info want = sma_port_info(rig, 0, path_b, 2);
	uint8_t wire[PORT_INFO_AT + SMP_DATA_BYTES];
	const uint8_t *mad;
	uint64_t over;

	want.port_state = 0;
	want.port_physical_state = 0;
	want.client_reregister = 1;
	ibsa_port_info_record.encode(&want, wire, &over);
	mad = sma_exchange(rig, SET, PORT_INFO, 0, path_b, 2,
			   wire + PORT_INFO_AT);
	assert_int_equal(sma_status(mad), 0);
	assert_int_equal(mad[SMP_DATA + REREGISTER_AT] & REREGISTER,
			 REREGISTER);
	mad = sma_get(rig, PORT_INFO, 0, path_b, 2);
	assert_int_equal(mad[REREGISTER_AT] & REREGISTER, 0);
	want.lmc = 2;
	ibsa_port_info_record.encode(&want, wire, &over);
	mad = sma_exchange(rig, SET, PORT_INFO, 0, path_b, 2,
			   wire + PORT_INFO_AT);
	assert_int_equal(sma_status(mad), INVALID);
	assert_int_equal(mad[SMP_DATA + REREGISTER_AT] & REREGISTER, 0);
}

/*
 * A port counts the MADs that have no P_Key of its table, until an SM sets the
 * counter to zero; another value does not change it.
 */
static void violations_of_the_pkey_are_counted(void **state)
{
	static const uint16_t limited[] = { 0x7fff };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = limited,
		.pkey_count = 1,
	};
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	const uint32_t lid = file_lid(rig->fabric, "b", 1);
	struct ibsa_port_info info;
	struct packet_out packet;

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "a", 1, &change), 0);
	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "b", 1, &change), 0);
	for (uint8_t tid = 1; tid <= 2; tid++) {
		packet = file_request(agent, lid, CLASS_VENDOR, GET, NODE_INFO,
				      tid);
		assert_int_equal(file_write(rig->a, &packet), 0);
	}
	for (uint16_t value = 4; value-- > 0;) {
		info = sma_port_info(rig, 0, path_b, 2);
		assert_int_equal(info.p_key_violations, 2);
		assert_int_equal(info.m_key_violations, 0);
		info.port_state = 0;
		info.port_physical_state = 0;
		info.p_key_violations = value;
		info.m_key_violations = value;
		assert_int_equal(sma_set_port(rig, 0, path_b, 2, &info), 0);
	}
	info = sma_port_info(rig, 0, path_b, 2);
	assert_int_equal(info.p_key_violations, 0);
	assert_int_equal(info.m_key_violations, 0);
}

/* Each kind of table returns what was set. */
static void tables_keep_what_is_set(void **state)
{
	static const struct {
		uint16_t attribute;
		uint32_t modifier;
		uint8_t hops;
		uint8_t bytes;
	} cases[] = {
		{ PKEY_TABLE, 0, 2, 64 },
		{ PKEY_TABLE, 1, 2, 64 },
		{ PKEY_TABLE, 17 << 16 | 1, 1, 64 },
		{ PKEY_TABLE, 0, 1, 16 },
		{ SL_TO_VL, 0, 2, 8 },
		{ SL_TO_VL, 17 << 8 | 1, 1, 8 },
		{ VL_ARBITRATION, 1 << 16, 2, 16 },
		{ VL_ARBITRATION, 3 << 16 | 20, 1, 16 },
		{ LINEAR_TABLE, 0, 1, 64 },
		{ LINEAR_TABLE, 767, 1, 64 },
		{ MULTICAST_TABLE, 0, 1, 64 },
		{ MULTICAST_TABLE, 31 | 1 << 28, 1, 64 },
		{ GUID_INFO, 3, 2, 64 },
	};
	const struct rig *rig = *state;
	uint8_t data[SMP_DATA_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *mad;

		for (size_t k = 0; k < sizeof(data); k++)
			data[k] = (uint8_t)(1 + i + k);
		mad = sma_exchange(rig, SET, cases[i].attribute,
				   cases[i].modifier, path_b, cases[i].hops,
				   data);
		assert_int_equal(sma_status(mad), 0);
		assert_memory_equal(mad + SMP_DATA, data, cases[i].bytes);
		mad = sma_get(rig, cases[i].attribute, cases[i].modifier,
			      path_b, cases[i].hops);
		assert_memory_equal(mad, data, cases[i].bytes);
	}
	/* A neighbour has its own table. */
	assert_int_equal(sma_get(rig, SL_TO_VL, 17 << 8 | 2, path_b, 1)[0],
			 0x01);
}

/* The embedded SM has configured all nodes; their tables show it. */
static void the_embedded_sm_shows_its_tables(void **state)
{
	const struct rig *rig = *state;
	const uint32_t lid_b = file_lid(rig->fabric, "b", 1);
	const uint32_t lid_s = file_lid(rig->fabric, "s", 0);
	const uint8_t *data = sma_get(rig, LINEAR_TABLE, 0, path_s, 1);
	struct ibsa_port_info info;

	assert_int_equal(data[0], 0xff);
	assert_int_equal(data[file_lid(rig->fabric, "a", 1)], 1);
	assert_int_equal(data[lid_b], 17);
	assert_int_equal(data[lid_s], 0);
	assert_int_equal(data[file_lid(rig->fabric, "s2", 0)], 2);
	data = sma_get(rig, SWITCH_INFO, 0, path_s, 1);
	assert_int_equal(ibsa_be16(data + 6), 4);
	assert_int_equal(data[11] & 4, 0);
	info = sma_port_info(rig, 0, path_b, 2);
	assert_int_equal(info.lid, lid_b);
	assert_int_equal(info.port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(info.master_sm_lid, file_lid(rig->fabric, "a", 1));
	/*
	 * Capabilities: NodeInfo has a system image GUID, and vendor classes are
	 * refused.
	 */
	assert_int_equal(info.capability_mask & (1 << 20 | 1 << 11), 1 << 11);
	assert_int_equal(sma_port_info(rig, 17, path_s, 1).port_state,
			 IBSA_PORT_ACTIVE);
	assert_int_equal(sma_port_info(rig, 3, path_s, 1).port_state,
			 IBSA_PORT_DOWN);
	/* A port without a link has the P_Key of power-on. */
	data = sma_get(rig, PKEY_TABLE, 3 << 16, path_s, 1);
	assert_int_equal(ibsa_be16(data), 0xffff);
	assert_int_equal(ibsa_be16(data + 2), 0);
	data = sma_get(rig, SM_INFO, 0, no_path, 0);
	/* Priority 0 and Master, as in the SA's record: test/fabric/sa.c. */
	assert_int_equal(data[20], 0x03);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(request_for_a_missing_object_is_refused),
		TEST(only_devices_of_mellanox_have_their_attribute),
		TEST(impossible_values_are_refused),
		TEST(a_request_to_reregister_is_repeated),
		TEST(violations_of_the_pkey_are_counted),
		TEST(tables_keep_what_is_set),
		BARE(tables_keep_what_is_set),
		TEST(the_embedded_sm_shows_its_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
