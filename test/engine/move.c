/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SM moves under requests in flight, and they follow it. */
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

/* Move the SM, and let the client see it. */
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

static void answer(struct ibsa__engine *engine, unsigned int n)
{
	struct puppet_mad answer;

	answer = puppet_answer(puppet_sent(&puppet, n));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
}

/* At once, under another id; the old SM's answer then means nothing. */
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
	answer(engine, 0);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(stats->ignored_id, 1);
	puppet_advance(&puppet, engine, 5);
	answer(engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.tries, 2);
	assert_int_equal(seen.rtt_ns, 5 * MS);
	assert_int_equal(stats->retargeted, 1);
	assert_int_equal(stats->retries, 1);
	ibsa__engine_free(engine);
}

/* Another service level or P_Key index is another way to the SM. */
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

/* An SM of Omni-Path whose LID has no room in 16 bits is addressed by the GID
 * that stands for it; its answer's LID is cut. */
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

	/* One with room goes as ever. */
	move_to(engine, NEW_SM);
	assert_int_equal(puppet_query(engine, 5, &seen), 0);
	assert_false(puppet_sent(&puppet, 2)->address.has_grh);
	ibsa__engine_free(engine);
}

/* Those who share a request follow together; deadlines do not move. */
static void sharers_follow_together(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen first = { 0 }, second = { 0 }, third = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	assert_int_equal(puppet_query(engine, 4, &second), 0);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 1);
	/* Its own second try would come before the next one of the others. */
	assert_int_equal(puppet_query(engine, 4, &third), 0);
	assert_int_equal(puppet.sent_count, 3);
	answer(engine, 1);
	assert_int_equal(first.calls + second.calls + third.calls, 2);
	answer(engine, 2);
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

/* What waits for the window goes to the new SM alone; the window stays. */
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
		answer(engine, i);
	}
	assert_int_equal(puppet.sent_count, 6);
	for (int i = 0; i < 4; i++)
		assert_int_equal(seen[i].calls, 1);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, 2);
	ibsa__engine_free(engine);
}

/* Very many follow in turn, and none later than its next try. */
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

/* Away and back: the first SM is asked anew, once more. */
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
	answer(engine, 0);
	answer(engine, 1);
	assert_int_equal(seen.calls, 0);
	answer(engine, 2);
	assert_int_equal(seen.calls, 1);
	/* So quickly that nobody was asked in between: nothing has moved. */
	assert_int_equal(puppet_query(engine, 5, &seen), 0);
	move_to(engine, NEW_SM);
	move_to(engine, PUPPET_SM_LID);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, 2);
	ibsa__engine_free(engine);
}

/*
 * Without an SM, and on a port that is down, what is in flight waits and what
 * is new is refused. The same SM is then asked at the next try, under the same
 * id, another one at once.
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
	assert_int_equal(puppet_query(engine, 5, &refused), -EAGAIN);
	puppet.port.port_state = IBSA_PORT_INIT;
	move_to(engine, NEW_SM);
	assert_int_equal(puppet_query(engine, 5, &refused), -EAGAIN);
	puppet.port.port_state = IBSA_PORT_ACTIVE;
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 3);
	answer(engine, 2);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.tries, 3);
	assert_int_equal(refused.calls, 0);
	ibsa__engine_free(engine);
}

/* A request that never got out while there was no SM goes out with it. */
static void unsent_request_goes_with_the_sm(void **state)
{
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	struct seen first = { 0 }, second = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	assert_int_equal(puppet_query(engine, 5, &second), 0);
	move_to(engine, 0);
	answer(engine, 0);
	assert_int_equal(first.calls, 1);
	assert_int_equal(puppet.sent_count, 1);
	puppet_advance(&puppet, engine, 50);
	move_to(engine, NEW_SM);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	answer(engine, 1);
	assert_int_equal(second.calls, 1);
	assert_int_equal(second.tries, 1);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, 0);
	ibsa__engine_free(engine);
}

/* A kernel that still waits for the old SM's answer lets the new id pass. */
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
	answer(engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.tries, 2);
	ibsa__engine_free(engine);
}

/* That the old SM was busy holds nothing back from the new, and its silence
 * is silence. */
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

/* A failed send to the new SM leaves the request to its next try. */
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
	answer(engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(ibsa__engine_stats(engine)->retargeted, 1);
	ibsa__engine_free(engine);
}

/* A given SA has no reason to move. */
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
