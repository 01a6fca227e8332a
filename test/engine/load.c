/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Load: how the engine limits the requests to a busy SA, to a busy kernel and
 * within one dispatch. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum {
	MS = 1000000,
	LATE_MS = 250, /* how late the kernel's report may be */
};

static struct puppet puppet;

static struct ibsa__engine *asked_again;

/* Submits the same query again, as some programs do after an error. */
static void query_again(const struct ibsa_reply *reply, void *arg)
{
	const struct ibsa_query query = { .record = &ibsa_node_record };
	int *calls = arg;
	int err = 0;

	(void)reply;
	if (++*calls < 1000)
		err = ibsa__engine_query(asked_again, &query, query_again, arg,
					 NULL);
	assert_true(err == 0 || err == -ENODEV || err == -ESHUTDOWN);
}

/* A port that is down and callbacks that submit again do not keep one dispatch
 * busy. */
static void failed_sends_do_not_hold_a_dispatch(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct ibsa__engine *engine;
	struct puppet_mad answer;
	struct seen seen = { 0 };
	int calls = 0;

	(void)state;
	options.window = 1;
	options.sharing = false;
	engine = puppet_engine(&puppet, &options);
	asked_again = engine;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ibsa__engine_query(engine, &query, query_again,
						    &calls, NULL),
				 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet.send_err = -ENODEV;
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_in_range(calls, 3, 20);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 0);
	ibsa__engine_free(engine);
}

/* A query that shares a request which got BUSY waits for that request's next
 * try. */
static void joining_leaves_a_busy_sa_alone(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen first = { 0 }, second = { 0 };
	struct puppet_mad busy;

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	busy = puppet_answer(puppet_sent(&puppet, 0));
	busy.mad[MAD_STATUS + 1] = IBSA_STATUS_BUSY;
	puppet_deliver(&puppet, &busy);
	puppet_advance(&puppet, engine, 90);
	puppet_advance(&puppet, engine, 60);
	assert_int_equal(puppet_query(engine, 4, &second), 0);
	puppet_advance(&puppet, engine, 39);
	assert_int_equal(puppet.sent_count, 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 2);
	ibsa__engine_free(engine);
}

/* The kernel's report that a request timed out: only the header. */
static void kernel_timeout_deliver(const struct puppet_mad *request)
{
	struct puppet_mad word = puppet_answer(request);

	memcpy(word.mad, request->mad, sizeof(word.mad));
	word.len = 24;
	word.err = -ETIMEDOUT;
	puppet_deliver(&puppet, &word);
}

/*
 * If the kernel reports a timeout late, it still holds the previous try when
 * the next one is due, and refuses the next one. The engine sends it when the
 * kernel reports the timeout, not an interval later, and does not lengthen the
 * interval after it.
 */
static void late_kernel_costs_no_interval(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.send_err = -EALREADY;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(ibsa__engine_stats(engine)->send_errors, 1);
	puppet.send_err = 0;
	puppet_advance(&puppet, engine, 5);
	assert_int_equal(puppet.sent_count, 1);
	kernel_timeout_deliver(puppet_sent(&puppet, 0));
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 2);
	puppet_advance(&puppet, engine, 198);
	assert_int_equal(puppet.sent_count, 2);
	puppet_advance(&puppet, engine, 2);
	assert_int_equal(puppet.sent_count, 3);
	ibsa__engine_free(engine);
}

/* Without a refused try, the kernel's report does not change the time of the
 * next try. */
static void kernel_timeout_hurries_no_other_try(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad word;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	word = *puppet_sent(&puppet, 0);
	puppet_advance(&puppet, engine, 50);
	kernel_timeout_deliver(&word);
	/* A report with an unknown id, and one that is shorter than an id. */
	word.mad[MAD_TID + 7] ^= 0xff;
	kernel_timeout_deliver(&word);
	word.len = 8;
	word.err = -ETIMEDOUT;
	puppet_deliver(&puppet, &word);
	puppet_advance(&puppet, engine, 49);
	assert_int_equal(puppet.sent_count, 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 2);
	ibsa__engine_free(engine);
}

/*
 * With a window of one, the reply to the first request has arrived, but the
 * engine has not received it, and the second request is queued.
 */
static struct ibsa__engine *engine_with_one_behind(struct seen seen[2])
{
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	struct puppet_mad answer;

	assert_int_equal(puppet_query(engine, 4, &seen[0]), 0);
	assert_int_equal(puppet_query(engine, 5, &seen[1]), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	return engine;
}

/* If the kernel refuses the first try at once with -EALREADY, this cannot be a
 * duplicate: the query is refused and not retried. */
static void refused_first_try_is_an_error(void **state)
{
	struct seen seen[2] = { 0 };
	struct ibsa__engine *engine = engine_with_one_behind(seen);

	(void)state;
	puppet.send_err = -EALREADY;
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen[0].calls, 1);
	assert_int_equal(seen[1].calls, 1);
	assert_int_equal(seen[1].err, -EINVAL);
	assert_int_equal(puppet_query(engine, 6, &seen[1]), -EINVAL);
	assert_int_equal(seen[1].calls, 1);
	ibsa__engine_free(engine);
}

/* If the send queue is full, the first try is sent soon after. */
static void full_send_queue_is_waited_for(void **state)
{
	struct seen seen[2] = { 0 };
	struct ibsa__engine *engine = engine_with_one_behind(seen);

	(void)state;
	puppet.send_err = -EBUSY;
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen[0].calls, 1);
	puppet.send_err = 0;
	assert_int_equal(ibsa__engine_timeout_ms(engine), 1);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen[1].calls, 0);
	assert_int_equal(puppet.sent_count, 2);
	ibsa__engine_free(engine);
}

/* Return: the DLID of the @n-th request, which is for a path. */
static uint16_t sent_dlid(unsigned int n)
{
	const uint8_t *mad = puppet_sent(&puppet, n)->mad;
	struct ibsa_path path;

	ibsa_path_record.decode(mad + IBSA_SA_HEADER_BYTES, &path);
	return path.dlid;
}

/* Submit @count queries, of which the transport has room for @room. */
static struct ibsa__engine *
engine_with_refused(unsigned int count, unsigned int room, struct seen *seen)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);

	puppet.send_limit = room;
	for (uint16_t i = 0; i < count; i++)
		assert_int_equal(puppet_query(engine, i, seen), 0);
	assert_int_equal(puppet.sent_count, room);
	return engine;
}

/*
 * First tries for which the transport has no room are sent in their order as
 * replies make room: with each reply another one, at the same time.
 */
static void replies_make_room_for_refused_requests(void **state)
{
	enum { COUNT = 12, ROOM = 4 };
	struct seen seen = { 0 };
	struct ibsa__engine *engine = engine_with_refused(COUNT, ROOM, &seen);

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++) {
		struct puppet_mad answer =
			puppet_answer(puppet_sent(&puppet, i));

		puppet.send_limit++;
		puppet_deliver(&puppet, &answer);
		puppet_advance(&puppet, engine, 0);
		assert_int_equal(seen.calls, (int)i + 1);
		assert_int_equal(sent_dlid(i), i);
	}
	assert_int_equal(puppet.sent_count, COUNT);
	assert_int_equal(puppet.now_ns, 0);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	ibsa__engine_free(engine);
}

/* Without a reply, the transport is tried again after 1 ms, and then at growing
 * intervals: a transport without room does not keep the program busy. */
static void room_without_a_reply_is_found(void **state)
{
	enum { COUNT = 12, ROOM = 4 };
	struct seen seen = { 0 };
	struct ibsa__engine *engine = engine_with_refused(COUNT, ROOM, &seen);
	unsigned int wakeups = 0;

	(void)state;
	puppet_advance(&puppet, engine, 0);
	while (puppet.now_ns < UINT64_C(90) * MS) {
		const int ms = ibsa__engine_timeout_ms(engine);

		assert_in_range(ms, 1, 64);
		puppet_advance(&puppet, engine, (unsigned int)ms);
		wakeups++;
	}
	assert_in_range(wakeups, 1, 10);
	puppet.send_limit = 0;
	puppet_advance(&puppet, engine,
		       (unsigned int)ibsa__engine_timeout_ms(engine));
	assert_in_range(puppet.sent_count, COUNT, COUNT + ROOM);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, COUNT);
}

/* A query for which the transport never has room ends at its deadline. */
static void refused_request_ends_at_its_deadline(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	options.deadline_ms = 150;
	puppet.send_err = -ENOBUFS;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	for (int ms = 0; ms < 149; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ETIMEDOUT);
	assert_int_equal(seen.tries, 0);
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	ibsa__engine_free(engine);
}

/* The round-trip time starts at the last try that was sent, not at one that
 * failed. */
static void failed_try_does_not_shorten_the_round_trip(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.send_err = -EAGAIN;
	puppet_advance(&puppet, engine, 100);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 50);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.tries, 1);
	assert_int_equal(seen.rtt_ns, 150 * MS);
	ibsa__engine_free(engine);
}

/* After a suspend, queries whose deadlines have passed send no request. */
static void nothing_is_sent_after_the_deadline(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen[16] = { 0 };

	(void)state;
	options.deadline_ms = 150;
	engine = puppet_engine(&puppet, &options);
	for (uint16_t i = 0; i < 16; i++)
		assert_int_equal(puppet_query(engine, i, &seen[i]), 0);
	puppet_advance(&puppet, engine, 3600 * 1000);
	assert_int_equal(puppet.sent_count, 16);
	for (int i = 0; i < 16; i++) {
		assert_int_equal(seen[i].calls, 1);
		assert_int_equal(seen[i].err, -ETIMEDOUT);
		assert_int_equal(seen[i].tries, 1);
	}
	ibsa__engine_free(engine);
}

/*
 * On a transport that holds requests, with a window of two: the first request
 * is cancelled and stays in the window, of which it takes half; the second is
 * in flight, and the third is queued.
 */
static struct ibsa__engine *engine_with_one_held(struct seen seen[3])
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;

	puppet.holds = true;
	options.window = 2;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_query(engine, 4, &seen[0]), 0);
	assert_int_equal(ibsa__engine_cancel(engine, seen[0].id), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen[0].calls, 1);
	assert_int_equal(seen[0].err, -ECANCELED);
	/* The abandoned request needs no wakeup. */
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	assert_int_equal(puppet_query(engine, 5, &seen[1]), 0);
	assert_int_equal(puppet_query(engine, 6, &seen[2]), 0);
	assert_int_equal(puppet.sent_count, 2);
	return engine;
}

/* A cancelled request that the transport holds leaves the window when the
 * transport's timeout for it has passed. */
static void abandoned_request_stays_in_the_window(void **state)
{
	struct seen seen[3] = { 0 };
	struct ibsa__engine *engine = engine_with_one_held(seen);

	(void)state;
	for (int ms = 0; ms < 99 + LATE_MS; ms++) {
		assert_in_range(ibsa__engine_timeout_ms(engine), 1, 200);
		puppet_advance(&puppet, engine, 1);
	}
	/* the second request sends two retries */
	assert_int_equal(puppet.sent_count, 4);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.sent_count, 5);
	ibsa__engine_free(engine);
	assert_int_equal(seen[2].calls, 1);
	assert_int_equal(seen[2].tries, 1);
}

/*
 * When the transport's timeout for the cancelled request has passed, a new
 * query takes its place in the window, even if no dispatch comes between the
 * end of the timeout and the query.
 */
static void abandoned_request_leaves_at_its_timeout(void **state)
{
	struct seen seen[3] = { 0 }, next = { 0 };
	struct ibsa__engine *engine = engine_with_one_held(seen);

	(void)state;
	assert_int_equal(ibsa__engine_cancel(engine, seen[2].id), 0);
	puppet.now_ns += (UINT64_C(100) + LATE_MS) * MS;
	assert_int_equal(puppet_query(engine, 7, &next), 0);
	assert_int_equal(puppet.sent_count, 3);
	ibsa__engine_free(engine);
}

/* A reply to an abandoned request frees its place at once. */
static void reply_ends_an_abandoned_request(void **state)
{
	struct seen seen[3] = { 0 };
	struct ibsa__engine *engine = engine_with_one_held(seen);
	struct puppet_mad answer;

	(void)state;
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen[0].calls, 1);
	assert_int_equal(puppet.sent_count, 3);
	assert_int_equal(ibsa__engine_stats(engine)->ignored_id, 1);
	ibsa__engine_free(engine);
}

/* After BUSY the transport does not hold the request: when cancelled, it leaves
 * the window at once. */
static void busy_request_leaves_the_window_when_cancelled(void **state)
{
	struct seen seen[3] = { 0 };
	struct ibsa__engine *engine = engine_with_one_held(seen);
	struct puppet_mad answer;

	(void)state;
	answer = puppet_answer(puppet_sent(&puppet, 1));
	ibsa_put_be16(answer.mad + MAD_STATUS, IBSA_STATUS_BUSY);
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(ibsa__engine_cancel(engine, seen[1].id), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 3);
	ibsa__engine_free(engine);
}

/*
 * The transport's report of a timeout frees the place of the abandoned request
 * in the window; a report with another class or id has no effect.
 */
static void kernel_timeout_ends_an_abandoned_request(void **state)
{
	struct seen seen[3] = { 0 };
	struct ibsa__engine *engine = engine_with_one_held(seen);
	struct puppet_mad back = *puppet_sent(&puppet, 0);

	(void)state;
	back.len = MAD_HEADER_BYTES;
	back.err = -ETIMEDOUT;
	back.mad[MAD_CLASS] ^= 1;
	puppet_deliver(&puppet, &back);
	back.mad[MAD_CLASS] ^= 1;
	back.mad[MAD_HEADER_BYTES / 2] ^= 1;
	puppet_deliver(&puppet, &back);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	back.mad[MAD_HEADER_BYTES / 2] ^= 1;
	puppet_deliver(&puppet, &back);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 3);
	/*
	 * A request with a waiting query is not ended by the timeout report:
	 * it waits for the query's deadline.
	 */
	back = *puppet_sent(&puppet, 2);
	back.len = MAD_HEADER_BYTES;
	back.err = -ETIMEDOUT;
	puppet_deliver(&puppet, &back);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen[2].calls, 0);
	ibsa__engine_free(engine);
}

/* A later query does not share an identical request that was abandoned. */
static void abandoned_request_is_not_shared(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen abandoned = { 0 }, again = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &abandoned), 0);
	assert_int_equal(ibsa__engine_cancel(engine, abandoned.id), 0);
	assert_int_equal(puppet_query(engine, 4, &again), 0);
	assert_int_equal(puppet.sent_count, 2);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(again.calls, 1);
	assert_int_equal(again.err, 0);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(failed_sends_do_not_hold_a_dispatch),
		TEST(joining_leaves_a_busy_sa_alone),
		TEST(late_kernel_costs_no_interval),
		TEST(kernel_timeout_hurries_no_other_try),
		TEST(refused_first_try_is_an_error),
		TEST(full_send_queue_is_waited_for),
		TEST(replies_make_room_for_refused_requests),
		TEST(room_without_a_reply_is_found),
		TEST(refused_request_ends_at_its_deadline),
		TEST(failed_try_does_not_shorten_the_round_trip),
		TEST(nothing_is_sent_after_the_deadline),
		TEST(abandoned_request_stays_in_the_window),
		TEST(abandoned_request_leaves_at_its_timeout),
		TEST(reply_ends_an_abandoned_request),
		TEST(busy_request_leaves_the_window_when_cancelled),
		TEST(kernel_timeout_ends_an_abandoned_request),
		TEST(abandoned_request_is_not_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
