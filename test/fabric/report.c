/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Delivery of the embedded SA's Reports. */
#include <errno.h>
#include <poll.h>

#include "notice_rig.h"
#include "wire/mad.h"

#define MS UINT64_C(1000000)

static void one_client_of_a_port_listens(void **state)
{
	struct bench *bench = *state;
	struct bench second = rig_beside(bench, "b");
	struct bench elsewhere = rig_beside(bench, "c");

	assert_int_equal(rig_listen(bench->transport, true), 0);
	assert_int_equal(rig_listen(second.transport, true), -EBUSY);
	assert_int_equal(rig_listen(second.transport, false), 0);
	assert_int_equal(rig_listen(second.transport, true), -EBUSY);
	assert_int_equal(rig_listen(elsewhere.transport, true), 0);
	assert_int_equal(rig_listen(bench->transport, false), 0);
	assert_int_equal(rig_listen(second.transport, true), 0);
	assert_int_equal(rig_listen(bench->transport, true), -EBUSY);
	rig_close(&second);
	assert_int_equal(rig_listen(bench->transport, true), 0);
	rig_close(&elsewhere);
}

static void unanswered_report_is_sent_four_times(void **state)
{
	struct bench *bench = *state;
	struct report report;

	rig_set_capabilities(bench, 7);
	for (int i = 0; i < 4; i++) {
		assert_true(rig_take(bench, &report));
		assert_true(report.header.transaction_id == RIG_FIRST_ID);
		assert_false(bench_receive(bench));
		rig_advance(bench, 199);
		assert_false(bench_receive(bench));
		assert_int_equal(bench_stats(bench).reports_unanswered, 0);
		rig_advance(bench, 1);
	}
	assert_false(bench_receive(bench));
	assert_int_equal(bench_stats(bench).reports, 1);
	assert_int_equal(bench_stats(bench).reports_unanswered, 1);
	/* The subscription stays. */
	rig_set_capabilities(bench, 8);
	assert_int_equal(rig_next_trap(bench), 144);
}

/* A client that receives late gets all MADs, in order. */
static void late_client_receives_all_tries(void **state)
{
	struct bench *bench = *state;
	struct report report;

	rig_set_capabilities(bench, 7);
	rig_advance(bench, 300);
	rig_set_capabilities(bench, 8);
	rig_advance(bench, 1000);
	for (int i = 0; i < 8; i++) {
		assert_true(rig_take(bench, &report));
		assert_true(report.header.transaction_id ==
			    RIG_FIRST_ID + (i > 1 && i != 3 && i != 5));
	}
	assert_false(bench_receive(bench));
	assert_int_equal(bench_stats(bench).reports_unanswered, 2);
}

static void answer_ends_a_report(void **state)
{
	struct bench *bench = *state;
	struct bench c = rig_beside(bench, "c");
	struct report report;

	rig_set_capabilities(bench, 7);
	assert_true(rig_take(bench, &report));
	/*
	 * A ReportResp of another client, or to another Report, does not end
	 * the Report.
	 */
	memcpy(c.request, bench->answer.mad, IBSA_MAD_BYTES);
	c.request[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	bench_send(&c);
	memcpy(bench->request, c.request, IBSA_MAD_BYTES);
	bench->request[MAD_TID + 7]++;
	bench_send(bench);
	bench->request[MAD_TID + 7]--;
	bench->request[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	bench_send(bench);
	rig_advance(bench, 200);
	assert_true(rig_take(bench, &report));
	rig_respond(bench);
	rig_respond(bench);
	rig_advance(bench, 1000);
	assert_false(bench_receive(bench));
	assert_int_equal(bench_stats(bench).reports_unanswered, 0);
	rig_close(&c);
}

/* A waiting client receives the next try when it is due. */
static void waiting_client_receives_the_next_try(void **state)
{
	struct bench *bench = *state;
	struct ibsa_transport *transport = bench->transport;
	struct report report;

	rig_set_capabilities(bench, 7);
	assert_true(rig_take(bench, &report));
	assert_int_equal(transport->ops->wait(transport, 1000), 0);
	assert_true(transport->ops->now_ns(transport) == 200 * MS);
	assert_true(rig_take(bench, &report));
	rig_respond(bench);
	assert_int_equal(transport->ops->wait(transport, 1000), 0);
	assert_true(transport->ops->now_ns(transport) == 1200 * MS);
}

static void reports_without_a_listener_are_lost(void **state)
{
	struct bench *bench = *state;
	struct report report;

	assert_int_equal(rig_listen(bench->transport, false), 0);
	rig_set_capabilities(bench, 7);
	assert_false(bench_receive(bench));
	rig_advance(bench, 300);
	/* A client that starts to listen in time receives the next try. */
	assert_int_equal(rig_listen(bench->transport, true), 0);
	assert_false(bench_receive(bench));
	rig_advance(bench, 100);
	assert_true(rig_take(bench, &report));
	/* A client that stops listening receives the Reports in its queue. */
	rig_set_capabilities(bench, 8);
	assert_int_equal(rig_listen(bench->transport, false), 0);
	assert_true(rig_take(bench, &report));
	rig_set_capabilities(bench, 7);
	assert_false(bench_receive(bench));
	assert_int_equal(bench->transport->ops->wait(bench->transport, 5), 0);
	assert_true(bench->transport->ops->now_ns(bench->transport) ==
		    405 * MS);
	rig_advance(bench, 800);
	assert_int_equal(bench_stats(bench).reports, 3);
	assert_int_equal(bench_stats(bench).reports_unanswered, 3);
}

/* Answers stay in the queue when listening ends. */
static void answers_stay_when_listening_ends(void **state)
{
	static const struct ibsa_fabric_options slow = {
		.virtual_clock = true,
		.latency_us = 1000,
	};
	const struct ibsa_fault reorder = {
		.kind = IBSA_FAULT_REORDER,
		.percent = 100,
		.count = 1,
	};
	struct bench bench;

	(void)state;
	bench_start_text(&bench, rig_fabric, "b", &slow);
	assert_int_equal(rig_listen(bench.transport, true), 0);
	assert_int_equal(rig_inform(&bench, &everything), -1);
	rig_set_capabilities(&bench, 7);
	assert_int_equal(ibsa_fabric_fault(bench.fabric, &reorder), 0);
	rig_set_capabilities(&bench, 8);
	assert_int_equal(rig_listen(bench.transport, false), 0);
	rig_advance(&bench, 1000);
	assert_true(bench_receive(&bench));
	assert_int_equal(bench.answer.mad[MAD_METHOD], IBSA_METHOD_GET_RESP);
	assert_false(bench_receive(&bench));
	bench_stop(&bench);
}

static void fault(struct bench *bench, enum ibsa_fault_kind kind)
{
	const struct ibsa_fault once = {
		.kind = kind,
		.percent = 100,
		.count = 1,
		.delay_ms = 50,
	};

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &once), 0);
}

static void faults_strike_reports(void **state)
{
	struct bench *bench = *state;
	struct report report;

	fault(bench, IBSA_FAULT_LOSE);
	rig_set_capabilities(bench, 7);
	assert_false(bench_receive(bench));
	rig_advance(bench, 200);
	assert_int_equal(rig_next_trap(bench), 144);
	fault(bench, IBSA_FAULT_DUPLICATE);
	rig_set_capabilities(bench, 8);
	assert_true(rig_take(bench, &report));
	assert_int_equal(rig_next_trap(bench), 144);
	assert_int_equal(rig_next_trap(bench), 0);
	fault(bench, IBSA_FAULT_DELAY);
	rig_set_capabilities(bench, 9);
	assert_false(bench_receive(bench));
	rig_advance(bench, 51);
	assert_int_equal(rig_next_trap(bench), 144);
	fault(bench, IBSA_FAULT_REORDER);
	rig_set_capabilities(bench, 10);
	rig_set_capabilities(bench, 11);
	assert_true(rig_take(bench, &report));
	rig_respond(bench);
	assert_int_equal(ibsa_be32(report.notice.data_details + 6), 11);
	assert_int_equal(rig_next_trap(bench), 144);
	fault(bench, IBSA_FAULT_CORRUPT);
	rig_set_capabilities(bench, 12);
	assert_true(bench_receive(bench));
	assert_int_equal(bench->answer.len, IBSA_MAD_BYTES);
	assert_int_equal(bench_stats(bench).reports_unanswered, 0);
}

/* A delayed answer before the timeout counts. */
static void delayed_answer_counts(void **state)
{
	struct bench *bench = *state;
	struct report report;

	rig_set_capabilities(bench, 7);
	assert_true(rig_take(bench, &report));
	fault(bench, IBSA_FAULT_DELAY);
	rig_respond(bench);
	rig_advance(bench, 5000);
	assert_int_equal(bench_stats(bench).reports_unanswered, 0);
	assert_false(bench_receive(bench));
	/* A lost answer does not count. */
	rig_set_capabilities(bench, 8);
	assert_true(rig_take(bench, &report));
	fault(bench, IBSA_FAULT_LOSE);
	rig_respond(bench);
	rig_advance(bench, 200);
	assert_int_equal(rig_next_trap(bench), 144);
}

/* Reports beyond the limit of Reports in flight are not sent. */
static void reports_are_limited(void **state)
{
	enum { SUBSCRIPTIONS = 1000, MOST = 131072 };
	struct ibsa_inform_info info = everything;
	struct bench *bench = *state;
	uint32_t events = MOST / SUBSCRIPTIONS + 1;

	assert_int_equal(rig_listen(bench->transport, false), 0);
	for (uint16_t i = 1; i < SUBSCRIPTIONS; i++) {
		info.lid_range_end = i;
		assert_int_equal(rig_inform(bench, &info), 0);
	}
	for (uint32_t i = 0; i < events; i++)
		rig_set_capabilities(bench, i);
	assert_int_equal(bench_stats(bench).reports, events * SUBSCRIPTIONS);
	assert_int_equal(bench_stats(bench).reports_unanswered,
			 events * SUBSCRIPTIONS - MOST);
	rig_advance(bench, 800);
	assert_int_equal(bench_stats(bench).reports_unanswered,
			 events * SUBSCRIPTIONS);
}

/*
 * On the real clock, the fd becomes readable, whichever client made the change.
 */
static void report_makes_the_fd_readable(void **state)
{
	static const struct ibsa_fabric_options real = { 0 };
	struct bench bench;
	struct pollfd fd = { .events = POLLIN };

	(void)state;
	bench_start_text(&bench, rig_fabric, "b", &real);
	fd.fd = bench.transport->ops->fd(bench.transport);
	assert_int_equal(rig_listen(bench.transport, true), 0);
	assert_int_equal(rig_inform(&bench, &everything), 0);
	assert_false(bench_receive(&bench));
	assert_int_equal(poll(&fd, 1, 0), 0);
	rig_set_capabilities(&bench, 7);
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(rig_next_trap(&bench), 144);
	/* And at each retry. */
	rig_set_capabilities(&bench, 8);
	assert_true(bench_receive(&bench));
	assert_false(bench_receive(&bench));
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(rig_next_trap(&bench), 144);
	bench_stop(&bench);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, rig_start, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_client_of_a_port_listens),
		TEST(unanswered_report_is_sent_four_times),
		TEST(late_client_receives_all_tries),
		TEST(answer_ends_a_report),
		TEST(waiting_client_receives_the_next_try),
		TEST(reports_without_a_listener_are_lost),
		cmocka_unit_test(answers_stay_when_listening_ends),
		TEST(faults_strike_reports),
		TEST(delayed_answer_counts),
		TEST(reports_are_limited),
		cmocka_unit_test(report_makes_the_fd_readable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
