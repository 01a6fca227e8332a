/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a port of the fabric has the kernel's manners.
 *
 * Source: Linux drivers/infiniband/core/user_mad.c, mad.c and mad_rmpp.c.
 */
#include <errno.h>

#include "sim_file_rig.h"

#define MS UINT64_C(1000000)

enum {
	CLASS_VENDOR = 0x09, /* without an OUI */
	CLASS_VENDOR_OUI = 0x30,
	METHOD_SEND = 0x03,
	METHOD_GET_RESP = 0x81,
	ATTRIBUTE = 0x0010,
	NODE_RECORD = 0x0011,
};

/* Two hosts behind one switch; the SA is at the first. */
static const char two_hosts[] = "Switch 4 \"s\"\n"
				"[1] \"a\"[1]\n"
				"[2] \"b\"[1]\n"
				"Ca 1 \"a\"\n"
				"Ca 2 \"b\"\n";

struct rig {
	struct ibsa_fabric *fabric;
	struct sim_file *a;
	struct sim_file *b;
};

static int start(void **state)
{
	static struct rig rig;

	rig.fabric = file_fabric(two_hosts, NULL);
	rig.a = file_open(rig.fabric, "a", 1);
	rig.b = file_open(rig.fabric, "b", 1);
	*state = &rig;
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

static void advance(const struct rig *rig, uint64_t ns)
{
	assert_int_equal(ibsa_fabric_advance(rig->fabric, ns), 0);
}

/* What the ioctl refuses, one after the other. */
static void bad_agents_are_refused(void **state)
{
	static const struct sim_agent_request bad[] = {
		{ .qpn = 2, .mgmt_class = 3 },
		{ .qpn = 1, .mgmt_class = 3, .rmpp_version = 2 },
		{ .qpn = 1, .mgmt_class = 3, .flags = 2 },
		{ .qpn = 1, .mgmt_class = 3, .class_version = 0x83 },
		{ .qpn = 1, .mgmt_class = 80 },
		{ .qpn = 1, .mgmt_class = CLASS_VENDOR_OUI },
		{ .qpn = 1, .mgmt_class = 4, .rmpp_version = 1 },
		{ .qpn = 1, .mgmt_class = CLASS_SMP_LID },
		{ .qpn = 0, .mgmt_class = 3 },
		{ .qpn = 1, .flags = UMAD_RMPP_BY_USER },
	};
	const struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_agent_request request = bad[i];

		assert_int_equal(ibsa__sim_file_register(rig->a, &request),
				 -EINVAL);
	}
	assert_int_equal(ibsa__sim_file_unregister(rig->a, 0), -EINVAL);
	assert_int_equal(ibsa__sim_file_unregister(rig->a, 32), -EINVAL);
}

/* A method belongs to one agent of the port, in whichever file. */
static void a_method_is_had_once(void **state)
{
	struct sim_agent_request request = {
		.qpn = 1,
		.mgmt_class = CLASS_VENDOR,
		.class_version = 1,
		.method_mask = { 1 << 1 | 1 << 2 },
	};
	const struct rig *rig = *state;
	struct sim_file *other = file_open(rig->fabric, "a", 1);

	file_agent(rig->a, CLASS_VENDOR, 1, 1 << 1);
	assert_int_equal(ibsa__sim_file_register(other, &request), -EINVAL);
	request.method_mask[0] = 1 << 2;
	assert_int_equal(ibsa__sim_file_register(other, &request), 0);
	request.class_version = 2;
	request.method_mask[0] = 1 << 1;
	assert_int_equal(ibsa__sim_file_register(other, &request), 0);
	assert_int_equal(ibsa__sim_file_register(rig->b, &request), 0);
	request.class_version = 1;
	assert_int_equal(ibsa__sim_file_unregister(rig->a, 0), 0);
	assert_int_equal(ibsa__sim_file_register(other, &request), 0);
	ibsa__sim_file_close(other);
}

static void there_are_32_agents(void **state)
{
	struct sim_agent_request request = { .qpn = 1 };
	const struct rig *rig = *state;

	for (uint32_t i = 0; i < SIM_AGENTS_MAX; i++) {
		assert_int_equal(ibsa__sim_file_register(rig->a, &request), 0);
		assert_int_equal(request.id, i);
	}
	assert_int_equal(ibsa__sim_file_register(rig->a, &request), -ENOMEM);
	assert_int_equal(ibsa__sim_file_unregister(rig->a, 7), 0);
	assert_int_equal(ibsa__sim_file_register(rig->a, &request), 0);
	assert_int_equal(request.id, 7);
}

static void bad_writes_are_refused(void **state)
{
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, CLASS_VENDOR, 1, 0);
	struct packet_out packet = file_request(agent, 1, CLASS_VENDOR, 1, 1,
						1);
	uint8_t large[sizeof(packet) + 1] = { 0 };

	assert_int_equal(ibsa__sim_file_write(rig->a, (uint8_t *)&packet, 99),
			 -EINVAL);
	memcpy(large, &packet, sizeof(packet));
	assert_int_equal(ibsa__sim_file_write(rig->a, large, sizeof(large)),
			 -EINVAL);
	packet.header.id = agent + 1;
	assert_int_equal(file_write(rig->a, &packet), -EIO);
	packet.header.id = SIM_AGENTS_MAX;
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
	packet.header.id = agent;
	packet.header.grh_present = 1;
	packet.header.gid_index = 255;
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
}

/* From one port to the other and back, by an agent without methods. */
static void a_request_is_answered_by_the_other_agent(void **state)
{
	const struct rig *rig = *state;
	const uint32_t asking = file_agent(rig->a, 0, 0, 0);
	const uint32_t other = file_agent(rig->a, CLASS_VENDOR, 1, 0);
	const uint32_t answering = file_agent(rig->b, CLASS_VENDOR, 1, 1 << 1);
	const uint32_t lid_a = file_lid(rig->fabric, "a", 1);
	const uint32_t lid_b = file_lid(rig->fabric, "b", 1);
	struct packet_out packet = file_request(asking, lid_b, CLASS_VENDOR, 1,
						ATTRIBUTE, 5);
	struct packet_in in;

	packet.header.sl = 3;
	packet.mad[100] = 0xab;
	assert_int_not_equal(asking, other);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_true(file_read(rig->b, &in));
	assert_int_equal(in.header.id, answering);
	assert_int_equal(in.header.status, 0);
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid), lid_a);
	assert_int_equal(ibsa_be32((uint8_t *)&in.header.qpn), 1);
	assert_int_equal(in.header.sl, 3);
	assert_int_equal(in.len, IBSA_MAD_BYTES);
	assert_int_equal(ibsa_be32(in.mad + MAD_TID + 4), 5);
	assert_int_not_equal(ibsa_be32(in.mad + MAD_TID), 0);
	assert_int_equal(in.mad[100], 0xab);
	assert_false(file_read(rig->b, &in));

	/* The answer's id is left as it is, and leads back. */
	memcpy(packet.mad, in.mad, sizeof(packet.mad));
	packet.header = in.header;
	packet.mad[MAD_METHOD] = METHOD_GET_RESP;
	packet.mad[100] = 0xcd;
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.header.id, asking);
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid), lid_b);
	assert_int_equal(in.mad[100], 0xcd);
	/* A second answer is nobody's. */
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_false(file_read(rig->a, &in));
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_AGENT), 1);
}

/* Linux answers for who is not there, if there is to be an answer. */
static void what_nobody_takes_is_refused(void **state)
{
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent,
						file_lid(rig->fabric, "b", 1),
						CLASS_VENDOR, 2, ATTRIBUTE, 5);
	const uint8_t *mad = file_ask(rig->a, &packet);

	assert_int_equal(mad[MAD_METHOD], METHOD_GET_RESP);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0x000c);
	packet.mad[MAD_METHOD] = METHOD_SEND;
	packet.header.timeout_ms = 0;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(ibsa__sim_file_due(rig->a), UINT64_MAX);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_AGENT), 1);
}

/* Silence is told after the time and the tries that were asked for. */
static void silence_is_reported_in_time(void **state)
{
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent, 99, CLASS_VENDOR, 1,
						ATTRIBUTE, 5);
	struct packet_in in;

	packet.header.timeout_ms = 200;
	packet.header.retries = 2;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(ibsa__sim_file_due(rig->a), 200 * MS);
	advance(rig, 600 * MS - 1);
	assert_false(file_read(rig->a, &in));
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_ROUTE), 3);
	advance(rig, 1);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.header.status, ETIMEDOUT);
	assert_int_equal(in.header.id, agent);
	assert_int_equal(in.header.timeout_ms, 200);
	assert_int_equal(in.len, MAD_HEADER_BYTES);
	assert_int_equal(ibsa_be32(in.mad + MAD_TID + 4), 5);
	assert_int_equal(in.mad[MAD_CLASS], CLASS_VENDOR);
	assert_int_equal(ibsa__sim_file_due(rig->a), UINT64_MAX);
	assert_false(file_read(rig->a, &in));
}

/* One try of a request is lost, and the next is answered. */
static void a_lost_try_is_made_good(void **state)
{
	const struct ibsa_fault lose = {
		.kind = IBSA_FAULT_LOSE,
		.percent = 100,
		.count = 1,
	};
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent,
						file_lid(rig->fabric, "b", 1),
						CLASS_VENDOR, 1, ATTRIBUTE, 5);
	struct packet_in in;

	packet.header.retries = 1;
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &lose), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	advance(rig, 999 * MS);
	assert_false(file_read(rig->a, &in));
	advance(rig, MS);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.header.status, 0);
	assert_int_equal(ibsa__sim_file_due(rig->a), UINT64_MAX);
}

/* A delayed MAD arrives when it is due, at whoever looks. */
static void a_delayed_mad_arrives_late(void **state)
{
	const struct ibsa_fault delay = {
		.kind = IBSA_FAULT_DELAY,
		.percent = 100,
		.count = 1,
		.delay_ms = 50,
	};
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, CLASS_VENDOR, 1, 0);
	const struct packet_out packet =
		file_request(agent, file_lid(rig->fabric, "b", 1), CLASS_VENDOR,
			     1, ATTRIBUTE, 5);
	struct packet_in in;

	file_agent(rig->b, CLASS_VENDOR, 1, 1 << 1);
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &delay), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_false(file_read(rig->b, &in));
	assert_in_range(ibsa__sim_file_due(rig->b), 1, 50 * MS);
	advance(rig, ibsa__sim_file_due(rig->b));
	assert_true(file_read(rig->b, &in));
}

/* The same id may not be on its way twice, but of another class. */
static void an_id_waits_once(void **state)
{
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	const uint32_t other = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent, 99, CLASS_VENDOR, 1,
						ATTRIBUTE, 5);
	struct packet_in in;

	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
	packet.mad[MAD_CLASS]++;
	assert_int_equal(file_write(rig->a, &packet), 0);
	packet.mad[MAD_CLASS]--;
	packet.header.id = other;
	assert_int_equal(file_write(rig->a, &packet), 0);
	advance(rig, 1000 * MS);
	for (int i = 0; i < 3; i++)
		assert_true(file_read(rig->a, &in));
	assert_int_equal(file_write(rig->a, &packet), 0);
}

/* Segments that a file cuts by itself have one id, but no table has another's. */
static void segments_share_an_id(void **state)
{
	struct sim_agent_request by_user = {
		.qpn = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = 2,
		.rmpp_version = 1,
		.flags = UMAD_RMPP_BY_USER,
	};
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, IBSA_CLASS_SA, 2, 0);
	struct packet_out packet = file_request(agent, 99, IBSA_CLASS_SA,
						IBSA_METHOD_GET_TABLE,
						NODE_RECORD, 5);

	packet.mad[24] = 1;
	packet.mad[26] = IBSA_RMPP_ACTIVE;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
	assert_int_equal(ibsa__sim_file_register(rig->a, &by_user), 0);
	packet.header.id = by_user.id;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	packet.mad[26] = 0;
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
}

/* What an agent has asked, is asked no more once it is gone. */
static void an_agent_takes_its_requests_along(void **state)
{
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	const struct packet_out packet = file_request(agent, 99, CLASS_VENDOR,
						      1, ATTRIBUTE, 5);

	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(ibsa__sim_file_unregister(rig->a, agent), 0);
	assert_int_equal(ibsa__sim_file_due(rig->a), UINT64_MAX);
	assert_int_equal(file_write(rig->a, &packet), -EIO);
}

/* A table from the embedded SA comes in one piece. */
static void the_sa_answers_a_table(void **state)
{
	const struct rig *rig = *state;
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

/* Another file's table is cut and joined again below it. */
static void a_table_between_files_comes_whole(void **state)
{
	enum {
		DATA = 512,
		SEGMENTS = 3,
	};
	const struct rig *rig = *state;
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
	mad[24] = 1;
	mad[26] = IBSA_RMPP_ACTIVE;
	mad[sizeof(table) - UMAD_HEADER_BYTES - 1] = 0xee;
	assert_int_equal(ibsa__sim_file_write(rig->b, table, sizeof(table)), 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.len, IBSA_SA_HEADER_BYTES + DATA);
	assert_int_equal(in.mad[in.len - 1], 0xee);
	assert_int_equal(in.mad[25], IBSA_RMPP_TYPE_DATA);
	assert_int_equal(in.mad[26], IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST);
	assert_int_equal(ibsa_be32(in.mad + 28), 1);
	assert_int_equal(ibsa_be32(in.mad + 32), DATA + 20 * SEGMENTS);
}

/* The P_Key is that of the index, and has to pass. */
static void a_pkey_has_to_pass(void **state)
{
	static const uint16_t limited[] = { 0x7fff };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = limited,
		.pkey_count = 1,
	};
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent,
						file_lid(rig->fabric, "b", 1),
						CLASS_VENDOR, 1, ATTRIBUTE, 5);

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "a", 1, &change), 0);
	(void)file_ask(rig->a, &packet);
	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "b", 1, &change), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_PKEY), 1);
}

static void a_dead_link_carries_nothing(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
	};
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	const struct packet_out packet =
		file_request(agent, file_lid(rig->fabric, "b", 1), CLASS_VENDOR,
			     1, ATTRIBUTE, 5);

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "a", 1, &change), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_PORT_DOWN), 1);
}

/* Who has asked for Reports in a file, gets them there, and answers. */
static void reports_come_to_a_file(void **state)
{
	static const struct ibsa_inform_info want = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xffff,
		.trap_number = 0xffff,
		.producer_type = 0xffffff,
	};
	struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_CAPABILITIES,
		.capability_mask = 1,
	};
	const struct rig *rig = *state;
	const uint32_t agent = file_agent(rig->b, IBSA_CLASS_SA, 2,
					  1 << IBSA_METHOD_REPORT);
	struct packet_out packet = file_request(
		agent, file_lid(rig->fabric, "a", 1), IBSA_CLASS_SA,
		IBSA_METHOD_SET, ibsa_inform_info_record.attribute, 5);
	struct ibsa_fabric_stats stats;
	struct packet_in in;
	uint64_t over;

	ibsa_inform_info_record.encode(&want, packet.mad + IBSA_SA_HEADER_BYTES,
				       &over);
	assert_int_equal(ibsa_be16(file_ask(rig->b, &packet) + MAD_STATUS), 0);
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

static void note(void *arg)
{
	++*(int *)arg;
}

/* A file says so when there is something, and not once more. */
static void a_file_says_when_it_is_ready(void **state)
{
	const struct rig *rig = *state;
	const uint32_t asking = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(asking,
						file_lid(rig->fabric, "b", 1),
						CLASS_VENDOR, 1, ATTRIBUTE, 5);
	struct sim_file *file = NULL;
	struct packet_in in;
	int calls = 0;

	assert_int_equal(
		ibsa__sim_file_open(rig->fabric,
				    ibsa__fabric_find_port(rig->fabric, "b", 1),
				    note, &calls, &file),
		0);
	file_agent(file, CLASS_VENDOR, 1, 1 << 1);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(calls, 1);
	packet.mad[MAD_TID + 7]++;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(calls, 1);
	assert_true(file_read(file, &in));
	assert_true(file_read(file, &in));
	packet.mad[MAD_TID + 7]++;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(calls, 2);
	ibsa__sim_file_close(file);
}

static void an_sm_is_said_by_one_file(void **state)
{
	const struct rig *rig = *state;
	struct sim_file *other = file_open(rig->fabric, "b", 1);

	assert_int_equal(ibsa__sim_file_issm(rig->b, true), 0);
	assert_int_equal(ibsa__sim_file_issm(rig->b, true), 0);
	assert_int_equal(ibsa__sim_file_issm(other, true), -EBUSY);
	assert_int_equal(ibsa__sim_file_issm(other, false), 0);
	assert_int_equal(ibsa__sim_file_issm(rig->b, false), 0);
	assert_int_equal(ibsa__sim_file_issm(other, true), 0);
	ibsa__sim_file_close(other);
	assert_int_equal(ibsa__sim_file_issm(rig->b, true), 0);
}

static void only_end_ports_are_opened(void **state)
{
	const struct rig *rig = *state;
	struct sim_file *file = NULL;

	assert_int_equal(
		ibsa__sim_file_open(rig->fabric,
				    ibsa__fabric_find_port(rig->fabric, "s", 1),
				    NULL, NULL, &file),
		-ENODEV);
	assert_int_equal(ibsa__sim_file_open(rig->fabric, UINT32_MAX, NULL,
					     NULL, &file),
			 -ENODEV);
	assert_null(file);
	ibsa__sim_file_close(NULL);
}

/* What b reads while MADs from a meet with every fault of the way. */
static uint64_t history(uint64_t seed, struct ibsa_fabric_stats *stats)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.seed = seed,
	};
	struct rig rig = { .fabric = file_fabric(two_hosts, &options) };
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
	stop(&(void *){ &rig });
	return sum;
}

/* One seed, one history; and each fault strikes. */
static void a_seed_is_a_history(void **state)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bad_agents_are_refused),
		TEST(a_method_is_had_once),
		TEST(there_are_32_agents),
		TEST(bad_writes_are_refused),
		TEST(a_request_is_answered_by_the_other_agent),
		TEST(what_nobody_takes_is_refused),
		TEST(silence_is_reported_in_time),
		TEST(a_lost_try_is_made_good),
		TEST(a_delayed_mad_arrives_late),
		TEST(an_id_waits_once),
		TEST(segments_share_an_id),
		TEST(an_agent_takes_its_requests_along),
		TEST(the_sa_answers_a_table),
		TEST(a_table_between_files_comes_whole),
		TEST(a_pkey_has_to_pass),
		TEST(a_dead_link_carries_nothing),
		TEST(reports_come_to_a_file),
		TEST(a_file_says_when_it_is_ready),
		TEST(an_sm_is_said_by_one_file),
		TEST(only_end_ports_are_opened),
		cmocka_unit_test(a_seed_is_a_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
