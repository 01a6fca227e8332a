/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A record that gets a field in reserved bits in the middle: its struct grows at
 * the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/records.h>

#include "wire/array.h"
#include "wire/word.h"

/* clang-format off */
#define IBSA_BEFORE_FIELDS(F, ARR, PAD, LATE)	\
	F(u8,   head,   8,  0, dec)		\
	PAD(resv0,      3)			\
	F(u8,   low,    5,  1, dec)		\
	F(u32,  tail,  16,  2, hex)

#define IBSA_AFTER_FIELDS(F, ARR, PAD, LATE)	\
	F(u8,   head,   8,  0, dec)		\
	PAD(speed,      3)			\
	F(u8,   low,    5,  1, dec)		\
	F(u32,  tail,  16,  2, hex)		\
	LATE(u32, speed, 3, 7, dec)
/* clang-format on */

IBSA__DEFINE(before, BEFORE);
IBSA__DEFINE(after, AFTER);

#define CODEC_ONLY
#define RECORD before
#define FIELDS IBSA_BEFORE_FIELDS
#include "wire/record.inc"
#undef CODEC_ONLY

#define RECORD after
#define FIELDS IBSA_AFTER_FIELDS
#include "wire/record.inc"

static void old_members_keep_their_places(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct ibsa_after, head),
			 offsetof(struct ibsa_before, head));
	assert_int_equal(offsetof(struct ibsa_after, low),
			 offsetof(struct ibsa_before, low));
	assert_int_equal(offsetof(struct ibsa_after, tail),
			 offsetof(struct ibsa_before, tail));
	assert_int_equal(offsetof(struct ibsa_after, speed),
			 sizeof(struct ibsa_before));
	assert_int_equal(sizeof(struct ibsa__after_bits),
			 sizeof(struct ibsa__before_bits));
}

/* Bytes of the specification's layout: 8, 3, 5 and 16 bits. */
static const uint8_t wire[] = { 0x12, 5 << 5 | 9, 0xab, 0xcd };

static void late_field_is_in_the_middle_of_the_wire(void **state)
{
	struct ibsa_before before;
	struct ibsa_after after;
	uint8_t bytes[sizeof(wire)];
	uint64_t over;

	(void)state;
	after_decode(wire, &after);
	assert_int_equal(after.head, 0x12);
	assert_int_equal(after.speed, 5);
	assert_int_equal(after.low, 9);
	assert_int_equal(after.tail, 0xabcd);
	assert_int_equal(IBSA_GET(after, speed, wire), 5);
	after_encode(&after, bytes, &over);
	assert_int_equal(over, 0);
	assert_memory_equal(bytes, wire, sizeof(wire));
	before_decode(wire, &before);
	assert_int_equal(before.tail, 0xabcd);
	before_encode(&before, bytes, &over);
	assert_int_equal(bytes[1], 9);
	after.speed = 8;
	after_encode(&after, bytes, &over);
	assert_int_not_equal(over, 0);
}

static void late_field_is_the_last_row(void **state)
{
	const struct ibsa_field *field = &after_rows[3];

	(void)state;
	assert_int_equal(sizeof(after_rows) / sizeof(*field), 4);
	assert_string_equal(field->name, "speed");
	assert_int_equal(field->bit_offset, 8);
	assert_int_equal(field->nbits, 3);
	assert_int_equal(field->host_offset, sizeof(struct ibsa_before));
	assert_int_equal(ibsa_field_cm(field, 0), 1 << 7);
	assert_int_equal(IBSA_CM(after, speed), 1 << 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_members_keep_their_places),
		cmocka_unit_test(late_field_is_in_the_middle_of_the_wire),
		cmocka_unit_test(late_field_is_the_last_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
