/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which messages the engine accepts as replies, and how many it takes in one
 * dispatch. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum { MS = 1000000 };

static struct puppet puppet;

/* The callback gets the reply once, with its record and round-trip time. */
static void answer_reaches_its_callback(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	assert_int_equal(puppet.sent_count, 1);
	assert_int_equal(puppet_sent(&puppet, 0)->address.lid, PUPPET_SM_LID);
	assert_int_equal(puppet_sent(&puppet, 0)->address.sl, 2);
	assert_int_equal(puppet_sent(&puppet, 0)->timeout_ms, 100);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	assert_int_equal(seen.calls, 0);
	puppet_advance(&puppet, engine, 3);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.stride, 64);
	assert_int_equal(seen.tries, 1);
	assert_int_equal(seen.rtt_ns, 3 * MS);
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(ibsa__engine_stats(engine)->ignored_id, 1);
	ibsa__engine_free(engine);
}

/* Replies that do not belong to a request are ignored and counted. */
static void replies_to_others_are_ignored(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct puppet_mad good, bad;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	good = puppet_answer(puppet_sent(&puppet, 0));
	bad = good, bad.address.lid++;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.address.qpn = 2;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[MAD_TID + 7] ^= 1;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[MAD_METHOD] = IBSA_METHOD_GET_TABLE_RESP;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[MAD_METHOD] = IBSA_METHOD_GET;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[MAD_ATTRIBUTE + 1]++;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[MAD_CLASS] = 4;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION_OPA;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.len = 55;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.err = -ETIMEDOUT, bad.len = 24;
	puppet_deliver(&puppet, &bad);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(stats->ignored_source, 2);
	assert_int_equal(stats->ignored_id, 1);
	assert_int_equal(stats->ignored_kind, 5);
	assert_int_equal(stats->ignored_malformed, 1);
	/*
	 * The upper half of a reply's transaction id may differ from the
	 * request's, because the kernel replaces it.
	 */
	good.mad[MAD_TID] ^= 0xff;
	puppet_deliver(&puppet, &good);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	ibsa__engine_free(engine);
}

/*
 * Query an SA at @sa, on a port with @lmc, and have it answer from @from.
 * Return: whether the reply is accepted.
 */
static bool reply_is_accepted(uint8_t lmc, const struct ibsa_address *sa,
			      const struct ibsa_address *from)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct puppet_mad answer;
	struct seen seen = { 0 };
	bool believed;

	puppet_init(&puppet);
	puppet.port.lmc = lmc;
	options.access.sa = sa;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	answer.address = *from;
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	believed = seen.calls;
	assert_int_equal(ibsa__engine_stats(engine)->ignored_source, !believed);
	ibsa__engine_free(engine);
	return believed;
}

static bool is_believed(const struct ibsa_address *sa,
			const struct ibsa_address *from)
{
	return reply_is_accepted(0, sa, from);
}

/*
 * An SA that gets a request at an alias LID answers from its base LID. Its
 * port's LIDs follow from its own LMC if that is known, else from this port's.
 */
static void lids_of_the_sa_s_port_are_the_sa_s(void **state)
{
	struct ibsa_address sa = { .lid = 5, .qpn = 1 };
	struct ibsa_address from = { .lid = 4, .qpn = 1 };

	(void)state;
	assert_false(reply_is_accepted(0, &sa, &from));
	assert_true(reply_is_accepted(1, &sa, &from));
	assert_true(reply_is_accepted(1, &sa, &sa));
	from.lid = 6;
	assert_false(reply_is_accepted(1, &sa, &from));
	assert_true(reply_is_accepted(2, &sa, &from));
	sa.lmc = 1;
	assert_false(reply_is_accepted(2, &sa, &from));
	from.lid = 4;
	assert_true(reply_is_accepted(0, &sa, &from));
	sa = (struct ibsa_address){ .lid = 0x20005, .qpn = 1 };
	assert_true(reply_is_accepted(1, &sa, &from));
	assert_false(reply_is_accepted(0, &sa, &from));
}

/* The kernel returns 16 bits of the sender's LID. For a longer LID these bits,
 * or the GID, must match; a LID of 16 bits must be equal. */
static void long_lid_is_known_by_its_end(void **state)
{
	const struct ibsa_gid to = { { 0xfe, 0x80, [15] = 9 } };
	const struct ibsa_gid other = { { 0xfe, 0x80, [15] = 8 } };
	struct ibsa_address sa = {
		.lid = 0x20005, .qpn = 1, .has_grh = true, .gid = to
	};
	struct ibsa_address from = sa;

	(void)state;
	assert_true(is_believed(&sa, &from));
	from.lid = 5;
	from.has_grh = false;
	assert_true(is_believed(&sa, &from));
	from.lid = 6;
	assert_false(is_believed(&sa, &from));
	from.has_grh = true;
	assert_true(is_believed(&sa, &from));
	from.gid = other;
	assert_false(is_believed(&sa, &from));
	from.lid = 0x30005;
	assert_false(is_believed(&sa, &from));
	sa.lid = 5;
	from.gid = to;
	assert_false(is_believed(&sa, &from));
	sa.lid = 0;
	assert_true(is_believed(&sa, &from));
}

/*
 * A reply for which the transport has no room or no memory ends its query: the
 * next reply would be as large.
 */
static void reply_without_room_ends_its_query(void **state)
{
	static const int errors[] = { -EMSGSIZE, -ENOMEM };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct puppet_mad answer;
		struct seen seen = { 0 };

		assert_int_equal(puppet_query(engine, 4, &seen), 0);
		answer = puppet_answer(puppet_sent(&puppet, i));
		answer.err = errors[i];
		puppet_deliver(&puppet, &answer);
		puppet_advance(&puppet, engine, 1);
		assert_int_equal(seen.calls, 1);
		assert_int_equal(seen.err, errors[i]);
		assert_int_equal(seen.tries, 1);
	}
	ibsa__engine_free(engine);
}

/* A dispatch after the deadline still takes all replies that have arrived. */
static void arrived_replies_do_not_time_out(void **state)
{
	enum { MANY = 500 };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	options.window = MANY;
	options.deadline_ms = 90;
	engine = puppet_engine(&puppet, &options);
	for (uint16_t i = 0; i < MANY; i++) {
		assert_int_equal(puppet_query(engine, i + 1, &seen), 0);
		answer = puppet_answer(puppet_sent(&puppet, i));
		puppet_deliver(&puppet, &answer);
	}
	puppet_advance(&puppet, engine, 1000);
	assert_int_equal(seen.calls, MANY);
	assert_int_equal(ibsa__engine_stats(engine)->timeouts, 0);
	ibsa__engine_free(engine);
}

/* One dispatch takes a part of a flood; the timeout is then 0, because messages
 * are left. */
static void flood_is_taken_in_parts(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad stray;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	stray = puppet_answer(puppet_sent(&puppet, 0));
	stray.mad[MAD_TID + 7] ^= 1;
	for (int i = 0; i < 300; i++)
		puppet_deliver(&puppet, &stray);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(ibsa__engine_stats(engine)->ignored_id, 256 + 1);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(ibsa__engine_stats(engine)->ignored_id, 300);
	assert_int_not_equal(ibsa__engine_timeout_ms(engine), 0);
	ibsa__engine_free(engine);
}

/* Without requests in flight, each dispatch receives one unexpected message. */
static void stray_messages_are_drained(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	for (int i = 0; i < 3; i++)
		puppet_deliver(&puppet, &answer);
	for (int i = 0; i < 3; i++)
		puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(ibsa__engine_stats(engine)->ignored_id, 2);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

/* A GetMulti is sent as one RMPP segment, and its reply contains paths. */
static void get_multi_is_answered_with_paths(void **state)
{
	const struct ibsa_multi_path match = {
		.sgid_count = 1,
		.dgid_count = 2,
		.gid = { { { 1 } }, { { 2 } }, { { 3 } } }
	};
	const struct ibsa_query query = {
		.record = &ibsa_multi_path_record,
		.match = &match,
		.mask = IBSA_MULTI_PATH_CM(sgid_count) |
			IBSA_MULTI_PATH_CM(dgid_count),
		.method = IBSA_METHOD_GET_MULTI,
	};
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct ibsa_sa_header header;
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    NULL),
			 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	ibsa_sa_header_record.decode(puppet_sent(&puppet, 0)->mad, &header);
	assert_int_equal(header.rmpp_version, 1);
	assert_int_equal(header.rmpp_type, IBSA_RMPP_TYPE_DATA);
	assert_int_equal(header.rmpp_flags, 7);
	assert_int_equal(header.rmpp_segment, 1);
	assert_int_equal(header.rmpp_length, 220);
	assert_int_equal(answer.mad[IBSA_SA_HEADER_BYTES + 24], 1);
	assert_int_equal(answer.mad[IBSA_SA_HEADER_BYTES + 24 + 32], 3);

	/*
	 * A reply with the attribute of the request, MultiPathRecord instead of
	 * PathRecord, is ignored.
	 */
	ibsa_put_be16(answer.mad + MAD_ATTRIBUTE_OFFSET, 8);
	answer.len = IBSA_SA_HEADER_BYTES + 2 * 64;
	answer.mad[MAD_RMPP_LENGTH + 3] = 20 + 2 * 64;
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(ibsa__engine_stats(engine)->ignored_kind, 1);
	ibsa_put_be16(answer.mad + MAD_ATTRIBUTE, ibsa_path_record.attribute);
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.stride, 64);
	assert_int_equal(seen.count, 2);
	assert_ptr_equal(seen.record, &ibsa_path_record);
	ibsa__engine_free(engine);
}

/* GetMulti requests are never shared, because their GIDs are not compared; Get
 * requests, which no SA supports, are not shared if their GIDs differ. */
static void multi_paths_of_other_gids_share_nothing(void **state)
{
	struct ibsa_multi_path match = { .sgid_count = 1, .dgid_count = 9 };
	struct ibsa_query query = {
		.record = &ibsa_multi_path_record,
		.match = &match,
		.mask = IBSA_MULTI_PATH_CM(sgid_count) |
			IBSA_MULTI_PATH_CM(dgid_count),
		.method = IBSA_METHOD_GET_MULTI,
	};
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ibsa__engine_query(engine, &query, puppet_note,
						    &seen, NULL),
				 0);
		if (i == 1)
			query.method = IBSA_METHOD_GET;
		match.gid[9].raw[15] = (uint8_t)i;
	}
	assert_int_equal(puppet.sent_count, 4);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answer_reaches_its_callback),
		TEST(replies_to_others_are_ignored),
		TEST(lids_of_the_sa_s_port_are_the_sa_s),
		TEST(long_lid_is_known_by_its_end),
		TEST(reply_without_room_ends_its_query),
		TEST(arrived_replies_do_not_time_out),
		TEST(flood_is_taken_in_parts),
		TEST(stray_messages_are_drained),
		TEST(get_multi_is_answered_with_paths),
		TEST(multi_paths_of_other_gids_share_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
