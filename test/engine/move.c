/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SM moves while requests are in flight, and they are sent to the new SM.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum { MS = 1000000, TID_BYTES = 8, NEW_SM = 12 };

static struct puppet puppet;

/* Move the SM, and have the engine read the port. */
static void move_to(struct ibsa__engine *engine, uint16_t sm_lid)
{
	struct ibsa_port_state now;

	puppet.port.sm_lid = sm_lid;
	assert_int_equal(ibsa__engine_port(engine, true, &now), 0);
}

static bool has_same_id(unsigned int a, unsigned int b)
{
	return !memcmp(puppet_sent(&puppet, a)->mad + MAD_TID,
		       puppet_sent(&puppet, b)->mad + MAD_TID, TID_BYTES);
}

static void request_answer(struct ibsa__engine *engine, unsigned int n)
{
	struct puppet_mad answer;

	answer = puppet_answer(puppet_sent(&puppet, n));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
}

/* Requests go to the new SM at once, with another id; the old SM's reply is
 * then ignored. */
static void requests_follow_at_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet_advance(&puppet, engine, 30);
	move_to(engine, NEW_SM);
	assert_int_equal(puppet.sent_count, 1);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(puppet_sent(&puppet, 1)->address.lid, NEW_SM);
	assert_int_equal(puppet_sent(&puppet, 1)->timeout_ms, 200);
	assert_false(has_same_id(0, 1));
	request_answer(engine, 0);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(stats->ignored_id, 1);
	puppet_advance(&puppet, engine, 5);
	request_answer(engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.tries, 2);
	assert_int_equal(seen.rtt_ns, 5 * MS);
	assert_int_equal(stats->retargeted, 1);
	assert_int_equal(stats->retries, 1);
	ibsa__engine_free(engine);
}

/* A change of the SL or the P_Key index is a change of the address, too. */
static void another_sl_is_another_address(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.port.sm_sl = 3;
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 0);
	puppet.port.pkey_index = 3;
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 0);
	puppet.port.lid = 30;
	puppet.port.gid.raw[0] = 1;
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 3);
	assert_int_equal(puppet_sent(&puppet, 1)->address.sl, 3);
	assert_int_equal(puppet_sent(&puppet, 2)->address.pkey_index, 3);
	ibsa__engine_free(engine);
}

/* An SM on Omni-Path with a LID of more than 16 bits is addressed by the GID
 * that stands for it; the sender's LID of its reply is cut to 16 bits. */
static void long_lid_is_asked_by_its_gid(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_address *to;
	struct ibsa_port_state now;
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	puppet.port.link = IBSA_LINK_OPA;
	puppet.port.gid.raw[0] = 0xfe;
	puppet.port.gid.raw[15] = 3;
	puppet.port.sm_lid = 0x12345;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	assert_int_equal(ibsa__engine_port(engine, true, &now), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	to = &puppet_sent(&puppet, 1)->address;
	assert_int_equal(to->lid, 0x12345);
	assert_true(to->has_grh);
	assert_int_equal(to->gid.raw[0], 0xfe);
	assert_int_equal(ibsa_be64(to->gid.raw + 8),
			 UINT64_C(0x00066a0000012345));
	answer = puppet_answer(puppet_sent(&puppet, 1));
	answer.address.lid = 0x2345;
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen.calls, 1);

	/* A LID of 16 bits is used as it is, without a GID. */
	move_to(engine, NEW_SM);
	assert_int_equal(puppet_query(engine, 5, &seen), 0);
	assert_false(puppet_sent(&puppet, 2)->address.has_grh);
	ibsa__engine_free(engine);
}

/* All queries that share a request get the new SM's reply; their deadlines
 * stay. */
static void sharers_follow_together(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen first = { 0 }, second = { 0 }, third = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	assert_int_equal(puppet_query(engine, 4, &second), 0);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 1);
	/* The third query would send its second try before the shared request
	 * sends its next try, so the third query does not join. */
	assert_int_equal(puppet_query(engine, 4, &third), 0);
	assert_int_equal(puppet.sent_count, 3);
	request_answer(engine, 1);
	assert_int_equal(first.calls + second.calls + third.calls, 2);
	request_answer(engine, 2);
	assert_int_equal(first.calls + second.calls + third.calls, 3);

	assert_int_equal(puppet_query(engine, 5, &first), 0);
	puppet_advance(&puppet, engine, 9000);
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 999);
	assert_int_equal(first.calls, 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(first.calls, 2);
	assert_int_equal(first.err, -ETIMEDOUT);
	ibsa__engine_free(engine);
}

/* Queued requests are sent to the new SM only; the window stays the same. */
static void queued_requests_go_to_the_new_sm(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen[4] = { 0 };

	(void)state;
	options.window = 2;
	engine = puppet_engine(&puppet, &options);
	for (uint16_t i = 0; i < 4; i++)
		assert_int_equal(puppet_query(engine, i, &seen[i]), 0);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 4);
	for (unsigned int i = 2; i < 6; i++) {
		assert_int_equal(puppet_sent(&puppet, i)->address.lid, NEW_SM);
		request_answer(engine, i);
	}
	assert_int_equal(puppet.sent_count, 6);
	for (int i = 0; i < 4; i++)
		assert_int_equal(seen[i].calls, 1);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, 2);
	ibsa__engine_free(engine);
}

/* Many requests are sent again over several ms, but none later than its next
 * try. */
static void many_requests_follow_in_turn(void **state)
{
	enum { MANY = 1000, A_MS = 64 };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	options.window = MANY;
	engine = puppet_engine(&puppet, &options);
	for (uint16_t i = 0; i < MANY; i++)
		assert_int_equal(puppet_query(engine, i, &seen), 0);
	puppet_advance(&puppet, engine, 90);
	move_to(engine, NEW_SM);
	for (unsigned int ms = 0; ms < 10; ms++) {
		puppet_advance(&puppet, engine, ms ? 1 : 0);
		assert_int_equal(puppet.sent_count, MANY + A_MS * (ms + 1));
	}
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 2 * MANY);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, MANY);
	ibsa__engine_free(engine);
}

/* The SM moves and moves back: the first SM gets a new request. */
static void sm_may_move_back(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 10);
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 10);
	assert_int_equal(puppet.sent_count, 3);
	assert_int_equal(puppet_sent(&puppet, 2)->address.lid, PUPPET_SM_LID);
	assert_false(has_same_id(0, 2));
	request_answer(engine, 0);
	request_answer(engine, 1);
	assert_int_equal(seen.calls, 0);
	request_answer(engine, 2);
	assert_int_equal(seen.calls, 1);
	/*
	 * The SM moves away and back before a request was sent again: the
	 * requests in flight are not changed.
	 */
	assert_int_equal(puppet_query(engine, 5, &seen), 0);
	move_to(engine, NEW_SM);
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, 2);
	ibsa__engine_free(engine);
}

/*
 * Without an SM, and while the port is down, requests in flight wait and new
 * queries are refused. Afterwards the same SM gets the next try with the same
 * id, another SM gets the request at once.
 */
static void requests_wait_for_an_sm(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 }, refused = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	move_to(engine, 0);
	puppet_advance(&puppet, engine, 150);
	assert_int_equal(puppet_query(engine, 5, &refused), -EAGAIN);
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 1);
	puppet_advance(&puppet, engine, 200);
	assert_int_equal(puppet.sent_count, 2);
	assert_true(has_same_id(0, 1));

	puppet.port.port_state = IBSA_PORT_DOWN;
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 400);
	assert_int_equal(puppet_query(engine, 5, &refused), -ENETDOWN);
	puppet.port.port_state = IBSA_PORT_INIT;
	move_to(engine, NEW_SM);
	assert_int_equal(puppet_query(engine, 5, &refused), -EAGAIN);
	puppet.port.port_state = IBSA_PORT_ACTIVE;
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 3);
	request_answer(engine, 2);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.tries, 3);
	assert_int_equal(refused.calls, 0);
	ibsa__engine_free(engine);
}

/* A request that could not be sent without an SM is sent when there is one. */
static void unsent_request_goes_with_the_sm(void **state)
{
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	struct seen first = { 0 }, second = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	assert_int_equal(puppet_query(engine, 5, &second), 0);
	move_to(engine, 0);
	request_answer(engine, 0);
	assert_int_equal(first.calls, 1);
	assert_int_equal(puppet.sent_count, 1);
	puppet_advance(&puppet, engine, 50);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	request_answer(engine, 1);
	assert_int_equal(second.calls, 1);
	assert_int_equal(second.tries, 1);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, 0);
	ibsa__engine_free(engine);
}

/* A kernel that still holds the request to the old SM accepts the new id. */
static void held_request_follows_too(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	puppet.holds_ids = true;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(puppet.sent_count, 1);
	assert_int_equal(ibsa__engine_stats(engine)->send_errors, 1);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	request_answer(engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.tries, 2);
	ibsa__engine_free(engine);
}

/* BUSY from the old SM delays nothing at the new SM, and without a reply the
 * query ends with -ETIMEDOUT. */
static void busy_is_of_the_old_sm(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad busy;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	busy = puppet_answer(puppet_sent(&puppet, 0));
	busy.mad[MAD_STATUS + 1] = IBSA_STATUS_BUSY;
	puppet_deliver(&puppet, &busy);
	puppet_advance(&puppet, engine, 10);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	puppet_advance(&puppet, engine, 10000);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ETIMEDOUT);
	ibsa__engine_free(engine);
}

/* If sending to the new SM fails, the request's next try follows. */
static void failed_move_is_tried_again(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.send_err = -ENOBUFS;
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen.calls, 0);
	puppet.send_err = 0;
	puppet_advance(&puppet, engine, 200);
	assert_int_equal(puppet.sent_count, 2);
	request_answer(engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, 1);
	ibsa__engine_free(engine);
}

/* An SA from the options stays the same when the SM moves. */
static void given_sa_does_not_move(void **state)
{
	const struct ibsa_address sa = { .lid = 33, .qpn = 1 };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	options.access.sa = &sa;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	move_to(engine, 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 1);
	assert_int_equal(puppet_query(engine, 5, &seen), 0);
	ibsa__engine_free(engine);
}

/*
 * A query that ends at its deadline tells whether the SA was silent, there was
 * no SM, or the port was down, also if this happened after the last try.
 */
static void deadline_tells_why_there_is_no_reply(void **state)
{
	static const struct {
		enum ibsa_port_state_code port_state;
		uint16_t sm_lid;
		int err;
	} ends[] = {
		{ IBSA_PORT_ACTIVE, PUPPET_SM_LID, -ETIMEDOUT },
		{ IBSA_PORT_ACTIVE, 0, -EAGAIN },
		{ IBSA_PORT_INIT, PUPPET_SM_LID, -EAGAIN },
		{ IBSA_PORT_DOWN, PUPPET_SM_LID, -ENETDOWN },
		{ IBSA_PORT_DOWN, 0, -ENETDOWN },
	};

	struct ibsa__engine_options options = puppet_options;

	(void)state;
	options.deadline_ms = 1000;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct ibsa__engine *engine;
		struct seen seen = { 0 };

		puppet_init(&puppet);
		engine = puppet_engine(&puppet, &options);
		assert_int_equal(puppet_query(engine, 4, &seen), 0);
		puppet_advance(&puppet, engine, 800);
		puppet.port.port_state = ends[i].port_state;
		puppet.port.sm_lid = ends[i].sm_lid;
		puppet_advance(&puppet, engine, 200);
		assert_int_equal(seen.calls, 1);
		assert_int_equal(seen.err, ends[i].err);
		assert_int_equal(seen.status, 0);
		ibsa__engine_free(engine);
	}
}

/* With a given address of the SA, only a port that is down is told. */
static void given_sa_is_silent_without_an_sm(void **state)
{
	const struct ibsa_address sa = { .lid = 33, .qpn = 1 };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen = { 0 }, down = { 0 };

	(void)state;
	options.access.sa = &sa;
	options.deadline_ms = 1000;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.port.sm_lid = 0;
	puppet_advance(&puppet, engine, 1000);
	assert_int_equal(seen.err, -ETIMEDOUT);
	assert_int_equal(puppet_query(engine, 4, &down), 0);
	puppet.port.port_state = IBSA_PORT_DOWN;
	puppet_advance(&puppet, engine, 1000);
	assert_int_equal(down.err, -ENETDOWN);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_follow_at_once),
		TEST(another_sl_is_another_address),
		TEST(long_lid_is_asked_by_its_gid),
		TEST(sharers_follow_together),
		TEST(queued_requests_go_to_the_new_sm),
		TEST(many_requests_follow_in_turn),
		TEST(sm_may_move_back),
		TEST(requests_wait_for_an_sm),
		TEST(unsent_request_goes_with_the_sm),
		TEST(held_request_follows_too),
		TEST(busy_is_of_the_old_sm),
		TEST(failed_move_is_tried_again),
		TEST(given_sa_does_not_move),
		TEST(deadline_tells_why_there_is_no_reply),
		TEST(given_sa_is_silent_without_an_sm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
