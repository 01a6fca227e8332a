/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An SA that serves one request at a time: an early retry costs it as much as a
 * request, so the intervals follow its round-trip time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/records.h>

#include "test/support/puppet.h"

enum { MANY = 2000, TIMEOUT_MS = 1000, QUEUE_MS = 60000, BACKLOG = 4096 };

static struct puppet puppet;

/*
 * An SA that serves one request at a time: the requests that it has received,
 * in order, and has not answered yet.
 */
struct slow_sa {
	unsigned int service_ms;
	unsigned int free_ms; /* until the current request is answered */
	/*
	 * Number of MADs of the puppet transport that the SA has received so
	 * far.
	 */
	unsigned int taken;
	unsigned int head, count;
	unsigned int answered;
	struct puppet_mad backlog[BACKLOG];
};

static void slow_sa_take(struct slow_sa *sa)
{
	for (; sa->taken < puppet.sent_count; sa->taken++) {
		assert_true(sa->count - sa->head < BACKLOG);
		sa->backlog[sa->count++ % BACKLOG] = *puppet_sent(&puppet,
								  sa->taken);
	}
}

static void slow_sa_pass_ms(struct slow_sa *sa)
{
	slow_sa_take(sa);
	if (sa->head == sa->count)
		return;
	if (!sa->free_ms)
		sa->free_ms = sa->service_ms;
	if (!--sa->free_ms) {
		const struct puppet_mad answer =
			puppet_answer(&sa->backlog[sa->head++ % BACKLOG]);

		puppet_deliver(&puppet, &answer);
		sa->answered++;
	}
}

static void reply_count(const struct ibsa_reply *reply, void *arg)
{
	unsigned int *counts = arg;

	counts[reply->err == 0]++;
}

/* Submit a query like ib_sa: the deadline starts at the first send and leaves
 * time for ten tries. */
static void path_query(struct ibsa__engine *engine, uint16_t dlid,
		       unsigned int *counts)
{
	const struct ibsa_path match = { .slid = 3, .dlid = dlid };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
		.deadline_ms = TIMEOUT_MS,
		.first_interval_ms = TIMEOUT_MS / 10,
		.queue_ms = QUEUE_MS,
	};

	assert_int_equal(ibsa__engine_query(engine, &query, reply_count, counts,
					    NULL),
			 0);
}

/* 2000 queries with a deadline of 1 s, each answered in 20 ms: all get replies,
 * and most requests are sent once. */
static void serial_sa_answers_all(void **state)
{
	static struct slow_sa sa = { .service_ms = 20 };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	unsigned int counts[2] = { 0 };

	(void)state;
	options.queue = MANY;
	engine = puppet_engine(&puppet, &options);
	for (uint16_t i = 0; i < MANY; i++)
		path_query(engine, (uint16_t)(i + 1), counts);
	while (counts[0] + counts[1] < MANY) {
		slow_sa_pass_ms(&sa);
		puppet_advance(&puppet, engine, 1);
	}
	assert_int_equal(counts[0], 0);
	assert_in_range(sa.answered, MANY - 1, MANY + MANY / 10);
	ibsa__engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUPPET_TEST(serial_sa_answers_all, &puppet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
