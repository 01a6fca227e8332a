/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reachability against an SA whose answers the test sends. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/reach.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum {
	MS = 1000000,
	DGID_AT = IBSA_SA_HEADER_BYTES + 8,
	SGID_AT = IBSA_SA_HEADER_BYTES + 24,
	REVERSIBLE_AT = IBSA_SA_HEADER_BYTES + 49,
	WINDOW = 2,
	QUEUE = 1,
	COUNT = 5,
	TIMEOUT_MS = 50,
	PATH_BYTES = 64,
};

static struct puppet puppet;
static struct ibsa_transport_ops ops;
static struct ibsa_client *client;
static struct ibsa_gid gids[COUNT];

static struct {
	size_t count;
	struct ibsa_reach_answer answers[COUNT];
} told;

static void puppet_close(struct ibsa_transport *transport)
{
	(void)transport;
}

static int client_open(unsigned int queue)
{
	struct ibsa_options options = { .transport = &puppet.transport,
					.window = WINDOW,
					.window_min = WINDOW,
					.queue = queue,
					.seed = 1,
					.jitter_percent = -1,
					.access.sm_key = 1 };

	puppet_init(&puppet);
	ops = *puppet.transport.ops;
	ops.close = puppet_close;
	puppet.transport.ops = &ops;
	puppet.port.gid = (struct ibsa_gid){ { 0xfe, 0x80, [15] = 1 } };
	for (uint8_t i = 0; i < COUNT; i++)
		gids[i] = (struct ibsa_gid){ { 0xfe, 0x80, [15] = 2 + i } };
	memset(&told, 0, sizeof(told));
	return ibsa_open(&options, NULL, &client);
}

static int set_up(void **state)
{
	(void)state;
	return client_open(QUEUE);
}

static int tear_down(void **state)
{
	(void)state;
	return ibsa_close(client);
}

static void note(const struct ibsa_reach_answer *answer, void *arg)
{
	(void)arg;
	assert_in_range(told.count, 0, COUNT - 1);
	told.answers[told.count++] = *answer;
}

static void start(size_t count)
{
	const struct ibsa_reach_options options = { .timeout_ms = TIMEOUT_MS };

	assert_int_equal(ibsa_reach_start(client, &options, gids, count, note,
					  NULL, NULL),
			 0);
}

static void pass(unsigned int ms)
{
	puppet.now_ns += (uint64_t)ms * MS;
	assert_int_equal(ibsa_dispatch(client), 0);
}

/* Answer request number @n with a @status. */
static void answer(unsigned int n, uint16_t status)
{
	struct puppet_mad mad = puppet_answer(puppet_sent(&puppet, n));

	ibsa_put_be16(mad.mad + MAD_STATUS, status);
	puppet_deliver(&puppet, &mad);
	pass(0);
}

static void path_query(uint16_t dlid)
{
	const struct ibsa_path match = { .dlid = dlid };
	const struct ibsa_query query = { .record = &ibsa_path_record,
					  .match = &match,
					  .mask = IBSA_PATH_CM(dlid) };
	static struct seen seen;

	assert_int_equal(
		ibsa_query_start(client, &query, puppet_note, &seen, NULL), 0);
}

/* While the window is full, the queries of a batch are not sent before others. */
static void other_queries_precede_a_batch(void **state)
{
	(void)state;
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(client_open(COUNT), 0);
	for (uint16_t dlid = 1; dlid <= WINDOW; dlid++)
		path_query(dlid);
	start(1);
	path_query(WINDOW + 1);
	assert_int_equal(puppet.sent_count, WINDOW);
	for (unsigned int i = 0; i < 2; i++) {
		answer(i, 0);
		assert_int_equal(puppet.sent_count, WINDOW + i + 1);
		assert_int_equal(
			IBSA_GET(sa_header, component_mask,
				 puppet_sent(&puppet, WINDOW + i)->mad),
			i ? IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid) |
					IBSA_PATH_CM(reversible) |
					IBSA_PATH_CM(numb_path)
			  : IBSA_PATH_CM(dlid));
	}
}

static void question_is_the_one_of_the_specification(void **state)
{
	const uint64_t mask = IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid) |
			      IBSA_PATH_CM(reversible) |
			      IBSA_PATH_CM(numb_path);
	const struct puppet_mad *sent;

	(void)state;
	start(1);
	sent = puppet_sent(&puppet, 0);
	assert_int_equal(mask, 1 << 2 | 1 << 3 | 1 << 11 | 1 << 12);
	assert_int_equal(ibsa_be64(sent->mad + MAD_COMPONENT_MASK), mask);
	assert_memory_equal(sent->mad + DGID_AT, &gids[0], 16);
	assert_memory_equal(sent->mad + SGID_AT, &puppet.port.gid, 16);
	assert_int_equal(sent->mad[REVERSIBLE_AT], 0x81);
	assert_int_equal(sent->mad[MAD_METHOD], IBSA_METHOD_GET);
}

static void status_decides(void **state)
{
	static const struct {
		uint16_t status;
		enum ibsa_reach reach;
	} cases[] = {
		{ 0, IBSA_REACH_YES },		{ 0x0300, IBSA_REACH_NO },
		{ 0x0500, IBSA_REACH_NO },	{ 0x0100, IBSA_REACH_UNKNOWN },
		{ 0x0200, IBSA_REACH_UNKNOWN }, { 0x0700, IBSA_REACH_UNKNOWN },
		{ 0x000c, IBSA_REACH_UNKNOWN },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		told.count = 0;
		start(1);
		answer(i, cases[i].status);
		assert_int_equal(told.count, 1);
		assert_int_equal(told.answers[0].reach, cases[i].reach);
		assert_int_equal(told.answers[0].status, cases[i].status);
		assert_int_equal(told.answers[0].err, 0);
		assert_int_equal(told.answers[0].tries, 1);
	}
}

static void short_reply_is_malformed(void **state)
{
	struct puppet_mad mad;

	(void)state;
	start(1);
	mad = puppet_answer(puppet_sent(&puppet, 0));
	mad.len = IBSA_SA_HEADER_BYTES + 63;
	puppet_deliver(&puppet, &mad);
	pass(0);
	assert_int_equal(told.answers[0].reach, IBSA_REACH_UNKNOWN);
	assert_int_equal(told.answers[0].err, -EPROTO);
}

/*
 * If the first query cannot be sent, dispatch reports this for each GID, and
 * not the call that starts the batch.
 */
static void port_that_is_dead_is_told_of_from_dispatch(void **state)
{
	(void)state;
	puppet.send_err = -ENETDOWN;
	start(COUNT);
	assert_int_equal(told.count, 0);
	pass(1);
	assert_int_equal(told.count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(told.answers[i].index, i);
		assert_int_equal(told.answers[i].err, -ENETDOWN);
		assert_int_equal(told.answers[i].left, COUNT - 1 - i);
	}
}

/*
 * The transport refuses the third query, so the GIDs that are left fail; the
 * two queries in flight are answered.
 */
static void port_that_dies_spoils_what_comes_next(void **state)
{
	(void)state;
	start(COUNT);
	puppet.send_err = -ENETDOWN;
	answer(0, 0);
	assert_int_equal(told.count, COUNT - 1);
	assert_int_equal(told.answers[0].reach, IBSA_REACH_YES);
	assert_int_equal(told.answers[1].index, WINDOW);
	assert_int_equal(told.answers[1].err, -ENETDOWN);
	answer(1, 0);
	assert_int_equal(told.count, COUNT);
	assert_int_equal(told.answers[COUNT - 1].reach, IBSA_REACH_YES);
	assert_int_equal(told.answers[COUNT - 1].left, 0);
}

static void port_without_a_gid_cannot_ask(void **state)
{
	struct ibsa_reach_answer answer;

	(void)state;
	puppet.port.gid = (struct ibsa_gid){ { 0 } };
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(
		ibsa_open(&(struct ibsa_options){ .transport =
							  &puppet.transport },
			  NULL, &client),
		0);
	assert_int_equal(ibsa_reach_wait(client, NULL, &gids[0], &answer), 0);
	assert_int_equal(answer.reach, IBSA_REACH_UNKNOWN);
	assert_int_equal(answer.err, -EAGAIN);
	start(1);
	puppet.port.gid = gids[1];
	pass(1);
	assert_int_equal(told.count, 0);
	assert_memory_equal(puppet_sent(&puppet, 0)->mad + SGID_AT, &gids[1],
			    16);
}

/*
 * Fill the window and the queue of the engine with other queries that are
 * never answered.
 */
static void fill(unsigned int deadline_ms)
{
	for (uint16_t i = 0; i < WINDOW + QUEUE; i++) {
		const struct ibsa_path path = { .dlid = 7 + i };
		const struct ibsa_query query = {
			.record = &ibsa_path_record,
			.match = &path,
			.mask = IBSA_PATH_CM(dlid),
			.deadline_ms = deadline_ms,
			.first_interval_ms = deadline_ms,
			.jitter_percent = -1,
		};

		assert_int_equal(
			ibsa_query_start(client, &query, NULL, NULL, NULL), 0);
	}
}

static void full_queue_is_waited_for(void **state)
{
	(void)state;
	fill(TIMEOUT_MS / 2);
	start(COUNT);
	pass(TIMEOUT_MS / 2);
	pass(300);
	assert_int_equal(told.count, 0);
	assert_int_equal(puppet.sent_count, 2 * WINDOW);
	for (unsigned int i = 0; i < COUNT; i++)
		answer(WINDOW + i, 0);
	assert_int_equal(told.count, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(told.answers[i].reach, IBSA_REACH_YES);
}

static void full_queue_is_not_waited_for_without_end(void **state)
{
	(void)state;
	fill(60000);
	start(2);
	for (unsigned int ms = 0; ms < TIMEOUT_MS; ms++)
		pass(1);
	assert_int_equal(told.count, 0);
	for (unsigned int ms = 0; ms < 12; ms++)
		pass(1);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.answers[0].err, -ENOBUFS);
	for (unsigned int ms = 0; ms < TIMEOUT_MS + 12; ms++)
		pass(1);
	assert_int_equal(told.count, 2);
	assert_int_equal(told.answers[1].err, -ENOBUFS);
}

/*
 * A batch that waits for room in the queue tries again at an alarm: stopping
 * the batch also cancels this alarm.
 */
static void one_that_waits_for_room_can_be_stopped(void **state)
{
	struct ibsa_reach_batch *batch;

	(void)state;
	fill(60000);
	assert_int_equal(ibsa_reach_start(client, NULL, gids, COUNT, note, NULL,
					  &batch),
			 0);
	pass(20);
	assert_int_equal(ibsa_reach_stop(batch), 0);
	assert_int_equal(told.count, 0);
	pass(1);
	assert_int_equal(told.count, COUNT);
	assert_int_equal(told.answers[0].err, -ECANCELED);
	pass(20);
}

/* Check gids[0], from @from, and search for the reason. */
static void start_from(const struct ibsa_gid *from)
{
	const struct ibsa_reach_options options = { .from = *from,
						    .timeout_ms = TIMEOUT_MS,
						    .why = IBSA_WHY_ALWAYS };

	assert_int_equal(ibsa_reach_start(client, &options, gids, 1, note, NULL,
					  NULL),
			 0);
}

/* Answer request number @n with a record. */
static void answer_with(unsigned int n, const struct ibsa_record *record,
			const void *host)
{
	struct puppet_mad mad = puppet_answer(puppet_sent(&puppet, n));

	assert_int_equal(
		ibsa_be16(puppet_sent(&puppet, n)->mad + MAD_ATTRIBUTE),
		record->attribute);
	assert_int_equal(
		ibsa_record_encode(record, host, record->host_size,
				   mad.mad + IBSA_SA_HEADER_BYTES,
				   IBSA_MAD_BYTES - IBSA_SA_HEADER_BYTES),
		0);
	puppet_deliver(&puppet, &mad);
	pass(0);
}

/* Answer that there is no path, and that the target port is in this state. */
static void answer_with_state(uint8_t state)
{
	const struct ibsa_node node = { .lid = 12,
					.local_port_num = 2,
					.node_description = "bad\033 name" };
	const struct ibsa_port_info info = { .port_state = state,
					     .port_physical_state = 2 };

	start_from(&puppet.port.gid);
	answer(0, 0x0300);
	answer_with(1, &ibsa_node_record, &node);
	assert_int_equal(told.count, 0);
	answer_with(2, &ibsa_port_info_record, &info);
}

static void port_that_the_sa_shows_as_down_is_the_reason(void **state)
{
	(void)state;
	answer_with_state(IBSA_PORT_DOWN);
	assert_int_equal(told.count, 1);
	assert_int_equal(puppet.sent_count, 3);
	assert_int_equal(told.answers[0].reach, IBSA_REACH_NO);
	assert_int_equal(told.answers[0].reason, IBSA_REASON_FAR_PORT_DOWN);
	assert_true(told.answers[0].is_certain);
	assert_string_equal(told.answers[0].detail,
			    "the far port is down: port 2 of bad\\x1b name is "
			    "Down (physical state Polling)");
}

/*
 * The SA returns the port as active, but without a link, as an SA does shortly
 * after a link has gone down.
 */
static void active_port_without_a_link_is_possibly_down(void **state)
{
	(void)state;
	answer_with_state(IBSA_PORT_ACTIVE);
	assert_int_equal(told.count, 0);
	answer(3, 0x0300);
	assert_int_equal(told.count, 1);
	assert_int_equal(puppet.sent_count, 1 + IBSA_REASON_QUERIES);
	assert_int_equal(told.answers[0].reason, IBSA_REASON_FAR_PORT_DOWN);
	assert_false(told.answers[0].is_certain);
	assert_non_null(
		strstr(told.answers[0].detail, "as active, but no link of it"));
}

static void armed_port_without_a_link_is_not_called_active(void **state)
{
	(void)state;
	answer_with_state(IBSA_PORT_ARMED);
	answer(3, 0x0300);
	assert_int_equal(told.answers[0].reason, IBSA_REASON_FAR_PORT_DOWN);
	assert_non_null(strstr(told.answers[0].detail,
			       "bad\\x1b name, but no link of it"));
}

/* The SA returns the port and its link, but no path to it. */
static void active_port_without_a_path_has_a_possible_reason(void **state)
{
	const struct ibsa_link link = { .from_lid = 12 };
	struct puppet_mad mad;

	(void)state;
	answer_with_state(IBSA_PORT_ACTIVE);
	mad = puppet_answer(puppet_sent(&puppet, 3));
	mad.len = IBSA_SA_HEADER_BYTES + 8;
	ibsa_put_be16(mad.mad + MAD_ATTRIBUTE_OFFSET, 1);
	assert_int_equal(ibsa_record_encode(&ibsa_link_record, &link,
					    sizeof(link),
					    mad.mad + IBSA_SA_HEADER_BYTES, 8),
			 0);
	puppet_deliver(&puppet, &mad);
	pass(0);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.answers[0].reason, IBSA_REASON_NO_PKEY);
	assert_false(told.answers[0].is_certain);
	assert_non_null(strstr(told.answers[0].detail, "no route"));
}

/* Answer request number @n with a path of a P_Key to each of the GIDs. */
static void answer_with_paths(unsigned int n, const uint16_t *pkeys,
			      size_t count)
{
	struct puppet_mad mad = puppet_answer(puppet_sent(&puppet, n));
	uint8_t *wire = mad.mad + IBSA_SA_HEADER_BYTES;

	ibsa_put_be16(mad.mad + MAD_ATTRIBUTE, ibsa_path_record.attribute);
	ibsa_put_be16(mad.mad + MAD_ATTRIBUTE_OFFSET, PATH_BYTES / 8);
	mad.len = IBSA_SA_HEADER_BYTES + count * PATH_BYTES;
	ibsa_put_be32(mad.mad + MAD_RMPP_LENGTH,
		      (uint32_t)mad.len - MAD_RMPP_END);
	for (size_t i = 0; i < count; i++) {
		const struct ibsa_path path = { .sgid = puppet.port.gid,
						.dgid = gids[i],
						.dlid = (uint16_t)(12 + i),
						.pkey = pkeys[i] };

		assert_int_equal(ibsa_record_encode(
					 &ibsa_path_record, &path, sizeof(path),
					 wire + i * PATH_BYTES, PATH_BYTES),
				 0);
	}
	puppet_deliver(&puppet, &mad);
	pass(0);
}

/*
 * The SA has a path to both ends, but no P_Key table of one of them: the reason
 * is that which the P_Keys of the paths suggest.
 */
static void end_without_a_pkey_table_is_not_unknown(void **state)
{
	const uint16_t pkeys[] = { 0x8001, 0x8002 };

	(void)state;
	start_from(&gids[1]);
	answer(0, 0x0300);
	answer_with_paths(1, pkeys, 2);
	answer(2, 0x0300);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.answers[0].reason, IBSA_REASON_NO_PKEY);
	assert_false(told.answers[0].is_certain);
	assert_non_null(strstr(told.answers[0].detail,
			       "shares P_Key 0x8002 with the source"));
}

/*
 * If a further query, for the reason, is refused, the result of the GID does
 * not change.
 */
static void refused_further_query_ends_the_search(void **state)
{
	(void)state;
	start_from(&puppet.port.gid);
	answer(0, 0x0300);
	answer(1, 0x0200);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.answers[0].reach, IBSA_REACH_NO);
	assert_int_equal(told.answers[0].err, 0);
	assert_int_equal(told.answers[0].reason, IBSA_REASON_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(question_is_the_one_of_the_specification),
		TEST(other_queries_precede_a_batch),
		TEST(status_decides),
		TEST(short_reply_is_malformed),
		TEST(port_that_is_dead_is_told_of_from_dispatch),
		TEST(port_that_dies_spoils_what_comes_next),
		TEST(port_without_a_gid_cannot_ask),
		TEST(full_queue_is_waited_for),
		TEST(full_queue_is_not_waited_for_without_end),
		TEST(one_that_waits_for_room_can_be_stopped),
		TEST(port_that_the_sa_shows_as_down_is_the_reason),
		TEST(active_port_without_a_link_is_possibly_down),
		TEST(armed_port_without_a_link_is_not_called_active),
		TEST(active_port_without_a_path_has_a_possible_reason),
		TEST(end_without_a_pkey_table_is_not_unknown),
		TEST(refused_further_query_ends_the_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
