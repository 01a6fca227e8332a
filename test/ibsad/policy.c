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

static bool is_permitted(uint32_t key, bool performance)
{
	return is_in(permitted, sizeof(permitted) / 4, key) ||
	       (performance && is_in(counters, sizeof(counters) / 4, key));
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
	return packet;
}

static enum policy_answer answer_of(const struct bytes *packet, size_t len,
				    bool performance)
{
	const struct policy policy = { .performance = performance,
				       .sm_lid = SM_LID };
	const struct policy_verdict verdict =
		ibsad_policy_send(&policy, packet->at, len);

	assert_int_equal(verdict.reason == NULL,
			 verdict.answer == POLICY_PASS ||
				 verdict.answer == POLICY_OWNED);
	return verdict.answer;
}

/* All attributes that exist, and some others. */
static uint32_t attribute_step(uint32_t class, uint32_t attribute)
{
	if (attribute >= 0x100)
		return 0x1fdf;
	return class == 3 || class == 4 ? 1 : 0x11;
}

static void check_all(bool performance)
{
	for (uint32_t class = 0; class < 256; class ++)
		for (uint32_t method = 0; method < 256; method++)
			for (uint32_t attribute = 0; attribute < 0x10000;
			     attribute += attribute_step(class, attribute)) {
				const uint32_t key = class << 24 |
						     method << 16 | attribute;
				const struct bytes packet = packet_of(key);
				const enum policy_answer answer =
					answer_of(&packet, PACKET, performance);

				if ((answer == POLICY_PASS) !=
					    is_permitted(key, performance) ||
				    (answer == POLICY_OWNED) !=
					    is_in(owners, 4, key))
					fail_msg("0x%08x: answer %d", key,
						 answer);
			}
}

static void only_the_table_passes(void **state)
{
	(void)state;
	check_all(false);
	check_all(true);
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
		cmocka_unit_test(agents_receive_responses_and_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
