/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric without an SM, configured by SMPs of the test. Source: IBA vol 1,
 * 14.2.4 to 14.2.6 and 13.4.9.
 */
#include <errno.h>

#include "sma_rig.h"

static void vendor_exchange(const struct rig *rig, uint32_t agent, uint32_t tid)
{
	const struct packet_out packet =
		file_request(agent, LID_B, CLASS_VENDOR, GET, NODE_INFO, tid);

	assert_int_equal(file_write(rig->a, &packet), 0);
}

/* Only SMPs pass until all ports and switches are configured. */
static void a_fabric_is_brought_up(void **state)
{
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, CLASS_VENDOR, 1, 0);
	struct ibsa_port_state port;
	struct packet_in in;

	file_agent(rig->b, CLASS_VENDOR, 1, 1 << GET);
	assert_int_equal(sma_port_info(rig, 0, path_b, 2).lid, 0);
	assert_int_equal(sma_port_info(rig, 0, path_b, 2).port_state,
			 IBSA_PORT_INIT);
	vendor_exchange(rig, agent, 1);
	sma_give_lid(rig, no_path, 0, LID_A);
	sma_give_lid(rig, path_s, 1, LID_S);
	sma_give_lid(rig, path_b, 2, LID_B);
	sma_set_route(rig);
	vendor_exchange(rig, agent, 2);
	/* Not before it is armed. */
	assert_int_equal(sma_set_state(rig, 1, no_path, 0, IBSA_PORT_ACTIVE),
			 INVALID);
	sma_set_states(rig, IBSA_PORT_ARMED);
	vendor_exchange(rig, agent, 3);
	assert_false(file_read(rig->b, &in));
	sma_set_states(rig, IBSA_PORT_ACTIVE);
	vendor_exchange(rig, agent, 4);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid), LID_A);
	assert_int_equal(in.mad[MAD_TID + 7], 4);

	ibsa__fabric_port_state(
		rig->fabric,
		ibsa__fabric_find_port(rig->fabric,
				       ibsa__fabric_find_node(rig->fabric, "b"),
				       1),
		&port);
	assert_int_equal(port.lid, LID_B);
	assert_int_equal(port.sm_lid, LID_A);
	assert_int_equal(port.port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(port.reregisters, 1);
	assert_non_null(end_by_lid(&rig->fabric->first.subnet, LID_B));
}

/* A port that is set to Down trains again; a disabled one stays down. */
static void links_go_down_and_come_up(void **state)
{
	const struct rig *rig = *state;
	struct ibsa_port_info info;
	struct packet_in in;

	sma_bring_up(rig);
	assert_int_equal(sma_set_state(rig, 17, path_s, 1, IBSA_PORT_DOWN), 0);
	while (file_read(rig->a, &in))
		assert_int_equal(in.mad[MAD_METHOD], TRAP);
	assert_int_equal(sma_port_info(rig, 17, path_s, 1).port_state,
			 IBSA_PORT_INIT);
	assert_int_equal(sma_port_info(rig, 0, path_b, 2).port_state,
			 IBSA_PORT_INIT);
	assert_int_equal(sma_get(rig, SWITCH_INFO, 0, path_s, 1)[11] & 4, 4);

	info = sma_port_info(rig, 17, path_s, 1);
	info.port_state = 0;
	info.port_physical_state = PHYS_DISABLED;
	assert_int_equal(sma_set_port(rig, 17, path_s, 1, &info), 0);
	while (file_read(rig->a, &in))
		assert_int_equal(in.mad[MAD_METHOD], TRAP);
	info = sma_port_info(rig, 17, path_s, 1);
	assert_int_equal(info.port_state, IBSA_PORT_DOWN);
	assert_int_equal(info.port_physical_state, PHYS_DISABLED);
	info.port_state = 0;
	info.port_physical_state = PHYS_POLLING;
	assert_int_equal(sma_set_port(rig, 17, path_s, 1, &info), 0);
	while (file_read(rig->a, &in))
		assert_int_equal(in.mad[MAD_METHOD], TRAP);
	assert_int_equal(sma_port_info(rig, 17, path_s, 1).port_state,
			 IBSA_PORT_INIT);
}

/*
 * A multicast MAD goes to all ports in the tables, but not back to the sender.
 */
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
	sma_bring_up(rig);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_false(file_read(rig->b, &in));
	/* Ports 1 and 17 have different positions in the switch's table. */
	ibsa_put_be16(data + 2, 1 << 1);
	assert_int_equal(sma_status(sma_exchange(rig, SET, MULTICAST_TABLE, 0,
						 path_s, 1, data)),
			 0);
	assert_int_equal(sma_status(sma_exchange(rig, SET, MULTICAST_TABLE,
						 UINT32_C(1) << 28, path_s, 1,
						 data)),
			 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(in.mad[MAD_TID + 7], 5);
	assert_false(file_read(rig->b, &in));
	assert_false(file_read(rig->a, &in));
}

/* Without an embedded SM, no switch has tables. */
static void a_bare_fabric_has_no_embedded_sm(void **state)
{
	const struct rig *rig = *state;
	struct ibsa_fabric_port port;

	ibsa_fabric_sa_set(rig->fabric, true);
	assert_int_equal(ibsa_fabric_sa_move(rig->fabric, "b"), -EOPNOTSUPP);
	assert_int_equal(ibsa_fabric_port_at(rig->fabric, 0, &port), 0);
	assert_int_equal(port.state.port_state, IBSA_PORT_INIT);
	assert_int_equal(port.state.lid, 0);
	assert_int_equal(port.state.sm_lid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BARE(a_fabric_is_brought_up),
		BARE(links_go_down_and_come_up),
		BARE(multicast_follows_its_tables),
		BARE(a_bare_fabric_has_no_embedded_sm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
