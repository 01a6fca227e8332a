/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the nodes of a fabric answer to an SM, and what comes of what it
 * sets: first each attribute, then a fabric that is brought up by hand.
 *
 * Source: IBA vol 1, 14.2.4 to 14.2.6 and 13.4.9.
 */
#include <errno.h>

#include "sim_file_rig.h"

#include "sim/node/sma.h"

#define MS UINT64_C(1000000)

enum {
	GET = 1,
	SET = 2,
	TRAP = 5,
	TRAP_REPRESS = 7,
	GET_RESP = 0x81,
	NOTICE = 0x0002,
	NODE_DESCRIPTION = 0x0010,
	NODE_INFO = 0x0011,
	SWITCH_INFO = 0x0012,
	GUID_INFO = 0x0014,
	PORT_INFO = 0x0015,
	PKEY_TABLE = 0x0016,
	SL_TO_VL = 0x0017,
	VL_ARBITRATION = 0x0018,
	LINEAR_TABLE = 0x0019,
	MULTICAST_TABLE = 0x001b,
	SM_INFO = 0x0020,
	CLASS_VENDOR = 0x09,
	INVALID = 0x1c,
	UNSUPPORTED = 0x0c,
	LID_A = 1,
	LID_S = 2,
	LID_B = 3,
};

static const char two_hosts[] = "Switch 20 \"s\" # \"the switch\"\n"
				"[1] \"a\"[1]\n"
				"[17] \"b\"[1] # 4xEDR\n"
				"[2] \"s2\"[1]\n"
				"Switch 2 \"s2\"\n"
				"Ca 1 \"a\"\n"
				"Ca 2 \"b\"\n";

/* From a: itself, the switch, b. */
static const uint8_t no_path[] = { 0 };
static const uint8_t path_s[] = { 1 };
static const uint8_t path_b[] = { 1, 17 };

struct rig {
	struct ibsa_fabric *fabric;
	struct sim_file *a;
	struct sim_file *b;
	uint32_t sm;  /* agent of a */
	uint32_t lid; /* the same, class 0x01 */
};

static void start_with(void **state, const struct ibsa_fabric_options *options)
{
	static struct rig rig;

	rig.fabric = file_fabric(two_hosts, options);
	rig.a = file_open(rig.fabric, "a", 1);
	rig.b = file_open(rig.fabric, "b", 1);
	rig.sm = file_agent(rig.a, CLASS_SMP_DIRECT, 1, 0);
	rig.lid = file_agent(rig.a, CLASS_SMP_LID, 1, 1 << TRAP);
	*state = &rig;
}

static int start(void **state)
{
	start_with(state, NULL);
	return 0;
}

static int start_bare(void **state)
{
	static const struct ibsa_fabric_options bare = {
		.virtual_clock = true,
		.no_sa = true,
	};

	start_with(state, &bare);
	return 0;
}

static int stop(void **state)
{
	struct rig *rig = *state;

	ibsa__sim_file_close(rig->a);
	ibsa__sim_file_close(rig->b);
	ibsa_fabric_put(rig->fabric);
	return 0;
}

static uint16_t status_of(const uint8_t *mad)
{
	return ibsa_be16(mad + MAD_STATUS) & 0x7fff;
}

/* An SMP from a; what has been answered, from the MAD header on. */
static const uint8_t *ask(const struct rig *rig, uint8_t method,
			  uint16_t attribute, uint32_t modifier,
			  const uint8_t *path, uint8_t hops,
			  const uint8_t *data)
{
	struct packet_out packet = file_smp(rig->sm, method, attribute,
					    modifier, path, hops);
	struct packet_in in;

	if (data)
		memcpy(packet.mad + SMP_DATA, data, SMP_DATA_BYTES);
	assert_int_equal(file_write(rig->a, &packet), 0);
	/* Traps may be there before. */
	do {
		assert_true(file_read(rig->a, &in));
	} while (in.mad[MAD_METHOD] == TRAP);
	assert_int_equal(in.header.status, 0);
	assert_int_equal(in.mad[MAD_METHOD], GET_RESP);
	return in.mad;
}

static const uint8_t *get(const struct rig *rig, uint16_t attribute,
			  uint32_t modifier, const uint8_t *path, uint8_t hops)
{
	const uint8_t *mad = ask(rig, GET, attribute, modifier, path, hops,
				 NULL);

	assert_int_equal(status_of(mad), 0);
	return mad + SMP_DATA;
}

static struct ibsa_port_info port_info(const struct rig *rig, uint32_t number,
				       const uint8_t *path, uint8_t hops)
{
	const uint8_t *data = get(rig, PORT_INFO, number, path, hops);
	struct ibsa_port_info info;
	uint8_t wire[4 + SMP_DATA_BYTES] = { 0 };

	memcpy(wire + 4, data, SMP_DATA_BYTES);
	ibsa_port_info_record.decode(wire, &info);
	return info;
}

/* Return: the status. */
static uint16_t set_port(const struct rig *rig, uint32_t number,
			 const uint8_t *path, uint8_t hops,
			 const struct ibsa_port_info *info)
{
	uint8_t wire[4 + SMP_DATA_BYTES];
	uint64_t over;

	ibsa_port_info_record.encode(info, wire, &over);
	return status_of(
		ask(rig, SET, PORT_INFO, number, path, hops, wire + 4));
}

static void an_smp_finds_its_way(void **state)
{
	const struct rig *rig = *state;
	const uint8_t *mad;

	mad = get(rig, NODE_INFO, 0, no_path, 0);
	assert_int_equal(mad[2], IBSA_NODE_CA);
	assert_int_equal(mad[36], 1);
	mad = ask(rig, GET, NODE_INFO, 0, path_s, 1, NULL);
	assert_int_equal(mad[4], 0x80);
	assert_int_equal(mad[6], 0);
	assert_int_equal(mad[193], 1);
	assert_int_equal(mad[SMP_DATA + 2], IBSA_NODE_SWITCH);
	assert_int_equal(mad[SMP_DATA + 3], 20);
	assert_int_equal(mad[SMP_DATA + 36], 1);
	mad = ask(rig, GET, NODE_INFO, 0, path_b, 2, NULL);
	assert_int_equal(mad[193], 1);
	assert_int_equal(mad[194], 1);
	assert_int_equal(mad[SMP_DATA + 2], IBSA_NODE_CA);
	mad = get(rig, NODE_DESCRIPTION, 0, path_s, 1);
	assert_string_equal((const char *)mad, "the switch");
}

/* Nowhere, through an adapter, over a dead link: none of them arrives. */
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

/* As the kernel's smi.c does, before a path begins. */
static void a_path_without_sense_is_not_begun(void **state)
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
		packet.mad[6] = cases[i].pointer;
		packet.mad[7] = cases[i].count;
		packet.mad[129] = cases[i].first;
		if (cases[i].count < 64)
			packet.mad[192 + cases[i].count] = cases[i].last;
		assert_int_equal(file_write(rig->a, &packet), cases[i].err);
		/* Without a path it is for the port itself. */
		assert_int_equal(file_read(rig->a, &in),
				 !cases[i].err && cases[i].is_answered);
		if (cases[i].is_answered)
			assert_int_equal(in.mad[SMP_DATA + 2], IBSA_NODE_CA);
	}
}

/* By LID to the switch, and on from there along a path. */
static void a_path_may_begin_at_a_lid(void **state)
{
	const struct rig *rig = *state;
	const uint32_t lid_s = file_lid(rig->fabric, "s", 0);
	struct packet_out packet = file_smp(rig->sm, GET, NODE_INFO, 0,
					    path_b + 1, 1);
	const uint8_t *mad;

	ibsa_put_be16((uint8_t *)&packet.header.lid, (uint16_t)lid_s);
	ibsa_put_be16(packet.mad + 32, (uint16_t)file_lid(rig->fabric, "a", 1));
	mad = file_ask(rig->a, &packet);
	assert_int_equal(mad[SMP_DATA + 2], IBSA_NODE_CA);
	assert_int_equal(mad[SMP_DATA + 3], 2);
}

static void what_is_not_there_is_refused(void **state)
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
	};
	const struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(status_of(ask(rig, cases[i].method,
					       cases[i].attribute,
					       cases[i].modifier, path_b,
					       cases[i].hops, NULL)),
				 cases[i].status);
}

static void values_that_cannot_be_are_refused(void **state)
{
	const struct rig *rig = *state;
	const struct ibsa_port_info have = port_info(rig, 0, path_b, 2);
	struct ibsa_port_info want;
	uint8_t before[SMP_DATA_BYTES];

	memcpy(before, get(rig, PORT_INFO, 0, path_b, 2), sizeof(before));
#define REFUSED(field, value)                                               \
	do {                                                                \
		want = have;                                                \
		want.port_state = 0;                                        \
		want.port_physical_state = 0;                               \
		want.field = (value);                                       \
		assert_int_equal(set_port(rig, 0, path_b, 2, &want), 0x1c); \
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
	assert_memory_equal(get(rig, PORT_INFO, 0, path_b, 2), before,
			    sizeof(before));
}

/* What is set is read again, of each kind of table. */
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
		mad = ask(rig, SET, cases[i].attribute, cases[i].modifier,
			  path_b, cases[i].hops, data);
		assert_int_equal(status_of(mad), 0);
		assert_memory_equal(mad + SMP_DATA, data, cases[i].bytes);
		mad = get(rig, cases[i].attribute, cases[i].modifier, path_b,
			  cases[i].hops);
		assert_memory_equal(mad, data, cases[i].bytes);
	}
	/* A neighbour's table is another one. */
	assert_int_equal(get(rig, SL_TO_VL, 17 << 8 | 2, path_b, 1)[0], 0x01);
}

/* The embedded SM has set all up, and its tables say how. */
static void the_embedded_sm_shows_its_tables(void **state)
{
	const struct rig *rig = *state;
	const uint32_t lid_b = file_lid(rig->fabric, "b", 1);
	const uint32_t lid_s = file_lid(rig->fabric, "s", 0);
	const uint8_t *mad = get(rig, LINEAR_TABLE, 0, path_s, 1);
	struct ibsa_port_info info;

	assert_int_equal(mad[0], 0xff);
	assert_int_equal(mad[file_lid(rig->fabric, "a", 1)], 1);
	assert_int_equal(mad[lid_b], 17);
	assert_int_equal(mad[lid_s], 0);
	assert_int_equal(mad[file_lid(rig->fabric, "s2", 0)], 2);
	mad = get(rig, SWITCH_INFO, 0, path_s, 1);
	assert_int_equal(ibsa_be16(mad + 6), 4);
	assert_int_equal(mad[11] & 4, 0);
	info = port_info(rig, 0, path_b, 2);
	assert_int_equal(info.lid, lid_b);
	assert_int_equal(info.port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(info.master_sm_lid, file_lid(rig->fabric, "a", 1));
	assert_int_equal(port_info(rig, 17, path_s, 1).port_state,
			 IBSA_PORT_ACTIVE);
	assert_int_equal(port_info(rig, 3, path_s, 1).port_state,
			 IBSA_PORT_DOWN);
	mad = get(rig, SM_INFO, 0, no_path, 0);
	assert_int_equal(mad[20], 0xf3);
}

/* The lid-routed class reaches the same agents. */
static void smps_go_by_lid_too(void **state)
{
	const struct rig *rig = *state;
	const struct packet_out packet =
		file_request(rig->lid, file_lid(rig->fabric, "s", 0),
			     CLASS_SMP_LID, GET, NODE_INFO, 9);
	const uint8_t *mad = file_ask(rig->a, &packet);

	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0);
	assert_int_equal(mad[SMP_DATA + 2], IBSA_NODE_SWITCH);
	assert_int_equal(mad[SMP_DATA + 36], 1);
}

static void vendor_ask(const struct rig *rig, uint32_t agent, uint32_t tid)
{
	const struct packet_out packet =
		file_request(agent, LID_B, CLASS_VENDOR, GET, NODE_INFO, tid);

	assert_int_equal(file_write(rig->a, &packet), 0);
}

static void give_lid(const struct rig *rig, const uint8_t *path, uint8_t hops,
		     uint16_t lid)
{
	struct ibsa_port_info info = port_info(rig, 0, path, hops);

	info.lid = lid;
	info.master_sm_lid = LID_A;
	info.port_state = 0;
	info.port_physical_state = 0;
	info.client_reregister = 1;
	assert_int_equal(set_port(rig, 0, path, hops, &info), 0);
}

static uint16_t set_state(const struct rig *rig, uint32_t number,
			  const uint8_t *path, uint8_t hops, uint8_t state)
{
	struct ibsa_port_info info = port_info(rig, number, path, hops);

	info.port_state = state;
	info.port_physical_state = 0;
	return set_port(rig, number, path, hops, &info);
}

static void set_route(const struct rig *rig)
{
	uint8_t data[SMP_DATA_BYTES];

	memset(data, 0xff, sizeof(data));
	data[LID_A] = 1;
	data[LID_S] = 0;
	data[LID_B] = 17;
	assert_int_equal(
		status_of(ask(rig, SET, LINEAR_TABLE, 0, path_s, 1, data)), 0);
	memcpy(data, get(rig, SWITCH_INFO, 0, path_s, 1), sizeof(data));
	assert_int_equal(data[11] & 4, 4);
	ibsa_put_be16(data + 6, LID_B);
	assert_int_equal(
		status_of(ask(rig, SET, SWITCH_INFO, 0, path_s, 1, data)), 0);
	assert_int_equal(get(rig, SWITCH_INFO, 0, path_s, 1)[11] & 4, 0);
}

static void set_states(const struct rig *rig, uint8_t state)
{
	assert_int_equal(set_state(rig, 1, no_path, 0, state), 0);
	assert_int_equal(set_state(rig, 1, path_s, 1, state), 0);
	assert_int_equal(set_state(rig, 17, path_s, 1, state), 0);
	assert_int_equal(set_state(rig, 0, path_b, 2, state), 0);
}

static void bring_up(const struct rig *rig)
{
	give_lid(rig, no_path, 0, LID_A);
	give_lid(rig, path_s, 1, LID_S);
	give_lid(rig, path_b, 2, LID_B);
	set_route(rig);
	set_states(rig, IBSA_PORT_ARMED);
	set_states(rig, IBSA_PORT_ACTIVE);
}

/* Nothing but SMPs passes before all has been set up. */
static void a_fabric_is_brought_up(void **state)
{
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, CLASS_VENDOR, 1, 0);
	struct ibsa_port_state port;
	struct packet_in in;

	file_agent(rig->b, CLASS_VENDOR, 1, 1 << GET);
	assert_int_equal(port_info(rig, 0, path_b, 2).lid, 0);
	assert_int_equal(port_info(rig, 0, path_b, 2).port_state,
			 IBSA_PORT_INIT);
	vendor_ask(rig, agent, 1);
	give_lid(rig, no_path, 0, LID_A);
	give_lid(rig, path_s, 1, LID_S);
	give_lid(rig, path_b, 2, LID_B);
	set_route(rig);
	vendor_ask(rig, agent, 2);
	/* Not before it is armed. */
	assert_int_equal(set_state(rig, 1, no_path, 0, IBSA_PORT_ACTIVE),
			 INVALID);
	set_states(rig, IBSA_PORT_ARMED);
	vendor_ask(rig, agent, 3);
	assert_false(file_read(rig->b, &in));
	set_states(rig, IBSA_PORT_ACTIVE);
	vendor_ask(rig, agent, 4);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid), LID_A);
	assert_int_equal(in.mad[MAD_TID + 7], 4);

	ibsa__fabric_port_state(rig->fabric,
				ibsa__fabric_find_port(rig->fabric, "b", 1),
				&port);
	assert_int_equal(port.lid, LID_B);
	assert_int_equal(port.sm_lid, LID_A);
	assert_int_equal(port.port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(port.reregisters, 1);
	assert_non_null(end_by_lid(rig->fabric, LID_B));
}

/* A port that is told to go down trains again; one that is off stays so. */
static void links_go_down_and_come_up(void **state)
{
	const struct rig *rig = *state;
	struct ibsa_port_info info;
	struct packet_in in;

	bring_up(rig);
	assert_int_equal(set_state(rig, 17, path_s, 1, IBSA_PORT_DOWN), 0);
	while (file_read(rig->a, &in))
		assert_int_equal(in.mad[MAD_METHOD], TRAP);
	assert_int_equal(port_info(rig, 17, path_s, 1).port_state,
			 IBSA_PORT_INIT);
	assert_int_equal(port_info(rig, 0, path_b, 2).port_state,
			 IBSA_PORT_INIT);
	assert_int_equal(get(rig, SWITCH_INFO, 0, path_s, 1)[11] & 4, 4);

	info = port_info(rig, 17, path_s, 1);
	info.port_state = 0;
	info.port_physical_state = PHYS_DISABLED;
	assert_int_equal(set_port(rig, 17, path_s, 1, &info), 0);
	while (file_read(rig->a, &in))
		assert_int_equal(in.mad[MAD_METHOD], TRAP);
	info = port_info(rig, 17, path_s, 1);
	assert_int_equal(info.port_state, IBSA_PORT_DOWN);
	assert_int_equal(info.port_physical_state, PHYS_DISABLED);
	info.port_state = 0;
	info.port_physical_state = PHYS_POLLING;
	assert_int_equal(set_port(rig, 17, path_s, 1, &info), 0);
	while (file_read(rig->a, &in))
		assert_int_equal(in.mad[MAD_METHOD], TRAP);
	assert_int_equal(port_info(rig, 17, path_s, 1).port_state,
			 IBSA_PORT_INIT);
}

static void repress(const struct rig *rig, const struct packet_in *trap)
{
	struct packet_out packet = { .header = trap->header };

	packet.header.id = rig->lid;
	memcpy(packet.mad, trap->mad, sizeof(packet.mad));
	packet.mad[MAD_METHOD] = TRAP_REPRESS;
	assert_int_equal(file_write(rig->a, &packet), 0);
}

/* A trap is sent again until it is repressed. */
static void a_switch_says_that_a_link_is_down(void **state)
{
	const struct ibsa_fabric_port_change pull = {
		.mask = IBSA_CHANGE_LINK,
	};
	const struct rig *rig = *state;
	struct packet_in in;

	bring_up(rig);
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
	assert_in_range(ibsa__sim_file_due(rig->a), 1, 1100 * MS);
	assert_int_equal(ibsa_fabric_advance(rig->fabric, 1100 * MS), 0);
	assert_true(file_read(rig->a, &in));
	repress(rig, &in);
	assert_int_equal(ibsa__sim_file_due(rig->a), UINT64_MAX);
}

static void a_port_says_that_an_sm_is_there(void **state)
{
	const struct rig *rig = *state;
	struct packet_in in;

	bring_up(rig);
	assert_int_equal(ibsa__sim_file_issm(rig->b, true), 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.mad[SMP_DATA], 0x84);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 4), 144);
	assert_int_equal(ibsa_be16(in.mad + SMP_DATA + 12), LID_B);
	assert_int_equal(ibsa_be32(in.mad + SMP_DATA + 16) & 2, 2);
	assert_int_equal(port_info(rig, 0, path_b, 2).capability_mask & 2, 2);
}

/* SMInfo is asked of the agent that says so. */
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

/* To all that the tables lead to, but not back to who has sent it. */
static void multicast_follows_its_tables(void **state)
{
	enum { MLID = 0xc001 };
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, CLASS_VENDOR, 1, 1 << GET);
	struct packet_out packet = file_request(agent, MLID, CLASS_VENDOR, GET,
						NODE_INFO, 5);
	uint8_t data[SMP_DATA_BYTES] = { 0 };
	struct packet_in in;

	packet.header.timeout_ms = 0;
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 0xffffff);
	file_agent(rig->b, CLASS_VENDOR, 1, 1 << GET);
	bring_up(rig);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_false(file_read(rig->b, &in));
	/* Ports 1 and 17: two positions of the table. */
	ibsa_put_be16(data + 2, 1 << 1);
	assert_int_equal(
		status_of(ask(rig, SET, MULTICAST_TABLE, 0, path_s, 1, data)),
		0);
	assert_int_equal(status_of(ask(rig, SET, MULTICAST_TABLE,
				       UINT32_C(1) << 28, path_s, 1, data)),
			 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(in.mad[MAD_TID + 7], 5);
	assert_false(file_read(rig->b, &in));
	assert_false(file_read(rig->a, &in));
}

static void protect(const struct rig *rig, uint8_t bits, uint16_t lease)
{
	struct ibsa_port_info info = port_info(rig, 0, path_b, 2);

	info.m_key = 0x1234;
	info.m_key_protect_bits = bits;
	info.m_key_lease_period = lease;
	info.port_state = 0;
	info.port_physical_state = 0;
	assert_int_equal(set_port(rig, 0, path_b, 2, &info), 0);
}

static bool is_answered(const struct rig *rig, uint8_t method, uint64_t key)
{
	struct packet_out packet = file_smp(rig->sm, method, PKEY_TABLE, 0,
					    path_b, 2);
	struct packet_in in;

	packet.header.timeout_ms = 1;
	ibsa_put_be64(packet.mad + 24, key);
	ibsa_put_be16(packet.mad + SMP_DATA, 0xffff);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(ibsa_fabric_advance(rig->fabric, MS), 0);
	assert_true(file_read(rig->a, &in));
	return !in.header.status;
}

/* Who lacks the key may read, unless that is protected, too. */
static void an_m_key_protects(void **state)
{
	const struct rig *rig = *state;

	protect(rig, 1, 0);
	assert_true(is_answered(rig, GET, 0));
	assert_int_equal(port_info(rig, 0, path_b, 2).m_key, 0);
	assert_false(is_answered(rig, SET, 0x1235));
	assert_true(is_answered(rig, SET, 0x1234));
	assert_int_equal(port_info(rig, 0, path_b, 2).m_key_violations, 1);
}

/* The SM hears who has tried what, with which key and by which way. */
static void a_wrong_m_key_is_told(void **state)
{
	const struct rig *rig = *state;
	const uint8_t *details;
	struct packet_out packet;
	struct packet_in in;

	bring_up(rig);
	protect(rig, 2, 0);
	packet = file_smp(rig->sm, SET, PKEY_TABLE, 5, path_b, 2);
	ibsa_put_be64(packet.mad + 24, 0x9999);
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

/* The lease of a key that nobody shows any more ends. */
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
	assert_int_equal(port_info(rig, 0, path_b, 2).m_key, 0x1234);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
#define BARE(name) cmocka_unit_test_setup_teardown(name, start_bare, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_smp_finds_its_way),
		BARE(an_smp_finds_its_way),
		TEST(a_wrong_path_ends),
		TEST(a_path_without_sense_is_not_begun),
		TEST(a_path_may_begin_at_a_lid),
		TEST(what_is_not_there_is_refused),
		TEST(values_that_cannot_be_are_refused),
		TEST(tables_keep_what_is_set),
		BARE(tables_keep_what_is_set),
		TEST(the_embedded_sm_shows_its_tables),
		TEST(smps_go_by_lid_too),
		BARE(a_fabric_is_brought_up),
		BARE(links_go_down_and_come_up),
		BARE(a_switch_says_that_a_link_is_down),
		BARE(a_port_says_that_an_sm_is_there),
		BARE(sm_info_goes_to_the_sm),
		BARE(multicast_follows_its_tables),
		BARE(an_m_key_protects),
		BARE(a_wrong_m_key_is_told),
		BARE(an_m_key_ends_with_its_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
