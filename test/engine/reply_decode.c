/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parsing of replies: captured ones, complete and cut off, and malformed ones.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/reply.h"
#include "wire/mad.h"

/*
 * A table as the kernel delivers it: with the RMPP header of the first segment.
 */
struct table {
	uint8_t mad[56 + 8 * 64];
	size_t len;
};

static void put_rmpp(uint8_t *mad, uint8_t type, uint8_t flags, uint32_t length)
{
	mad[MAD_RMPP_VERSION] = 1;
	mad[MAD_RMPP_TYPE] = type;
	mad[MAD_RMPP_FLAGS] = flags;
	ibsa_put_be32(mad + MAD_RMPP_SEGMENT, 1);
	ibsa_put_be32(mad + MAD_RMPP_LENGTH, length);
}

static struct table path_table(size_t count)
{
	struct table table = { .len = 56 + count * 64 };

	table.mad[MAD_CLASS] = IBSA_CLASS_SA;
	table.mad[MAD_METHOD] = IBSA_METHOD_GET_TABLE_RESP;
	table.mad[MAD_ATTRIBUTE_OFFSET + 1] = 64 / 8;
	return table;
}

static struct ibsa_reply table_reply(const struct table *table)
{
	struct ibsa_reply reply = { 0 };

	reply_parse(&ibsa_path_record, table->mad, table->len, &reply);
	return reply;
}

/* The stride is that of the reply, and an incomplete record at the end does not
 * count. */
static void stride_is_the_replys(void **state)
{
	struct table table = path_table(8);

	(void)state;
	assert_int_equal(table_reply(&table).count, 8);
	table.mad[MAD_ATTRIBUTE_OFFSET + 1] = 128 / 8;
	assert_int_equal(table_reply(&table).count, 4);
	assert_int_equal(table_reply(&table).stride, 128);
	table.len -= 1;
	assert_int_equal(table_reply(&table).count, 3);
	assert_int_equal(table_reply(&table).err, 0);
}

static void stride_below_the_record_is_malformed(void **state)
{
	struct table table = path_table(2);

	(void)state;
	table.mad[MAD_ATTRIBUTE_OFFSET + 1] = 56 / 8;
	assert_int_equal(table_reply(&table).err, -EPROTO);
	assert_int_equal(table_reply(&table).count, 0);
}

/* An attribute offset of 0 means an empty table, whatever follows. */
static void zero_stride_means_no_records(void **state)
{
	struct table table = path_table(2);

	(void)state;
	table.mad[MAD_ATTRIBUTE_OFFSET + 1] = 0;
	assert_int_equal(table_reply(&table).err, 0);
	assert_int_equal(table_reply(&table).count, 0);
	assert_int_equal(ibsa_reply_outcome(&(struct ibsa_reply){ .count = 0 }),
			 IBSA_OUTCOME_NONE);
}

/*
 * The RMPP header of a reassembled table is that of its first segment, and need
 * not have the flag Last.
 */
static void reassembled_table_is_whole(void **state)
{
	struct table table = path_table(8);

	(void)state;
	put_rmpp(table.mad, 1, IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST, 572);
	assert_int_equal(table_reply(&table).err, 0);
	assert_int_equal(table_reply(&table).count, 8);
}

/*
 * A table of which only the first segment was delivered, by a transport
 * without RMPP, is incomplete.
 */
static void lone_first_segment_is_cut(void **state)
{
	struct table table = path_table(8);

	(void)state;
	put_rmpp(table.mad, 1, IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST, 572);
	table.len = 256;
	assert_int_equal(table_reply(&table).err, -ENODATA);
	assert_int_equal(table_reply(&table).count, 3);
}

/*
 * A table is incomplete if its last segment's length exceeds the bytes that
 * arrived.
 */
static void short_last_segment_is_cut(void **state)
{
	struct table table = path_table(2);

	(void)state;
	put_rmpp(table.mad, 1,
		 IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST | IBSA_RMPP_LAST, 148);
	assert_int_equal(table_reply(&table).err, 0);
	table.len = 56 + 64;
	assert_int_equal(table_reply(&table).err, -ENODATA);
	assert_int_equal(table_reply(&table).count, 1);
}

/* OpenSM's tables as ibsim delivers them: without RMPP type, and 224 bytes of a
 * MAD. */
static void table_beyond_ibsims_bytes_is_cut(void **state)
{
	struct table table = path_table(8);

	(void)state;
	put_rmpp(table.mad, 0, IBSA_RMPP_ACTIVE, 0);
	assert_int_equal(table_reply(&table).err, 0);
	table.len = 256;
	assert_int_equal(table_reply(&table).err, -ENODATA);
	assert_int_equal(table_reply(&table).count, 2);
	table.len = 56 + 3 * 64;
	assert_int_equal(table_reply(&table).err, -ENODATA);
	assert_int_equal(table_reply(&table).count, 2);
	table.len = 56 + 2 * 64;
	assert_int_equal(table_reply(&table).err, 0);
	assert_int_equal(table_reply(&table).count, 2);
}

/* A GetResp has one record; a shorter one is malformed. */
static void get_response_is_one_record(void **state)
{
	struct table table = path_table(1);

	(void)state;
	table.mad[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	assert_int_equal(table_reply(&table).count, 1);
	assert_int_equal(table_reply(&table).stride, 64);
	table.len--;
	assert_int_equal(table_reply(&table).err, -EPROTO);
}

/* With a status, a reply has no records, even if bytes follow. */
static void status_has_no_records(void **state)
{
	struct table table = path_table(2);
	struct ibsa_reply reply;

	(void)state;
	table.mad[MAD_STATUS] = 3;
	reply = table_reply(&table);
	assert_int_equal(reply.err, 0);
	assert_int_equal(reply.status, IBSA_STATUS_NO_RECORDS);
	assert_int_equal(reply.count, 0);
}

static enum ibsa_outcome outcome(int err, uint16_t status, size_t count)
{
	const struct ibsa_reply reply = {
		.err = err,
		.status = status,
		.count = count,
	};

	return ibsa_reply_outcome(&reply);
}

static void outcomes_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(outcome(0, 0, 1), IBSA_OUTCOME_OK);
	assert_int_equal(outcome(0, 0, 0), IBSA_OUTCOME_NONE);
	assert_int_equal(outcome(0, 0x0300, 0), IBSA_OUTCOME_NONE);
	assert_int_equal(outcome(0, 0x0500, 0), IBSA_OUTCOME_NONE);
	assert_int_equal(outcome(0, 0x0200, 0), IBSA_OUTCOME_REFUSED);
	assert_int_equal(outcome(0, 0x0001, 0), IBSA_OUTCOME_BUSY);
	assert_int_equal(outcome(-ETIMEDOUT, 0, 0), IBSA_OUTCOME_UNREACHABLE);
	assert_int_equal(outcome(-ENODATA, 0, 3), IBSA_OUTCOME_UNREACHABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stride_is_the_replys),
		cmocka_unit_test(stride_below_the_record_is_malformed),
		cmocka_unit_test(zero_stride_means_no_records),
		cmocka_unit_test(reassembled_table_is_whole),
		cmocka_unit_test(lone_first_segment_is_cut),
		cmocka_unit_test(short_last_segment_is_cut),
		cmocka_unit_test(table_beyond_ibsims_bytes_is_cut),
		cmocka_unit_test(get_response_is_one_record),
		cmocka_unit_test(status_has_no_records),
		cmocka_unit_test(outcomes_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
