/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's promises: tries, deadlines, window, what is believed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/puppet.h"

enum { MS = 1000000, STATUS_AT = 4 };

static struct puppet puppet;

/* An answer comes back once, with its record and the time it took. */
static void answer_reaches_its_callback(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
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

/* Tries come at doubling intervals up to the cap, all with one id. */
static void silence_is_retried_with_back_off(void **state)
{
	static const unsigned int at_ms[] = { 0, 100, 300, 700, 1500, 2300 };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	for (unsigned int ms = 0; ms < 2400; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 6);
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(puppet_sent(&puppet, i)->at_ns,
				 (uint64_t)at_ms[i] * MS);
		assert_memory_equal(puppet_sent(&puppet, i)->mad,
				    puppet_sent(&puppet, 0)->mad, 256);
	}
	assert_int_equal(ibsa__engine_stats(engine)->retries, 5);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ECANCELED);
}

/* A late answer to an earlier try ends the query. */
static void late_answer_to_first_try_counts(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	puppet_advance(&puppet, engine, 150);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.tries, 2);
	ibsa__engine_free(engine);
}

/* The deadline is the end, to the millisecond, and no sooner. */
static void silence_ends_at_the_deadline(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	for (unsigned int ms = 0; ms < 9999; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ETIMEDOUT);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	assert_int_equal(ibsa__engine_stats(engine)->timeouts, 1);
	ibsa__engine_free(engine);
}

/* One jump over everything still gives each query its one callback. */
static void long_sleep_expires_everything_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen[40] = { 0 };

	(void)state;
	for (uint16_t i = 0; i < 40; i++)
		assert_int_equal(puppet_ask(engine, i, &seen[i]), 0);
	puppet_advance(&puppet, engine, 3600 * 1000);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(seen[i].calls, 1);
		assert_int_equal(seen[i].err, -ETIMEDOUT);
	}
	ibsa__engine_free(engine);
}

/* BUSY is no answer: the SA is left alone for a whole interval. */
static void busy_backs_off(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad busy;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	busy = puppet_answer(puppet_sent(&puppet, 0));
	busy.mad[STATUS_AT + 1] = IBSA_STATUS_BUSY;
	puppet_deliver(&puppet, &busy);
	puppet_advance(&puppet, engine, 90);
	puppet_advance(&puppet, engine, 199);
	assert_int_equal(puppet.sent_count, 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(seen.calls, 0);
	puppet_advance(&puppet, engine, 10000);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.status, IBSA_STATUS_BUSY);
	ibsa__engine_free(engine);
}

/* No more than the window is in flight; the rest follows in order. */
static void window_holds_the_rest_back(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen[20] = { 0 };

	(void)state;
	for (uint16_t i = 0; i < 20; i++)
		assert_int_equal(puppet_ask(engine, i, &seen[i]), 0);
	assert_int_equal(puppet.sent_count, 16);
	for (unsigned int i = 0; i < 20; i++) {
		struct puppet_mad answer;

		answer = puppet_answer(puppet_sent(&puppet, i));
		puppet_deliver(&puppet, &answer);
		puppet_advance(&puppet, engine, 1);
		assert_int_equal(seen[i].calls, 1);
		assert_int_equal(puppet.sent_count, i < 4 ? 17 + i : 20);
	}
	ibsa__engine_free(engine);
}

/* A full queue is refused, and the refused query is never called back. */
static void full_queue_is_refused(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 }, refused = { 0 };

	(void)state;
	for (uint16_t i = 0; i < 16 + 64; i++)
		assert_int_equal(puppet_ask(engine, i, &seen), 0);
	assert_int_equal(puppet_ask(engine, 1000, &refused), -ENOBUFS);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 80);
	assert_int_equal(refused.calls, 0);
}

/* Without an SM nothing is accepted; with one, at once. */
static void no_sm_is_again(void **state)
{
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	puppet.port.sm_lid = 0;
	engine = puppet_engine(&puppet, &puppet_options);
	assert_int_equal(puppet_ask(engine, 4, &seen), -EAGAIN);
	puppet.port.sm_lid = 9;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	assert_int_equal(puppet_sent(&puppet, 0)->address.lid, 9);
	ibsa__engine_free(engine);
}

/* When the SM moves, the next try of what is in flight follows it. */
static void retry_follows_the_sm(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	puppet.port.sm_lid = 12;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(puppet_sent(&puppet, 1)->address.lid, 12);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.calls, 1);
	ibsa__engine_free(engine);
}

/* An InfiniBand port that needs a GRH finds its SM by the SM's own GID. */
static void needed_grh_names_the_sm(void **state)
{
	static const struct ibsa_gid sm = { { 0xfe, 0x80, [8] = 2, [15] = 2 } };
	const struct ibsa_address *to;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	puppet.port.needs_grh = true;
	puppet.port.gid = (struct ibsa_gid){ { 0xfe, 0x80, [15] = 7 } };
	engine = puppet_engine(&puppet, &puppet_options);
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	to = &puppet_sent(&puppet, 0)->address;
	assert_int_equal(to->lid, PUPPET_SM_LID);
	assert_true(to->has_grh);
	assert_memory_equal(&to->gid, &sm, sizeof(sm));
	ibsa__engine_free(engine);
}

/* What the program says of the GRH counts more than what the port says. */
static void grh_is_as_the_options_say(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct seen seen = { 0 };

	(void)state;
	for (unsigned int needed = 0; needed < 2; needed++) {
		struct ibsa__engine *engine;

		options.grh = needed ? IBSA_GRH_NEVER : IBSA_GRH_ALWAYS;
		puppet.port.needs_grh = needed;
		engine = puppet_engine(&puppet, &options);
		assert_int_equal(puppet_ask(engine, 4, &seen), 0);
		assert_int_equal(puppet_sent(&puppet, needed)->address.has_grh,
				 !needed);
		ibsa__engine_free(engine);
	}
}

/* Ports that have no SM: down, not configured, RoCE, a LID of no end port. */
static void ports_without_sm_are_told_apart(void **state)
{
	struct ibsa_port_state port = { .sm_lid = 7, .port_state = 4 };

	(void)state;
	assert_true(ibsa_port_has_sm(&port));
	port.port_state = IBSA_PORT_INIT;
	assert_false(ibsa_port_has_sm(&port));
	port.port_state = IBSA_PORT_ACTIVE;
	port.sm_lid = 0xc000;
	assert_false(ibsa_port_has_sm(&port));
	port.link = IBSA_LINK_OPA;
	assert_true(ibsa_port_has_sm(&port));
	port.sm_lid = 0;
	assert_false(ibsa_port_has_sm(&port));
	port.sm_lid = 7;
	port.link = IBSA_LINK_ETHERNET;
	assert_false(ibsa_port_has_sm(&port));
}

/* An SA that was named is asked, whatever the port says. */
static void given_sa_is_kept(void **state)
{
	const struct ibsa_address sa = { .lid = 33, .qpn = 1, .sl = 5 };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	options.sa = &sa;
	puppet.port.sm_lid = 0;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	assert_int_equal(puppet_sent(&puppet, 0)->address.lid, 33);
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(puppet_sent(&puppet, 1)->address.lid, 33);
	ibsa__engine_free(engine);
}

/* A send that fails at once is refused and leaves nothing behind. */
static void send_error_is_returned(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	puppet.send_err = -ENODEV;
	assert_int_equal(puppet_ask(engine, 4, &seen), -ENODEV);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 0);
}

/* A send that fails later is told to the callback, unless it may pass. */
static void later_send_error_ends_the_query(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	puppet.send_err = -EAGAIN;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(seen.calls, 0);
	puppet.send_err = -ENODEV;
	puppet_advance(&puppet, engine, 200);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ENODEV);
	ibsa__engine_free(engine);
}

/* Receive errors reach the caller; deadlines go on. */
static void receive_error_is_returned(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	puppet.recv_err = -ENODEV;
	puppet.now_ns += UINT64_C(10000) * MS;
	assert_int_equal(ibsa__engine_dispatch(engine), -ENODEV);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ETIMEDOUT);
	ibsa__engine_free(engine);
}

/* What was sent is lost, and what waits cannot be sent: neither is left to its
 * deadline. */
static void queries_end_with_their_device(void **state)
{
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	struct seen sent = { 0 }, queued = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &sent), 0);
	assert_int_equal(puppet_ask(engine, 5, &queued), 0);
	puppet.recv_err = -ENODEV;
	puppet.send_err = -ENODEV;
	assert_int_equal(ibsa__engine_dispatch(engine), -ENODEV);
	puppet.recv_err = 0;
	assert_int_equal(ibsa__engine_dispatch(engine), 0);
	assert_int_equal(sent.calls, 1);
	assert_int_equal(sent.err, -ENODEV);
	assert_int_equal(queued.calls, 1);
	assert_int_equal(queued.err, -ENODEV);
	ibsa__engine_free(engine);
}

/* A device that is back by then is asked again. */
static void queries_survive_a_device_that_is_back_at_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	puppet.recv_err = -ENODEV;
	assert_int_equal(ibsa__engine_dispatch(engine), -ENODEV);
	puppet.recv_err = 0;
	assert_int_equal(puppet.sent_count, 2);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	puppet_deliver(&puppet, &answer);
	assert_int_equal(ibsa__engine_dispatch(engine), 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	ibsa__engine_free(engine);
}

/* Bad queries are told from good ones before anything is sent. */
static void bad_queries_are_refused(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_path wide = { .sl = 16 };
	struct ibsa_query query = { 0 };
	struct seen seen = { 0 };
	uint64_t id = 42;

	(void)state;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.record = &ibsa_path_record;
	query.mask = UINT64_C(1) << 40;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.mask = 0;
	query.method = IBSA_METHOD_REPORT;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.method = 0;
	query.jitter_percent = 101;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -EINVAL);
	query.jitter_percent = 0;
	query.match = &wide;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    &id),
			 -ERANGE);
	assert_int_equal(id, 42);
	assert_int_equal(puppet.sent_count, 0);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 0);
}

/* Replies that are not of this request are ignored, and counted. */
static void foreign_replies_are_ignored(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct puppet_mad good, bad;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	good = puppet_answer(puppet_sent(&puppet, 0));
	bad = good, bad.address.lid++;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.address.qpn = 2;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[15] ^= 1;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[3] = IBSA_METHOD_GET_TABLE_RESP;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[3] = IBSA_METHOD_GET;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[17]++;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[1] = 4;
	puppet_deliver(&puppet, &bad);
	bad = good, bad.mad[2] = IBSA_CLASS_VERSION_OPA;
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
	/* Only the lower half of the id is ours: the kernel has the upper. */
	good.mad[8] ^= 0xff;
	puppet_deliver(&puppet, &good);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	ibsa__engine_free(engine);
}

/* Ask an SA at @sa; have it answer from @from. Return: whether that counts. */
static bool is_believed(const struct ibsa_address *sa,
			const struct ibsa_address *from)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct puppet_mad answer;
	struct seen seen = { 0 };
	bool believed;

	puppet_init(&puppet);
	options.sa = sa;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	answer.address = *from;
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	believed = seen.calls;
	assert_int_equal(ibsa__engine_stats(engine)->ignored_source, !believed);
	ibsa__engine_free(engine);
	return believed;
}

/*
 * The kernel tells 16 bits of a sender's LID, however long it is: these, or
 * the GID, have to be the SA's. A LID of 16 bits has to be the same.
 */
static void long_lid_is_known_by_its_end(void **state)
{
	const struct ibsa_gid there = { { 0xfe, 0x80, [15] = 9 } };
	const struct ibsa_gid other = { { 0xfe, 0x80, [15] = 8 } };
	struct ibsa_address sa = {
		.lid = 0x20005, .qpn = 1, .has_grh = true, .gid = there
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
	from.gid = there;
	assert_false(is_believed(&sa, &from));
	sa.lid = 0;
	assert_true(is_believed(&sa, &from));
}

/* A reply too large for the transport ends its query as such. */
static void too_large_reply_is_told(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	answer.err = -EMSGSIZE;
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -EMSGSIZE);
	ibsa__engine_free(engine);
}

/* A dispatch that comes too late finds the answers, however many there are. */
static void waiting_answers_are_no_timeouts(void **state)
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
		assert_int_equal(puppet_ask(engine, i + 1, &seen), 0);
		answer = puppet_answer(puppet_sent(&puppet, i));
		puppet_deliver(&puppet, &answer);
	}
	puppet_advance(&puppet, engine, 1000);
	assert_int_equal(seen.calls, MANY);
	assert_int_equal(ibsa__engine_stats(engine)->timeouts, 0);
	ibsa__engine_free(engine);
}

/* A flood of messages is taken in parts; the timeout says there is more. */
static void flood_is_taken_in_parts(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad stray;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	stray = puppet_answer(puppet_sent(&puppet, 0));
	stray.mad[15] ^= 1;
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

/* With nothing in flight, what still arrives goes one by one. */
static void stray_messages_are_drained(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_ask(engine, 4, &seen), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	for (int i = 0; i < 3; i++)
		puppet_deliver(&puppet, &answer);
	for (int i = 0; i < 3; i++)
		puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(ibsa__engine_stats(engine)->ignored_id, 2);
	ibsa__engine_free(engine);
}

/* Jitter spreads the tries around the interval, within its share. */
static void jitter_stays_in_its_share(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct seen seen = { 0 };
	bool early = false, late = false;

	(void)state;
	options.jitter_percent = 25;
	for (options.seed = 1; options.seed < 50; options.seed++) {
		struct ibsa__engine *engine;
		uint64_t gap_ms;

		puppet_init(&puppet);
		engine = puppet_engine(&puppet, &options);
		assert_int_equal(puppet_ask(engine, 4, &seen), 0);
		for (int ms = 0; ms < 120; ms++)
			puppet_advance(&puppet, engine, 1);
		gap_ms = puppet_sent(&puppet, 1)->at_ns / MS;
		assert_in_range(gap_ms, 88, 113);
		early |= gap_ms < 100;
		late |= gap_ms > 100;
		ibsa__engine_free(engine);
	}
	assert_true(early && late);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answer_reaches_its_callback),
		TEST(silence_is_retried_with_back_off),
		TEST(late_answer_to_first_try_counts),
		TEST(silence_ends_at_the_deadline),
		TEST(long_sleep_expires_everything_once),
		TEST(busy_backs_off),
		TEST(window_holds_the_rest_back),
		TEST(full_queue_is_refused),
		TEST(no_sm_is_again),
		TEST(retry_follows_the_sm),
		TEST(grh_is_as_the_options_say),
		TEST(needed_grh_names_the_sm),
		TEST(ports_without_sm_are_told_apart),
		TEST(given_sa_is_kept),
		TEST(send_error_is_returned),
		TEST(later_send_error_ends_the_query),
		TEST(receive_error_is_returned),
		TEST(queries_end_with_their_device),
		TEST(queries_survive_a_device_that_is_back_at_once),
		TEST(bad_queries_are_refused),
		TEST(foreign_replies_are_ignored),
		TEST(long_lid_is_known_by_its_end),
		TEST(too_large_reply_is_told),
		TEST(waiting_answers_are_no_timeouts),
		TEST(flood_is_taken_in_parts),
		TEST(stray_messages_are_drained),
		TEST(jitter_stays_in_its_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
