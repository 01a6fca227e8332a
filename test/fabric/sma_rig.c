/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests that act as an SM at a umad file. */
#include "sma_rig.h"

static const char two_hosts[] = "Switch 20 \"s\" # \"the switch\"\n"
				"[1] \"a\"[1]\n"
				"[17] \"b\"[1] # 4xEDR\n"
				"[2] \"s2\"[1]\n"
				"vendid=0x8f1\n"
				"Switch 2 \"s2\"\n"
				"Ca 1 \"a\"\n"
				"Ca 2 \"b\"\n";

const uint8_t no_path[] = { 0 };
const uint8_t path_s[] = { 1 };
const uint8_t path_b[] = { 1, 17 };

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

int sma_start(void **state)
{
	start_with(state, NULL);
	return 0;
}

int sma_start_bare(void **state)
{
	static const struct ibsa_fabric_options bare = {
		.virtual_clock = true,
		.no_sa = true,
	};

	start_with(state, &bare);
	return 0;
}

int sma_stop(void **state)
{
	struct rig *rig = *state;

	ibsa__port_file_close(rig->a);
	ibsa__port_file_close(rig->b);
	ibsa_fabric_put(rig->fabric);
	return 0;
}

uint16_t sma_status(const uint8_t *mad)
{
	return ibsa_be16(mad + MAD_STATUS) & 0x7fff;
}

const uint8_t *sma_exchange(const struct rig *rig, uint8_t method,
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
	/* Traps may precede it. */
	do {
		assert_true(file_read(rig->a, &in));
	} while (in.mad[MAD_METHOD] == TRAP);
	assert_int_equal(in.header.status, 0);
	assert_int_equal(in.mad[MAD_METHOD], GET_RESP);
	return in.mad;
}

const uint8_t *sma_get(const struct rig *rig, uint16_t attribute,
		       uint32_t modifier, const uint8_t *path, uint8_t hops)
{
	const uint8_t *mad = sma_exchange(rig, GET, attribute, modifier, path,
					  hops, NULL);

	assert_int_equal(sma_status(mad), 0);
	return mad + SMP_DATA;
}

struct ibsa_port_info sma_port_info(const struct rig *rig, uint32_t number,
				    const uint8_t *path, uint8_t hops)
{
	const uint8_t *data = sma_get(rig, PORT_INFO, number, path, hops);
	struct ibsa_port_info info;
	uint8_t wire[4 + SMP_DATA_BYTES] = { 0 };

	memcpy(wire + 4, data, SMP_DATA_BYTES);
	ibsa_port_info_record.decode(wire, &info);
	return info;
}

uint16_t sma_set_port(const struct rig *rig, uint32_t number,
		      const uint8_t *path, uint8_t hops,
		      const struct ibsa_port_info *info)
{
	uint8_t wire[4 + SMP_DATA_BYTES];
	uint64_t over;

	ibsa_port_info_record.encode(info, wire, &over);
	return sma_status(sma_exchange(rig, SET, PORT_INFO, number, path, hops,
				       wire + 4));
}

void sma_give_lid(const struct rig *rig, const uint8_t *path, uint8_t hops,
		  uint16_t lid)
{
	struct ibsa_port_info info = sma_port_info(rig, 0, path, hops);

	info.lid = lid;
	info.master_sm_lid = LID_A;
	info.port_state = 0;
	info.port_physical_state = 0;
	info.client_reregister = 1;
	assert_int_equal(sma_set_port(rig, 0, path, hops, &info), 0);
}

uint16_t sma_set_state(const struct rig *rig, uint32_t number,
		       const uint8_t *path, uint8_t hops, uint8_t state)
{
	struct ibsa_port_info info = sma_port_info(rig, number, path, hops);

	info.port_state = state;
	info.port_physical_state = 0;
	return sma_set_port(rig, number, path, hops, &info);
}

void sma_set_route(const struct rig *rig)
{
	uint8_t data[SMP_DATA_BYTES];

	memset(data, 0xff, sizeof(data));
	data[LID_A] = 1;
	data[LID_S] = 0;
	data[LID_B] = 17;
	assert_int_equal(sma_status(sma_exchange(rig, SET, LINEAR_TABLE, 0,
						 path_s, 1, data)),
			 0);
	memcpy(data, sma_get(rig, SWITCH_INFO, 0, path_s, 1), sizeof(data));
	assert_int_equal(data[11] & 4, 4);
	ibsa_put_be16(data + 6, LID_B);
	assert_int_equal(sma_status(sma_exchange(rig, SET, SWITCH_INFO, 0,
						 path_s, 1, data)),
			 0);
	assert_int_equal(sma_get(rig, SWITCH_INFO, 0, path_s, 1)[11] & 4, 0);
}

void sma_set_states(const struct rig *rig, uint8_t state)
{
	assert_int_equal(sma_set_state(rig, 1, no_path, 0, state), 0);
	assert_int_equal(sma_set_state(rig, 1, path_s, 1, state), 0);
	assert_int_equal(sma_set_state(rig, 17, path_s, 1, state), 0);
	assert_int_equal(sma_set_state(rig, 0, path_b, 2, state), 0);
}

void sma_bring_up(const struct rig *rig)
{
	sma_give_lid(rig, no_path, 0, LID_A);
	sma_give_lid(rig, path_s, 1, LID_S);
	sma_give_lid(rig, path_b, 2, LID_B);
	sma_set_route(rig);
	sma_set_states(rig, IBSA_PORT_ARMED);
	sma_set_states(rig, IBSA_PORT_ACTIVE);
}
