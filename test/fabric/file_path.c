/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs from one umad file to another and to the SA: which arrive, and which do
 * not. Source: Linux drivers/infiniband/core/user_mad.c, mad.c and mad_rmpp.c.
 */
#include <errno.h>

#include "../interface/everything.h"
#include "file_rig.h"
#include "wire/mad.h"

#define MS UINT64_C(1000000)

enum {
	CLASS_VENDOR = 0x09, /* without an OUI */
	ATTRIBUTE = 0x0010,
	NODE_RECORD = 0x0011,
};

static void advance(const struct file_pair *rig, uint64_t ns)
{
	assert_int_equal(ibsa_fabric_advance(rig->fabric, ns), 0);
}

/*
 * RMPP segments that a program makes itself may have the same transaction id;
 * two messages that the umad file splits may not.
 */
static void segments_share_an_id(void **state)
{
	struct agent_request by_user = {
		.qpn = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = 2,
		.rmpp_version = 1,
		.flags = UMAD_RMPP_BY_USER,
	};
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, IBSA_CLASS_SA, 2, 0);
	struct packet_out packet = file_request(agent, 99, IBSA_CLASS_SA,
						IBSA_METHOD_GET_TABLE,
						NODE_RECORD, 5);

	packet.mad[MAD_RMPP_VERSION] = 1;
	packet.mad[MAD_RMPP_FLAGS] = IBSA_RMPP_ACTIVE;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
	assert_int_equal(ibsa__port_file_register(rig->a, &by_user), 0);
	packet.header.id = by_user.id;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	packet.mad[MAD_RMPP_FLAGS] = 0;
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
}

/*
 * The SA does not answer a response: with the fault "busy" it would otherwise
 * answer its own answers without end.
 */
static void the_sa_does_not_answer_a_response(void **state)
{
	const struct ibsa_fault busy = { .kind = IBSA_FAULT_BUSY,
					 .percent = 100 };
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->b, IBSA_CLASS_SA, 2, 0);
	const struct packet_out packet = file_request(
		agent, 1, IBSA_CLASS_SA, IBSA_METHOD_GET_RESP, NODE_RECORD, 5);
	struct ibsa_fabric_stats stats;

	assert_int_equal(ibsa_fabric_fault(rig->fabric, &busy), 0);
	assert_int_equal(file_write(rig->b, &packet), 0);
	ibsa_fabric_stats_get(rig->fabric, &stats);
	assert_int_equal(stats.faults[IBSA_FAULT_BUSY], 0);
	assert_int_equal(stats.drops[IBSA_DROP_NO_AGENT], 1);
}

/* A table from the embedded SA arrives as one packet. */
static void the_sa_answers_a_table(void **state)
{
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->b, IBSA_CLASS_SA, 2, 0);
	const struct packet_out packet = file_request(
		agent, file_lid(rig->fabric, "a", 1), IBSA_CLASS_SA,
		IBSA_METHOD_GET_TABLE, NODE_RECORD, 5);
	struct packet_in in;

	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(in.mad[MAD_METHOD], IBSA_METHOD_GET_TABLE_RESP);
	assert_int_equal(ibsa_be16(in.mad + MAD_STATUS), 0);
	assert_int_equal(in.len, IBSA_SA_HEADER_BYTES + 3 * 112);
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid),
			 file_lid(rig->fabric, "a", 1));
}

/*
 * A request to an alias LID is answered by the SA from its base LID, as by
 * OpenSM. Other agents answer from the LID of the request.
 */
static void the_sa_answers_from_its_base_lid(void **state)
{
	enum { BASE = 16, ALIAS = 17 };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LMC | IBSA_CHANGE_LID,
		.lid = BASE,
		.lmc = 1,
	};
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->b, 0, 0, 0);
	struct packet_out packet = file_request(
		agent, ALIAS, IBSA_CLASS_SA, IBSA_METHOD_GET, NODE_RECORD, 5);
	struct packet_in in;

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "a", 1, &change), 0);
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(in.mad[MAD_METHOD], IBSA_METHOD_GET_RESP);
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid), BASE);
	packet = file_request(agent, ALIAS, CLASS_PERF, IBSA_METHOD_GET, 0x0001,
			      6);
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(in.mad[MAD_METHOD], IBSA_METHOD_GET_RESP);
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid), ALIAS);
}

/* A table of another file is split into segments and reassembled. */
static void a_table_between_files_comes_whole(void **state)
{
	enum {
		DATA = 512,
		SEGMENTS = 3,
	};
	const struct file_pair *rig = *state;
	const uint32_t asking = file_agent(rig->a, IBSA_CLASS_SA, 2, 0);
	const uint32_t lid_b = file_lid(rig->fabric, "b", 1);
	struct packet_out packet = file_request(asking, lid_b, IBSA_CLASS_SA,
						IBSA_METHOD_GET_TABLE,
						NODE_RECORD, 5);
	uint8_t table[UMAD_HEADER_BYTES + IBSA_SA_HEADER_BYTES + DATA] = { 0 };
	struct packet_in in;
	uint8_t *mad = table + UMAD_HEADER_BYTES;

	file_agent(rig->b, IBSA_CLASS_SA, 2, 1 << IBSA_METHOD_GET_TABLE);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_true(file_read(rig->b, &in));
	memcpy(table, &in.header, sizeof(in.header));
	memcpy(mad, in.mad, IBSA_SA_HEADER_BYTES);
	mad[MAD_METHOD] = IBSA_METHOD_GET_TABLE_RESP;
	mad[MAD_RMPP_VERSION] = 1;
	mad[MAD_RMPP_FLAGS] = IBSA_RMPP_ACTIVE;
	mad[sizeof(table) - UMAD_HEADER_BYTES - 1] = 0xee;
	assert_int_equal(ibsa__port_file_write(rig->b, table, sizeof(table)),
			 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.len, IBSA_SA_HEADER_BYTES + DATA);
	assert_int_equal(in.mad[in.len - 1], 0xee);
	assert_int_equal(in.mad[MAD_RMPP_TYPE], IBSA_RMPP_TYPE_DATA);
	assert_int_equal(in.mad[MAD_RMPP_FLAGS],
			 IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST);
	assert_int_equal(ibsa_be32(in.mad + MAD_RMPP_SEGMENT), 1);
	assert_int_equal(ibsa_be32(in.mad + MAD_RMPP_LENGTH),
			 DATA + 20 * SEGMENTS);
}

/*
 * A MAD has the P_Key at the index in its umad header, and arrives only if the
 * target port has a matching P_Key.
 */
static void a_mad_needs_a_matching_pkey(void **state)
{
	static const uint16_t limited[] = { 0x7fff };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = limited,
		.pkey_count = 1,
	};
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent,
						file_lid(rig->fabric, "b", 1),
						CLASS_VENDOR, 1, ATTRIBUTE, 5);

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "a", 1, &change), 0);
	(void)file_exchange(rig->a, &packet);
	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "b", 1, &change), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_PKEY), 1);
}

static void a_dead_link_carries_nothing(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
	};
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	const struct packet_out packet =
		file_request(agent, file_lid(rig->fabric, "b", 1), CLASS_VENDOR,
			     1, ATTRIBUTE, 5);

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "a", 1, &change), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_PORT_DOWN), 1);
}

/* A file that has subscribed receives Reports, and answers them. */
static void reports_come_to_a_file(void **state)
{
	struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_CAPABILITIES,
		.capability_mask = 1,
	};
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->b, IBSA_CLASS_SA, 2,
					  1 << IBSA_METHOD_REPORT);
	struct packet_out packet = file_request(
		agent, file_lid(rig->fabric, "a", 1), IBSA_CLASS_SA,
		IBSA_METHOD_SET, ibsa_inform_info_record.attribute, 5);
	struct ibsa_fabric_stats stats;
	struct packet_in in;
	uint64_t over;

	ibsa_inform_info_record.encode(
		&everything, packet.mad + IBSA_SA_HEADER_BYTES, &over);
	assert_int_equal(ibsa_be16(file_exchange(rig->b, &packet) + MAD_STATUS),
			 0);
	while (file_read(rig->b, &in))
		;
	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "b", 1, &change), 0);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(in.mad[MAD_METHOD], IBSA_METHOD_REPORT);
	assert_int_equal(in.header.id, agent);
	memcpy(packet.mad, in.mad, sizeof(packet.mad));
	packet.header = in.header;
	packet.mad[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	assert_int_equal(file_write(rig->b, &packet), 0);
	advance(rig, 1000 * MS);
	assert_false(file_read(rig->b, &in));
	ibsa_fabric_stats_get(rig->fabric, &stats);
	assert_int_equal(stats.reports_unanswered, 0);
}

/*
 * Send MADs from a to b while every fault of an impaired link is set. Return: a
 * checksum of what b receives.
 */
static uint64_t history(uint64_t seed, struct ibsa_fabric_stats *stats)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.seed = seed,
	};
	struct file_pair rig = { .fabric = file_fabric(file_two_hosts,
						       &options) };
	uint64_t sum = 0;
	uint32_t agent;

	rig.a = file_open(rig.fabric, "a", 1);
	rig.b = file_open(rig.fabric, "b", 1);
	agent = file_agent(rig.a, CLASS_VENDOR, 1, 0);
	file_agent(rig.b, CLASS_VENDOR, 1, 1 << METHOD_SEND);
	for (int kind = IBSA_FAULT_LOSE; kind <= IBSA_FAULT_CORRUPT; kind++) {
		const struct ibsa_fault fault = {
			.kind = (enum ibsa_fault_kind)kind,
			.percent = 20,
		};

		assert_int_equal(ibsa_fabric_fault(rig.fabric, &fault), 0);
	}
	for (uint32_t i = 0; i < 200; i++) {
		struct packet_out packet =
			file_request(agent, file_lid(rig.fabric, "b", 1),
				     CLASS_VENDOR, METHOD_SEND, ATTRIBUTE, i);
		struct packet_in in;

		packet.header.timeout_ms = 0;
		assert_int_equal(file_write(rig.a, &packet), 0);
		advance(&rig, MS);
		while (file_read(rig.b, &in)) {
			for (size_t k = 0; k < in.len; k++)
				sum = (sum ^ in.mad[k]) *
				      UINT64_C(0x100000001b3);
		}
	}
	ibsa_fabric_stats_get(rig.fabric, stats);
	file_pair_teardown(&(void *){ &rig });
	return sum;
}

/* With one seed, all runs are equal; and each fault occurs. */
static void equal_seeds_give_equal_histories(void **state)
{
	struct ibsa_fabric_stats stats;
	struct ibsa_fabric_stats again;

	(void)state;
	assert_int_equal(history(7, &stats), history(7, &again));
	assert_memory_equal(&stats, &again, sizeof(stats));
	assert_int_not_equal(history(8, &again), history(7, &stats));
	for (int kind = IBSA_FAULT_LOSE; kind <= IBSA_FAULT_CORRUPT; kind++)
		assert_true(stats.faults[kind] > 0);
}

#define TEST(name)                                             \
	cmocka_unit_test_setup_teardown(name, file_pair_setup, \
					file_pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(segments_share_an_id),
		TEST(the_sa_does_not_answer_a_response),
		TEST(the_sa_answers_a_table),
		TEST(the_sa_answers_from_its_base_lid),
		TEST(a_table_between_files_comes_whole),
		TEST(a_mad_needs_a_matching_pkey),
		TEST(a_dead_link_carries_nothing),
		TEST(reports_come_to_a_file),
		cmocka_unit_test(equal_seeds_give_equal_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
