/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of umad files: timeouts, retries and how they end. Source: Linux
 * drivers/infiniband/core/user_mad.c, mad.c and mad_rmpp.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/file/sent.h"
#include "file_rig.h"

#define MS UINT64_C(1000000)

enum {
	CLASS_VENDOR = 0x09, /* without an OUI */
	ATTRIBUTE = 0x0010,
};

static void advance(const struct file_pair *rig, uint64_t ns)
{
	assert_int_equal(ibsa_fabric_advance(rig->fabric, ns), 0);
}

/* The timeout of a request is reported after all its tries have timed out. */
static void silence_is_reported_in_time(void **state)
{
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent, 99, CLASS_VENDOR, 1,
						ATTRIBUTE, 5);
	struct packet_in in;

	packet.header.timeout_ms = 200;
	packet.header.retries = 2;
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(ibsa__port_file_due(rig->a), 200 * MS);
	advance(rig, 200 * MS);
	assert_false(file_read(rig->a, &in));
	advance(rig, 200 * MS);
	assert_false(file_read(rig->a, &in));
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_ROUTE), 3);
	advance(rig, 200 * MS - 1);
	assert_false(file_read(rig->a, &in));
	advance(rig, 1);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.header.status, ETIMEDOUT);
	assert_int_equal(in.header.id, agent);
	assert_int_equal(in.header.timeout_ms, 200);
	assert_int_equal(in.len, MAD_HEADER_BYTES);
	assert_int_equal(ibsa_be32(in.mad + MAD_TID + 4), 5);
	assert_int_equal(in.mad[MAD_CLASS], CLASS_VENDOR);
	assert_int_equal(ibsa__port_file_due(rig->a), UINT64_MAX);
	assert_false(file_read(rig->a, &in));
}

/* One try of a request is lost, and the next is answered. */
static void a_lost_try_is_sent_again(void **state)
{
	const struct ibsa_fault lose = {
		.kind = IBSA_FAULT_LOSE,
		.percent = 100,
		.count = 1,
	};
	const struct file_pair *rig = *state;
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
	assert_int_equal(ibsa__port_file_due(rig->a), UINT64_MAX);
}

/* A delayed MAD arrives when it is due, whichever file is read first. */
static void a_delayed_mad_arrives_late(void **state)
{
	const struct ibsa_fault delay = {
		.kind = IBSA_FAULT_DELAY,
		.percent = 100,
		.count = 1,
		.delay_ms = 50,
	};
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, CLASS_VENDOR, 1, 0);
	const struct packet_out packet =
		file_request(agent, file_lid(rig->fabric, "b", 1), CLASS_VENDOR,
			     1, ATTRIBUTE, 5);
	struct packet_in in;

	file_agent(rig->b, CLASS_VENDOR, 1, 1 << 1);
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &delay), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_false(file_read(rig->b, &in));
	assert_in_range(ibsa__port_file_due(rig->b), 1, 50 * MS);
	advance(rig, ibsa__port_file_due(rig->b));
	assert_true(file_read(rig->b, &in));
}

/*
 * Two requests of one class cannot have the same id; those of two classes can.
 */
static void two_requests_cannot_have_one_id(void **state)
{
	const struct file_pair *rig = *state;
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

static void note(void *arg)
{
	++*(int *)arg;
}

/* A file reports once that packets are ready. */
static void a_file_reports_when_it_is_ready(void **state)
{
	const struct file_pair *rig = *state;
	const uint32_t asking = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(asking,
						file_lid(rig->fabric, "b", 1),
						CLASS_VENDOR, 1, ATTRIBUTE, 5);
	struct port_file *file = NULL;
	struct packet_in in;
	int calls = 0;

	assert_int_equal(
		ibsa__port_file_open(
			&rig->fabric->first.files,
			ibsa__fabric_find_port(
				rig->fabric,
				ibsa__fabric_find_node(rig->fabric, "b"), 1),
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
	ibsa__port_file_close(file);
}

/* However many retries are overdue, one read of the file sends one. */
static void missed_retries_are_not_sent_later(void **state)
{
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent, 99, CLASS_VENDOR, 1,
						ATTRIBUTE, 5);
	struct packet_in in;

	packet.header.timeout_ms = 1;
	packet.header.retries = UINT32_MAX;
	assert_int_equal(file_write(rig->a, &packet), 0);
	advance(rig, 3600000 * MS);
	for (int i = 0; i < 3; i++)
		assert_false(file_read(rig->a, &in));
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_ROUTE), 2);
	assert_int_equal(ibsa__port_file_due(rig->a), 3600001 * MS);
}

/* An answer to the first try counts, however late the file is read. */
static void an_answer_in_time_ends_its_request(void **state)
{
	const struct ibsa_fault delay = {
		.kind = IBSA_FAULT_DELAY,
		.percent = 100,
		.count = 1,
		.delay_ms = 50,
	};
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent,
						file_lid(rig->fabric, "b", 1),
						CLASS_VENDOR, 1, ATTRIBUTE, 5);
	struct packet_in in;

	packet.header.timeout_ms = 100;
	packet.header.retries = 7;
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &delay), 0);
	assert_int_equal(file_write(rig->a, &packet), 0);
	advance(rig, 3600000 * MS);
	assert_true(file_read(rig->a, &in));
	assert_int_equal(in.header.status, 0);
	assert_false(file_read(rig->a, &in));
	assert_int_equal(ibsa__port_file_due(rig->a), UINT64_MAX);
}

/*
 * At most a limited number of retries is sent at a time, so that other files do
 * not wait.
 */
static void many_are_not_sent_again_at_a_time(void **state)
{
	enum { MANY = AGAIN_MAX + 10 };
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, 0, 0, 0);
	struct packet_out packet = file_request(agent, 99, CLASS_VENDOR, 1,
						ATTRIBUTE, 5);

	packet.header.retries = 1;
	for (uint32_t i = 0; i < MANY; i++) {
		ibsa_put_be32(packet.mad + MAD_TID + 4, i);
		assert_int_equal(file_write(rig->a, &packet), 0);
	}
	advance(rig, 1000 * MS);
	ibsa__port_file_settle(rig->a);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_ROUTE),
			 MANY + AGAIN_MAX);
	assert_int_equal(ibsa__port_file_due(rig->a), 1000 * MS);
	ibsa__port_file_settle(rig->a);
	assert_int_equal(file_drops(rig->fabric, IBSA_DROP_NO_ROUTE), 2 * MANY);
	assert_int_equal(ibsa__port_file_due(rig->a), 2000 * MS);
}

/*
 * The memory for retries is limited, but one MAD of any size is always allowed.
 */
static void copies_have_a_limit(void **state)
{
	const struct file_pair *rig = *state;
	const uint32_t agent = file_agent(rig->a, IBSA_CLASS_SA, 2, 0);
	const struct packet_out packet = file_request(agent, 99, IBSA_CLASS_SA,
						      0x92, 0x11, 1);
	const size_t len = sizeof(packet) + SENT_BYTES_MAX;
	uint8_t *large = calloc(1, len);
	struct umad_header *header = (struct umad_header *)large;
	struct packet_in in;

	assert_non_null(large);
	memcpy(large, &packet, sizeof(packet));
	header->retries = 1;
	large[UMAD_HEADER_BYTES + 26] = IBSA_RMPP_ACTIVE;
	assert_int_equal(ibsa__port_file_write(rig->a, large, len), 0);
	large[UMAD_HEADER_BYTES + 11] = 2;
	assert_int_equal(ibsa__port_file_write(rig->a, large, sizeof(packet)),
			 -ENOMEM);
	header->retries = 0;
	assert_int_equal(ibsa__port_file_write(rig->a, large, sizeof(packet)),
			 0);
	for (int i = 0; i < 2; i++) {
		advance(rig, 1000 * MS);
		assert_true(file_read(rig->a, &in));
	}
	header->retries = 1;
	assert_int_equal(ibsa__port_file_write(rig->a, large, sizeof(packet)),
			 0);
	free(large);
}

#define TEST(name)                                             \
	cmocka_unit_test_setup_teardown(name, file_pair_setup, \
					file_pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(silence_is_reported_in_time),
		TEST(a_lost_try_is_sent_again),
		TEST(a_delayed_mad_arrives_late),
		TEST(two_requests_cannot_have_one_id),
		TEST(a_file_reports_when_it_is_ready),
		TEST(missed_retries_are_not_sent_later),
		TEST(an_answer_in_time_ends_its_request),
		TEST(many_are_not_sent_again_at_a_time),
		TEST(copies_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
