/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Agents of umad files: which can be registered, and which MADs they receive.
 * Source: Linux drivers/infiniband/core/user_mad.c, mad.c and mad_rmpp.c.
 */
#include <errno.h>

#include "file_rig.h"

enum {
	CLASS_VENDOR = 0x09, /* without an OUI */
	CLASS_VENDOR_OUI = 0x30,
	METHOD_GET_RESP = 0x81,
	ATTRIBUTE = 0x0010,
};

/* Every request that the ioctl refuses. */
static void bad_agents_are_refused(void **state)
{
	static const struct agent_request bad[] = {
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
	const struct file_pair *rig = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct agent_request request = bad[i];

		assert_int_equal(ibsa__port_file_register(rig->a, &request),
				 -EINVAL);
	}
	assert_int_equal(ibsa__port_file_unregister(rig->a, 0), -EINVAL);
	assert_int_equal(ibsa__port_file_unregister(rig->a, 32), -EINVAL);
}

/* At a port, only one agent of all open files can have a method of a class. */
static void a_method_belongs_to_one_agent(void **state)
{
	struct agent_request request = {
		.qpn = 1,
		.mgmt_class = CLASS_VENDOR,
		.class_version = 1,
		.method_mask = { 1 << 1 | 1 << 2 },
	};
	const struct file_pair *rig = *state;
	struct port_file *other = file_open(rig->fabric, "a", 1);

	file_agent(rig->a, CLASS_VENDOR, 1, 1 << 1);
	assert_int_equal(ibsa__port_file_register(other, &request), -EINVAL);
	request.method_mask[0] = 1 << 2;
	assert_int_equal(ibsa__port_file_register(other, &request), 0);
	request.class_version = 2;
	request.method_mask[0] = 1 << 1;
	assert_int_equal(ibsa__port_file_register(other, &request), 0);
	assert_int_equal(ibsa__port_file_register(rig->b, &request), 0);
	request.class_version = 1;
	assert_int_equal(ibsa__port_file_unregister(rig->a, 0), 0);
	assert_int_equal(ibsa__port_file_register(other, &request), 0);
	ibsa__port_file_close(other);
}

static void a_file_has_at_most_32_agents(void **state)
{
	struct agent_request request = { .qpn = 1 };
	const struct file_pair *rig = *state;

	for (uint32_t i = 0; i < AGENTS_MAX; i++) {
		assert_int_equal(ibsa__port_file_register(rig->a, &request), 0);
		assert_int_equal(request.id, i);
	}
	assert_int_equal(ibsa__port_file_register(rig->a, &request), -ENOMEM);
	assert_int_equal(ibsa__port_file_unregister(rig->a, 7), 0);
	assert_int_equal(ibsa__port_file_register(rig->a, &request), 0);
	assert_int_equal(request.id, 7);
}

static void bad_writes_are_refused(void **state)
{
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, CLASS_VENDOR, 1, 0);
	struct packet_out packet = file_request(agent, 1, CLASS_VENDOR, 1, 1,
						1);
	uint8_t large[sizeof(packet) + 1] = { 0 };

	assert_int_equal(ibsa__port_file_write(rig->a, (uint8_t *)&packet, 99),
			 -EINVAL);
	memcpy(large, &packet, sizeof(packet));
	assert_int_equal(ibsa__port_file_write(rig->a, large, sizeof(large)),
			 -EINVAL);
	packet.header.id = agent + 1;
	assert_int_equal(file_write(rig->a, &packet), -EIO);
	packet.header.id = AGENTS_MAX;
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
	packet.header.id = agent;
	packet.header.grh_present = 1;
	packet.header.gid_index = 255;
	assert_int_equal(file_write(rig->a, &packet), -EINVAL);
}

/*
 * Send a request to the other port and an answer back, to an agent without
 * methods.
 */
static void a_request_is_answered_by_the_other_agent(void **state)
{
	const struct file_pair *rig = *state;
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

	/* The answer keeps the request's id, by which it is delivered. */
	memcpy(packet.mad, in.mad, sizeof(packet.mad));
	packet.header = in.header;
	packet.mad[MAD_METHOD] = METHOD_GET_RESP;
	packet.mad[100] = 0xcd;
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.header.id, asking);
	assert_int_equal(ibsa_be16((uint8_t *)&in.header.lid), lid_b);
	assert_int_equal(in.mad[100], 0xcd);
	/* A second answer has no request. */
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_false(file_read(rig->a, &in));
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_AGENT), 1);
}

/*
 * A response goes to the agent that its transaction id names, if this agent is
 * at the port at which the response arrives. Several files may be open there.
 */
static void a_response_reaches_its_agent_at_its_port(void **state)
{
	const struct file_pair *rig = *state;
	struct port_file *asking = file_open(rig->fabric, "a", 1);
	struct port_file *last = file_open(rig->fabric, "a", 1);
	const uint32_t lid_b = file_lid(rig->fabric, "b", 1);
	struct packet_out packet;
	struct packet_in in;

	file_agent(rig->a, 0, 0, 0);
	packet = file_request(file_agent(asking, 0, 0, 0), lid_b, CLASS_VENDOR,
			      1, ATTRIBUTE, 5);
	file_agent(last, 0, 0, 0);
	file_agent(rig->b, CLASS_VENDOR, 1, 1 << 1);
	assert_int_equal(file_write(asking, &packet), 0);
	assert_true(file_read(rig->b, &in));
	packet.header = in.header;
	memcpy(packet.mad, in.mad, sizeof(packet.mad));
	packet.mad[MAD_METHOD] = METHOD_GET_RESP;

	ibsa_put_be16((uint8_t *)&packet.header.lid, (uint16_t)lid_b);
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_false(file_read(asking, &in));
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_AGENT), 1);

	ibsa_put_be16((uint8_t *)&packet.header.lid,
		      (uint16_t)file_lid(rig->fabric, "a", 1));
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_true(file_read(asking, &in));
	assert_false(file_read(rig->a, &in));
	assert_false(file_read(last, &in));

	/* Its file is closed before the next response. */
	ibsa__port_file_close(asking);
	assert_int_equal(file_write(rig->b, &packet), 0);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_AGENT), 2);
	ibsa__port_file_close(last);
}

/*
 * As Linux does, a port refuses a request for which it has no agent, if the
 * request's method has an answer.
 */
static void mad_without_an_agent_is_refused(void **state)
{
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent,
						file_lid(rig->fabric, "b", 1),
						CLASS_VENDOR, 2, ATTRIBUTE, 5);
	const uint8_t *mad = file_exchange(rig->a, &packet);

	assert_int_equal(mad[MAD_METHOD], METHOD_GET_RESP);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0x000c);
	packet.mad[MAD_METHOD] = METHOD_SEND;
	packet.header.timeout_ms = 0;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(ibsa__port_file_due(rig->a), UINT64_MAX);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_AGENT), 1);
}

/* When an agent is unregistered, its requests end without an answer. */
static void requests_end_with_their_agent(void **state)
{
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	const struct packet_out packet = file_request(agent, 99, CLASS_VENDOR,
						      1, ATTRIBUTE, 5);

	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(ibsa__port_file_unregister(rig->a, agent), 0);
	assert_int_equal(ibsa__port_file_due(rig->a), UINT64_MAX);
	assert_int_equal(file_write(rig->a, &packet), -EIO);
}

static void one_file_sets_the_issm_bit(void **state)
{
	const struct file_pair *rig = *state;
	struct port_file *other = file_open(rig->fabric, "b", 1);

	assert_int_equal(ibsa__port_file_issm(rig->b, true), 0);
	assert_int_equal(ibsa__port_file_issm(rig->b, true), 0);
	assert_int_equal(ibsa__port_file_issm(other, true), -EBUSY);
	assert_int_equal(ibsa__port_file_issm(other, false), 0);
	assert_int_equal(ibsa__port_file_issm(rig->b, false), 0);
	assert_int_equal(ibsa__port_file_issm(other, true), 0);
	ibsa__port_file_close(other);
	assert_int_equal(ibsa__port_file_issm(rig->b, true), 0);
}

static void only_end_ports_are_opened(void **state)
{
	const struct file_pair *rig = *state;
	struct port_file *file = NULL;

	assert_int_equal(
		ibsa__port_file_open(
			&rig->fabric->first.files,
			ibsa__fabric_find_port(
				rig->fabric,
				ibsa__fabric_find_node(rig->fabric, "s"), 1),
			NULL, NULL, &file),
		-ENODEV);
	assert_int_equal(ibsa__port_file_open(&rig->fabric->first.files,
					      UINT32_MAX, NULL, NULL, &file),
			 -ENODEV);
	assert_null(file);
	ibsa__port_file_close(NULL);
}

#define TEST(name)                                             \
	cmocka_unit_test_setup_teardown(name, file_pair_setup, \
					file_pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bad_agents_are_refused),
		TEST(a_method_belongs_to_one_agent),
		TEST(a_file_has_at_most_32_agents),
		TEST(bad_writes_are_refused),
		TEST(a_request_is_answered_by_the_other_agent),
		TEST(a_response_reaches_its_agent_at_its_port),
		TEST(mad_without_an_agent_is_refused),
		TEST(requests_end_with_their_agent),
		TEST(one_file_sets_the_issm_bit),
		TEST(only_end_ports_are_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
