/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy of ibsad beside a second table, which lists what is permitted one
 * by one: all classes, methods and attributes, and each field of the headers.
 */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ibsad/policy.h"
#include "test/ibsad/permitted.h"

enum { SM_LID = 0x0102, HEADER = 64, PACKET = 64 + 256 };

static bool is_in(const uint32_t *list, size_t count, uint32_t key)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == key)
			return true;
	}
	return false;
}

/* ff15:7::/32, and ff15:8:4000::/34 without the last 14 bits of its word */
static const struct policy_groups groups = {
	.count = 2,
	.at = { { { { 0xff, 0x15, 0, 7 } }, 32 },
		{ { { 0xff, 0x15, 0, 8, 0x40 } }, 34 } },
};
static const struct policy_groups creating = {
	.may_create = true,
	.count = 1,
	.at = { { { { 0xff, 0x15, 0, 7 } }, 32 } },
};

static bool is_permitted(uint32_t key, bool performance)
{
	return is_in(permitted, sizeof(permitted) / 4, key) ||
	       (performance && is_in(counters, sizeof(counters) / 4, key));
}

static bool is_owned(uint32_t key, bool has_groups)
{
	return is_in(owners, sizeof(owners) / 4, key) ||
	       (has_groups && (is_in(members, sizeof(members) / 4, key) ||
			       is_in(aliases, sizeof(aliases) / 4, key)));
}

/* A packet that passes, by the offsets of the specifications. */
struct bytes {
	uint8_t at[PACKET];
};

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static struct bytes packet_of(uint32_t key)
{
	struct bytes packet = { { 0 } };
	uint8_t *at = packet.at;

	at[23] = 1; /* qpn */
	memcpy(at + 24, (const uint8_t[]){ 0x80, 0x01, 0, 0 }, 4);
	put16(at + 28, SM_LID);
	at[HEADER] = 1;
	at[HEADER + 1] = (uint8_t)(key >> 24);
	at[HEADER + 2] = key >> 24 == 4 ? 1 : 2;
	at[HEADER + 3] = (uint8_t)(key >> 16);
	put16(at + HEADER + 16, (uint16_t)key);
	/* MGID, PortGID and JoinState */
	at[HEADER + 53] = 1;
	at[HEADER + 55] = 3;
	memcpy(at + HEADER + 56, groups.at[0].mgid.raw, 16);
	return packet;
}

static enum policy_answer answer_with(const struct bytes *packet, size_t len,
				      bool performance,
				      const struct policy_groups *which)
{
	const struct policy policy = { .performance = performance,
				       .guid_info = which,
				       .groups = which,
				       .sm_lid = SM_LID };
	const struct policy_verdict verdict =
		ibsad_policy_send(&policy, packet->at, len);

	assert_int_equal(verdict.reason == NULL,
			 verdict.answer == POLICY_PASS ||
				 verdict.answer == POLICY_OWNED);
	return verdict.answer;
}

static enum policy_answer answer_of(const struct bytes *packet, size_t len,
				    bool performance)
{
	return answer_with(packet, len, performance, NULL);
}

/* All attributes that exist, and some others. */
static uint32_t attribute_step(uint32_t class, uint32_t attribute)
{
	if (attribute >= 0x100)
		return 0x1fdf;
	return class == 3 || class == 4 ? 1 : 0x11;
}

static void check_all(bool performance, const struct policy_groups *which)
{
	for (uint32_t class = 0; class < 256; class ++)
		for (uint32_t method = 0; method < 256; method++)
			for (uint32_t attribute = 0; attribute < 0x10000;
			     attribute += attribute_step(class, attribute)) {
				const uint32_t key = class << 24 |
						     method << 16 | attribute;
				const struct bytes packet = packet_of(key);
				const enum policy_answer answer = answer_with(
					&packet, PACKET, performance, which);

				if ((answer == POLICY_PASS) !=
					    is_permitted(key, performance) ||
				    (answer == POLICY_OWNED) !=
					    is_owned(key, which))
					fail_msg("0x%08x: answer %d", key,
						 answer);
			}
}

static void only_the_table_passes(void **state)
{
	(void)state;
	check_all(false, NULL);
	check_all(true, &groups);
}

/* A request for a path whose byte @at has another value. */
static enum policy_answer changed(size_t at, uint8_t value)
{
	struct bytes packet = packet_of(0x03010035);

	packet.at[at] = value;
	return answer_of(&packet, PACKET, false);
}

static void headers_are_checked(void **state)
{
	struct bytes packet;

	(void)state;
	assert_int_equal(changed(21, 0), POLICY_PASS);
	assert_int_equal(changed(23, 0), POLICY_NOT_SENT);
	assert_int_equal(changed(23, 2), POLICY_NOT_SENT);
	assert_int_equal(changed(21, 1), POLICY_NOT_SENT);
	assert_int_equal(changed(25, 2), POLICY_NOT_SENT);
	assert_int_equal(changed(27, 1), POLICY_NOT_SENT);
	assert_int_equal(changed(28, 0), POLICY_UNANSWERED);
	assert_int_equal(changed(29, 3), POLICY_UNANSWERED);
	assert_int_equal(changed(HEADER, 2), POLICY_NOT_SENT);
	assert_int_equal(changed(HEADER + 2, 0x80), POLICY_NOT_SENT);
	assert_int_equal(changed(HEADER + 3, 0x81), POLICY_NOT_SENT);
	/* RMPP: its flag Active */
	assert_int_equal(changed(HEADER + 26, 1), POLICY_NOT_SENT);
	/* retries, in the byte order of the machine */
	packet = packet_of(0x03010035);
	memcpy(packet.at + 12, &(uint32_t){ 255 }, 4);
	assert_int_equal(answer_of(&packet, PACKET, false), POLICY_PASS);
	memcpy(packet.at + 12, &(uint32_t){ 256 }, 4);
	assert_int_equal(answer_of(&packet, PACKET, false), POLICY_NOT_SENT);
	assert_int_equal(changed(HEADER + 3, 0x02), POLICY_DENIED);
	for (size_t i = 36; i < 44; i++)
		assert_int_equal(changed(HEADER + i, 1), POLICY_DENIED);
}

static void lengths_are_checked(void **state)
{
	const struct bytes get = packet_of(0x03010035);
	const struct bytes multi = packet_of(0x0314003a);

	(void)state;
	assert_int_equal(answer_of(&get, HEADER + 55, false), POLICY_NOT_SENT);
	assert_int_equal(answer_of(&get, HEADER + 56, false), POLICY_PASS);
	assert_int_equal(answer_of(&get, HEADER + 257, false), POLICY_NOT_SENT);
	assert_int_equal(answer_of(&multi, HEADER + 257, false), POLICY_PASS);
	assert_int_equal(answer_of(&multi, HEADER + 65537, false),
			 POLICY_NOT_SENT);
}

static void counters_are_read_at_any_port(void **state)
{
	struct bytes packet = packet_of(0x04010012);

	(void)state;
	put16(packet.at + 28, 7);
	assert_int_equal(answer_of(&packet, PACKET, true), POLICY_PASS);
	assert_int_equal(answer_of(&packet, PACKET, false), POLICY_NOT_SENT);
	put16(packet.at + 28, 0);
	assert_int_equal(answer_of(&packet, PACKET, true), POLICY_NOT_SENT);
	put16(packet.at + 28, 0xc000);
	assert_int_equal(answer_of(&packet, PACKET, true), POLICY_NOT_SENT);
}

/* A join or leave whose byte @at has another value. */
static enum policy_answer member(const struct policy_groups *which,
				 uint8_t method, size_t at, uint8_t value)
{
	struct bytes packet = packet_of(0x03000038 | (uint32_t)method << 16);

	packet.at[at] = value;
	return answer_with(&packet, PACKET, false, which);
}

static void memberships_are_of_some_groups(void **state)
{
	const size_t mask = HEADER + 48, mgid = HEADER + 56;
	struct bytes packet = packet_of(0x03020038);

	(void)state;
	for (unsigned int method = 2; method <= 0x15; method += 0x13) {
		const uint8_t at = (uint8_t)method;

		assert_int_equal(member(&groups, at, 0, 0), POLICY_OWNED);
		assert_int_equal(member(&groups, at, mgid + 15, 9),
				 POLICY_OWNED);
		assert_int_equal(member(NULL, at, 0, 0), POLICY_DENIED);
		assert_int_equal(member(&(struct policy_groups){ .count = 0 },
					at, 0, 0),
				 POLICY_DENIED);
		assert_int_equal(member(&groups, at, mask + 5, 0),
				 POLICY_DENIED);
		for (unsigned int byte = 0; byte < 4; byte++)
			assert_int_equal(member(&groups, at, mgid + byte, 0x80),
					 POLICY_DENIED);
	}
	/* The first two bits of a byte. */
	packet.at[mgid + 3] = 8;
	for (unsigned int value = 0; value < 256; value++) {
		packet.at[mgid + 4] = (uint8_t)value;
		assert_int_equal(answer_with(&packet, PACKET, false, &groups),
				 value >> 6 == 1 ? POLICY_OWNED
						 : POLICY_DENIED);
	}
	assert_int_equal(answer_with(&packet, PACKET - 1, false, &groups),
			 POLICY_DENIED);
}

static void joins_may_create_by_option(void **state)
{
	const size_t mask = HEADER + 48;
	struct bytes packet = packet_of(0x03020038);

	(void)state;
	/* Q_Key, TClass, P_Key, SL and FlowLabel, too */
	packet.at[mask + 7] |= 0xc4;
	packet.at[mask + 6] |= 0x30;
	assert_int_equal(answer_with(&packet, PACKET, false, &groups),
			 POLICY_DENIED);
	assert_int_equal(answer_with(&packet, PACKET, false, &creating),
			 POLICY_OWNED);
	packet.at[mask + 6] &= 0xdf;
	assert_int_equal(answer_with(&packet, PACKET, false, &groups),
			 POLICY_OWNED);
	packet.at[mask + 6] |= 0x20;
	packet.at[HEADER + 3] = 0x15;
	assert_int_equal(answer_with(&packet, PACKET, false, &groups),
			 POLICY_OWNED);
}

static int registered(uint8_t class, uint8_t version, uint64_t methods,
		      uint32_t flags, bool performance)
{
	const struct policy policy = { .performance = performance };
	const struct umad_agent_request2 request = {
		.qpn = 1,
		.mgmt_class = class,
		.mgmt_class_version = version,
		.method_mask = { methods },
		.flags = flags,
		.rmpp_version = 1,
	};
	const char *reason = NULL;
	const int err = ibsad_policy_register(&policy, &request, &reason);

	assert_int_equal(reason != NULL, err == -EPERM);
	return err;
}

static void agents_receive_responses_and_reports(void **state)
{
	(void)state;
	for (unsigned int id = 0; id < 256; id++) {
		assert_int_equal(registered((uint8_t)id, 2, 0, 0, true),
				 id == 3 ? 0 : -EPERM);
		assert_int_equal(registered((uint8_t)id, 1, 0, 0, true),
				 id == 4 ? 0 : -EPERM);
		assert_int_equal(registered((uint8_t)id, 1, 0, 0, false),
				 -EPERM);
	}
	for (unsigned int method = 0; method < 64; method++)
		assert_int_equal(registered(3, 2, UINT64_C(1) << method, 0,
					    true),
				 method == 6 ? 0 : -EPERM);
	assert_int_equal(registered(4, 1, 1 << 6, 0, true), -EPERM);
	for (unsigned int flag = 0; flag < 32; flag++)
		assert_int_equal(registered(3, 2, 0, UINT32_C(1) << flag, true),
				 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_table_passes),
		cmocka_unit_test(headers_are_checked),
		cmocka_unit_test(lengths_are_checked),
		cmocka_unit_test(counters_are_read_at_any_port),
		cmocka_unit_test(memberships_are_of_some_groups),
		cmocka_unit_test(joins_may_create_by_option),
		cmocka_unit_test(agents_receive_responses_and_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
