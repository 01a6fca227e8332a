/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ib_sa_cancel_query(): which query it ends, and that it ends no other. */
#include "ib_sa/state.h"
#include "test/ib_sa/plug.h"

enum { MILLION = 1000 * 1000, WINDOW = 16 };

static void cancel_and_run(struct plug *plug, int id, struct ib_sa_query *query)
{
	ib_sa_cancel_query(id, query);
	plug_run(plug, 0);
}

/*
 * ib_sa_cancel_query() ends a query only if the id and the ticket belong to the
 * same query.
 */
static void cancel_needs_id_and_ticket_of_one_query(void **state)
{
	struct told one = { 0 }, two = { 0 };
	struct ib_sa_query *first, *second;
	struct plug plug;
	int a, b;

	(void)state;
	plug_start(&plug, NULL);
	a = rig_query(&plug.rig, 2, &one, &first);
	b = rig_query(&plug.rig, 3, &two, &second);
	assert_int_equal(a, 0);
	assert_int_equal(b, 1);
	plug_run(&plug, 0);
	cancel_and_run(&plug, a, second);
	cancel_and_run(&plug, b, first);
	cancel_and_run(&plug, -1, first);
	cancel_and_run(&plug, 64, first);
	cancel_and_run(&plug, INT32_MAX, first);
	cancel_and_run(&plug, INT32_MIN, first);
	cancel_and_run(&plug, a, NULL);
	assert_int_equal(one.calls + two.calls, 0);
	cancel_and_run(&plug, a, first);
	assert_int_equal(one.status, -EINTR);
	assert_int_equal(one.reply.err, -ECANCELED);
	assert_int_equal(two.calls, 0);
	plug_stop(&plug);
	assert_int_equal(two.calls, 1);
}

/* No client is registered in this process. */
static void cancel_without_a_client_has_no_effect(void **state)
{
	(void)state;
	ib_sa_cancel_query(0, (struct ib_sa_query *)(uintptr_t)1);
}

/*
 * First tries do not wait for replies to other queries. A late reply to a
 * cancelled query is ignored.
 */
static void canceled_query_is_not_answered(void **state)
{
	struct told told[WINDOW + 1] = { 0 };
	struct ib_sa_query *query[WINDOW + 1];
	uint8_t answer[PUPPET_BYTES];
	struct plug plug;
	size_t len;

	(void)state;
	plug_start(&plug, NULL);
	for (uint16_t i = 0; i <= WINDOW; i++)
		assert_int_equal(
			rig_query(&plug.rig, 2 + i, &told[i], &query[i]), i);
	plug_run(&plug, 0);
	assert_int_equal(plug.puppet.sent_count, WINDOW + 1);
	cancel_and_run(&plug, WINDOW, query[WINDOW]);
	assert_int_equal(told[WINDOW].status, -EINTR);
	cancel_and_run(&plug, 0, query[0]);
	assert_int_equal(told[0].status, -EINTR);
	assert_int_equal(plug.puppet.sent_count, WINDOW + 1);
	len = plug_vector("27_path_get.rsp.hex", answer);
	plug_answer(&plug, 0, answer, len);
	assert_int_equal(told[0].calls, 1);
	plug_answer(&plug, 1, answer, len);
	assert_int_equal(told[1].status, 0);
	plug_stop(&plug);
}

/* With a cancel and a reply at the same time, there is one callback. */
static void cancel_and_answer_tell_once(void **state)
{
	struct told told = { 0 };
	struct ib_sa_query *query;
	struct puppet_mad answer;
	struct plug plug;
	int id;

	(void)state;
	plug_start(&plug, NULL);
	id = rig_query(&plug.rig, 2, &told, &query);
	plug_run(&plug, 0);
	answer = puppet_answer(puppet_sent(&plug.puppet, 0));
	puppet_deliver(&plug.puppet, &answer);
	cancel_and_run(&plug, id, query);
	plug_run(&plug, 0);
	assert_int_equal(told.calls, 1);
	assert_true(!told.status || told.status == -EINTR);
	plug_stop(&plug);
}

/*
 * One id is used for a million queries, with a new ticket each time: the ticket
 * of the last query never ends the next one.
 */
static void million_queries_share_an_id(void **state)
{
	struct ib_sa_query *last = NULL;
	struct ib_sa_query *query;
	struct told told = { 0 };
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	for (int i = 0; i < MILLION; i++) {
		assert_int_equal(rig_query(&plug.rig, 2, &told, &query), 0);
		assert_ptr_not_equal(query, last);
		ib_sa_cancel_query(0, last);
		assert_true(list_is_empty(
			&plug.rig.client.sa->tasks.slots[0].task->end.link));
		ib_sa_cancel_query(0, query);
		plug_run(&plug, 0);
		last = query;
	}
	assert_int_equal(told.calls, MILLION);
	assert_int_equal(plug.puppet.sent_count, 0);
	plug_stop(&plug);
}

/*
 * A pair of id and ticket is never reused: an id that had all tickets is
 * retired.
 */
static void id_that_had_all_tickets_is_retired(void **state)
{
	struct told told = { 0 };
	struct ib_sa_query *query;
	struct plug plug;
	struct ibsa__sa *sa;

	(void)state;
	plug_start(&plug, NULL);
	sa = plug.rig.client.sa;
	assert_int_equal(rig_query(&plug.rig, 2, &told, &query), 0);
	cancel_and_run(&plug, 0, query);
	sa->tasks.slots[0].ticket = ibsa__sa_ticket_first(&sa->tasks, 0) - 1;
	assert_int_equal(rig_query(&plug.rig, 2, &told, &query), 0);
	assert_true((uintptr_t)query == ibsa__sa_ticket_first(&sa->tasks, 0));
	cancel_and_run(&plug, 0, query);
	assert_int_equal(rig_query(&plug.rig, 2, &told, &query), 1);
	cancel_and_run(&plug, 1, query);
	assert_int_equal(told.calls, 3);
	plug_stop(&plug);
}

/*
 * A port accepts a limited number of queries. The count is set directly, since
 * a million queries need half a gigabyte.
 */
static void full_port_is_refused(void **state)
{
	struct ib_sa_query *query, *refused;
	struct told told = { 0 };
	struct sa_port *port;
	struct plug plug;
	int id;

	(void)state;
	plug_start(&plug, NULL);
	port = plug.rig.device->ports[0];
	port->queries = PORT_QUERIES_MAX - 1;
	id = rig_query(&plug.rig, 2, &told, &query);
	assert_int_equal(id, 0);
	assert_int_equal(rig_query(&plug.rig, 3, &told, &refused), -ENOBUFS);
	assert_null(refused);
	cancel_and_run(&plug, id, query);
	assert_int_equal(told.calls, 1);
	assert_int_equal(rig_query(&plug.rig, 3, &told, &query), 0);
	cancel_and_run(&plug, 0, query);
	assert_int_equal(port->queries, PORT_QUERIES_MAX - 1);
	plug_stop(&plug);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cancel_needs_id_and_ticket_of_one_query),
		cmocka_unit_test(cancel_without_a_client_has_no_effect),
		cmocka_unit_test(canceled_query_is_not_answered),
		cmocka_unit_test(cancel_and_answer_tell_once),
		cmocka_unit_test(million_queries_share_an_id),
		cmocka_unit_test(id_that_had_all_tickets_is_retired),
		cmocka_unit_test(full_port_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
