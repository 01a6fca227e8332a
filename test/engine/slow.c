/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An SA that serves one request after the other: a retry that comes before the
 * reply could costs it as much as a request, so intervals follow its round
 * trips.
 */
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

/* Requests that came and are not served yet, first come first served. */
struct slow_sa {
	unsigned int service_ms;
	unsigned int free_ms; /* until the one that is being served is done */
	unsigned int taken;   /* of what the puppet was sent */
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

static void note(const struct ibsa_reply *reply, void *arg)
{
	unsigned int *counts = arg;

	counts[reply->err == 0]++;
}

/* As ib_sa asks: the deadline runs from the first send, ten tries fit into it. */
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

	assert_int_equal(ibsa__engine_query(engine, &query, note, counts, NULL),
			 0);
}

/* 2,000 queries of a second, 20 ms for each: all are answered, and most of
 * what the SA serves is not asked twice. */
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
