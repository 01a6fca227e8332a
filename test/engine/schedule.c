/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The times of the tries of a request, with the default intervals and without
 * jitter: after silence, BUSY, a redirection, a change of the SM, and mixtures.
 */
#include "test/engine/redirect.h"

enum {
	MS = 1000000,
	DEADLINE_MS = 10000,
	LATE_MS = 200,
	MOVE_MS = 100,
	TRIES_MAX = 6,
};

/*
 * The tries of a request until its deadline: the time of each, and what happens
 * to it, a character of @events:
 *   .  nothing
 *   B  the SA replies BUSY at once
 *   b  the SA replies BUSY after LATE_MS
 *   R  the SA redirects the request at once
 *   M  the SM moves MOVE_MS after the try
 */
struct schedule {
	const char *events;
	unsigned int at_ms[TRIES_MAX];
};

static const struct schedule schedules[] = {
	{ ".....", { 0, 500, 1500, 3500, 7500 } },
	{ "BBBBB", { 0, 500, 1500, 3500, 7500 } },
	{ "B....", { 0, 500, 1500, 3500, 7500 } },
	{ ".B.B.", { 0, 500, 1500, 3500, 7500 } },
	{ "bbbbb", { 0, 700, 1900, 4100, 8300 } },
	{ "R.....", { 0, 0, 500, 1500, 3500, 7500 } },
	{ "RB....", { 0, 0, 500, 1500, 3500, 7500 } },
	{ "BRB...", { 0, 500, 500, 1500, 3500, 7500 } },
	{ "M....", { 0, 100, 1100, 3100, 7100 } },
	{ "MBBBB", { 0, 100, 1100, 3100, 7100 } },
	{ "BM...", { 0, 500, 600, 2600, 6600 } },
	{ "MBRB..", { 0, 100, 1100, 1100, 3100, 7100 } },
};

/* Requests of a query, a service, a subscription and a join. */
static const struct ibsa_query queries[] = {
	{ .record = &ibsa_path_record },
	{ .record = &ibsa_path_record, .method = IBSA_METHOD_GET_TABLE },
	{ .record = &ibsa_service_record, .method = IBSA_METHOD_SET },
	{ .record = &ibsa_inform_info_rec_record,
	  .method = IBSA_METHOD_GET_TABLE },
	{ .record = &ibsa_inform_info_record, .method = IBSA_METHOD_SET },
	{ .record = &ibsa_mcmember_record, .method = IBSA_METHOD_SET },
};

static void busy_reply(struct ibsa__engine *engine)
{
	struct puppet_mad busy =
		puppet_answer(puppet_sent(&puppet, puppet.sent_count - 1));

	ibsa_put_be16(busy.mad + MAD_STATUS, IBSA_STATUS_BUSY);
	deliver(engine, &busy);
}

static void sm_move(struct ibsa__engine *engine)
{
	puppet.port.sm_lid++;
	puppet.port_changed = true;
	puppet_advance(&puppet, engine, 0);
	puppet_advance(&puppet, engine, 0);
}

/* Return: the event of the last try that was sent. */
static char last_event(const struct schedule *schedule)
{
	assert_true(puppet.sent_count <= strlen(schedule->events));
	return schedule->events[puppet.sent_count - 1];
}

static void event_run(struct ibsa__engine *engine, char event)
{
	const struct puppet_mad *last = puppet_sent(&puppet,
						    puppet.sent_count - 1);
	const uint64_t ms = (puppet.now_ns - last->at_ns) / MS;

	if ((event == 'B' && !ms) || (event == 'b' && ms == LATE_MS))
		busy_reply(engine);
	if (event == 'R' && !ms)
		redirect_to(engine, (uint16_t)(TARGET + puppet.sent_count));
	if (event == 'M' && ms == MOVE_MS)
		sm_move(engine);
}

/* A redirection sends the next try at once, to which something happens, too. */
static void events_run(struct ibsa__engine *engine,
		       const struct schedule *schedule)
{
	unsigned int before;

	do {
		before = puppet.sent_count;
		event_run(engine, last_event(schedule));
	} while (puppet.sent_count != before);
}

static void schedule_check(const struct schedule *schedule,
			   const struct ibsa_query *query)
{
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	options.first_interval_ms = 500;
	options.max_interval_ms = 4000;
	puppet_init(&puppet);
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(
		ibsa__engine_query(engine, query, puppet_note, &seen, NULL), 0);
	for (unsigned int ms = 0; ms < DEADLINE_MS; ms++) {
		events_run(engine, schedule);
		puppet_advance(&puppet, engine, 1);
	}
	assert_int_equal(seen.calls, 1);
	assert_int_equal(puppet.sent_count, strlen(schedule->events));
	for (unsigned int i = 0; i < puppet.sent_count; i++)
		assert_int_equal(puppet_sent(&puppet, i)->at_ns / MS,
				 schedule->at_ms[i]);
	ibsa__engine_free(engine);
}

/* Each try comes at its time, whatever the request is for. */
static void tries_come_at_their_times(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
		print_message("%s\n", schedules[i].events);
		for (size_t k = 0; k < sizeof(queries) / sizeof(queries[0]);
		     k++)
			schedule_check(&schedules[i], &queries[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUPPET_TEST(tries_come_at_their_times, &puppet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
