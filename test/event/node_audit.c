/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The audit of nodes finds changes without a Report, and nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/event/rig.h"
#include "test/support/fail_alloc.h"

enum { AUDIT_MS = IBSA_DEFAULT_AUDIT_MS, SOON_MS = 600 };

static const struct ibsa_event_options audited = { .audit_nodes = true };

/*
 * Begin a watch with an audit of nodes, and run until the SA has answered the
 * first table query.
 */
static void watch_nodes(const char *tails, struct diary *diary)
{
	set_nodes(tails);
	watch_begin(&audited, diary);
	time_pass(SOON_MS);
	EXPECT(diary, 0, IBSA_EVENT_SUBSCRIBED);
	assert_int_equal(sa.tables, 1);
}

static void send_of(uint16_t trap, uint8_t tail)
{
	const struct puppet_mad report = report_of(trap, tail);

	send_report(&report);
}

/*
 * Check that the @n-th event is about the port whose GUID ends with @tail, and
 * whether the audit found it.
 */
static void assert_port(const struct diary *diary, int n,
			enum ibsa_event_kind kind, uint8_t tail, bool by_audit)
{
	const struct ibsa_event *event = expect_event(diary, n, kind);

	assert_int_equal(event->gid.raw[0], 0xfe);
	assert_int_equal(event->gid.raw[15], tail);
	assert_int_equal(event->trap, kind == IBSA_EVENT_GID_IN ? 64 : 65);
	assert_int_equal(event->audited, by_audit);
	assert_int_equal(!event->notice, by_audit);
}

/*
 * Let time pass until the next query for the table is in flight; do not answer
 * it.
 */
static void hold_next_table(void)
{
	sa.holds_table = true;
	time_pass_until(&sa.tables);
}

/* The ports of the first table are not reported; SUBSCRIBED comes after it. */
static void first_table_is_awaited(void **state)
{
	static struct diary diary;

	(void)state;
	sa.holds_table = true;
	set_nodes("\1\7\11");
	watch_begin(&audited, &diary);
	time_pass(SOON_MS);
	assert_in_range(sa.tables, 1, 4);
	assert_int_equal(diary.count, 0);
	sa.holds_table = false;
	serve_table();
	time_pass(10);
	EXPECT(&diary, 0, IBSA_EVENT_SUBSCRIBED);
}

/* A port that joined and a port that left are each reported once, within an
 * interval. */
static void lost_report_is_found_by_the_audit(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	set_nodes("\1\5\7\11");
	time_pass(AUDIT_MS + 10);
	assert_int_equal(diary.count, 3);
	assert_port(&diary, 1, IBSA_EVENT_GID_IN, 5, true);
	assert_port(&diary, 2, IBSA_EVENT_GID_IN, 9, true);
	assert_true(diary.events[1].sequence < diary.events[2].sequence);
	set_nodes("\5\11\1");
	time_pass(AUDIT_MS + 10);
	assert_int_equal(diary.count, 4);
	assert_port(&diary, 3, IBSA_EVENT_GID_OUT, 7, true);
	time_pass(3 * AUDIT_MS);
	assert_int_equal(diary.count, 4);
}

/* Without audit_nodes, the SA gets no request for the table. */
static void audit_is_off_by_default(void **state)
{
	static struct diary diary;

	(void)state;
	watch_subscribed(0, &diary);
	set_nodes("\1");
	time_pass(3 * AUDIT_MS);
	assert_int_equal(sa.tables, 0);
	EXPECT(&diary, 0, IBSA_EVENT_SUBSCRIBED);
}

/* The audit does not repeat what a Report announced. */
static void reported_changes_are_delivered_once(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	send_of(64, 9);
	send_of(65, 7);
	set_nodes("\1\11");
	time_pass(3 * AUDIT_MS);
	assert_int_equal(diary.count, 3);
	assert_port(&diary, 1, IBSA_EVENT_GID_IN, 9, false);
	assert_port(&diary, 2, IBSA_EVENT_GID_OUT, 7, false);
}

/*
 * A Report that comes before the reply with the table may be newer than the
 * table: the table does not undo it.
 */
static void report_overtakes_the_table(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	hold_next_table();
	send_of(64, 9);
	send_of(65, 7);
	send_of(65, 12);
	set_nodes("\1\7\14");
	serve_table();
	sa.holds_table = false;
	set_nodes("\1\11");
	time_pass(2 * AUDIT_MS);
	assert_int_equal(diary.count, 4);
	assert_port(&diary, 1, IBSA_EVENT_GID_IN, 9, false);
	assert_port(&diary, 2, IBSA_EVENT_GID_OUT, 7, false);
	assert_port(&diary, 3, IBSA_EVENT_GID_OUT, 12, false);
}

/*
 * The port changes after the Report that came before the table: the next table
 * shows the change.
 */
static void change_after_a_report_is_found(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	hold_next_table();
	send_of(65, 7);
	serve_table();
	sa.holds_table = false;
	time_pass(AUDIT_MS + 10);
	assert_int_equal(diary.count, 3);
	assert_port(&diary, 2, IBSA_EVENT_GID_IN, 7, true);
}

/* A Report of a change that an audit has found is delivered only to watches
 * without audit_nodes. */
static void late_report_is_not_delivered_again(void **state)
{
	static struct diary diary, other;

	(void)state;
	watch_nodes("\1\7", &diary);
	watch_begin(NULL, &other);
	time_pass(10);
	set_nodes("\1");
	time_pass_until(&sa.tables);
	time_pass(10);
	assert_port(&diary, 1, IBSA_EVENT_GID_OUT, 7, true);
	EXPECT(&other, 0, IBSA_EVENT_SUBSCRIBED);
	send_of(65, 7);
	assert_int_equal(diary.count, 2);
	assert_port(&other, 1, IBSA_EVENT_GID_OUT, 7, false);
	assert_int_equal(sa.answers, 1);
	send_of(64, 7);
	assert_port(&diary, 2, IBSA_EVENT_GID_IN, 7, false);
	send_of(65, 7);
	time_pass(2000);
	send_of(65, 7);
	assert_int_equal(diary.count, 5);
	assert_int_equal(other.count, 5);
}

/*
 * If the SA has no nodes, does not answer, or refuses, this is reported; no
 * port is reported as gone, and the subscription stays.
 */
static void failure_is_reported_and_retried(void **state)
{
	static struct diary diary;
	const struct ibsa_event *event;

	(void)state;
	watch_nodes("\1\7", &diary);
	set_nodes("");
	time_pass(AUDIT_MS);
	event = expect_event(&diary, 1, IBSA_EVENT_FAILED);
	assert_int_equal(event->err, -ENODATA);
	assert_true(event->audited);
	sa.node_status = IBSA_STATUS_NO_RECORDS;
	time_pass(AUDIT_MS);
	assert_int_equal(diary.count, 2);
	sa.node_status = IBSA_STATUS_REQ_INVALID;
	time_pass(AUDIT_MS);
	event = expect_event(&diary, 2, IBSA_EVENT_REFUSED);
	assert_int_equal(event->status, IBSA_STATUS_REQ_INVALID);
	assert_true(event->audited);
	send_of(65, 7);
	assert_port(&diary, 3, IBSA_EVENT_GID_OUT, 7, false);
	sa.node_status = 0;
	set_nodes("\1\11");
	time_pass(20 * AUDIT_MS);
	assert_int_equal(diary.count, 6);
	expect_event(&diary, 4, IBSA_EVENT_SUBSCRIBED);
	assert_port(&diary, 5, IBSA_EVENT_GID_IN, 9, true);
}

/*
 * The audit's failure is reported although the subscription has failed with the
 * same error before: now Reports come, and only the table is missing.
 */
static void failure_of_the_table_alone_is_reported(void **state)
{
	static struct diary diary;

	(void)state;
	set_nodes("\1\7");
	sa.is_silent = true;
	watch_begin(&audited, &diary);
	time_pass(3000);
	assert_int_equal(expect_event(&diary, 0, IBSA_EVENT_FAILED)->err,
			 -ETIMEDOUT);
	assert_false(diary.events[0].audited);
	sa.holds_table = true;
	sa.is_silent = false;
	time_pass(2 * AUDIT_MS);
	assert_int_equal(diary.count, 2);
	assert_int_equal(expect_event(&diary, 1, IBSA_EVENT_FAILED)->err,
			 -ETIMEDOUT);
	assert_true(diary.events[1].audited);
}

/* A GAP is reported although the SA refuses the table. */
static void refusal_does_not_hide_a_gap(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	sa.node_status = IBSA_STATUS_REQ_INVALID;
	time_pass(AUDIT_MS);
	expect_event(&diary, 1, IBSA_EVENT_REFUSED);
	puppet.port.sm_sl++;
	time_pass(3000);
	EXPECT(&diary, 2, IBSA_EVENT_LOST, IBSA_EVENT_REFUSED, IBSA_EVENT_GAP);
}

/* Return: the index of the first event of @kind. */
static int first_of(const struct diary *diary, enum ibsa_event_kind kind)
{
	int n = 0;

	while (n < diary->count && diary->events[n].kind != kind)
		n++;
	expect_event(diary, n, kind);
	return n;
}

/* If the SA does not answer, the audit is retried within an interval, however
 * long this lasts. */
static void missing_replies_do_not_delay_the_audit(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	sa.is_silent = true;
	time_pass(20 * AUDIT_MS);
	sa.is_silent = false;
	set_nodes("\1");
	time_pass(2 * AUDIT_MS);
	expect_event(&diary, 1, IBSA_EVENT_FAILED);
	assert_port(&diary, first_of(&diary, IBSA_EVENT_GID_OUT),
		    IBSA_EVENT_GID_OUT, 7, true);
	time_pass(AUDIT_MS);
	first_of(&diary, IBSA_EVENT_GAP);
	assert_int_not_equal(diary.events[diary.count - 1].kind,
			     IBSA_EVENT_FAILED);
}

/* The SM restarts while the table is being read: the reply is ignored, because
 * it may be from either SM. Changes are reported after the GAP. */
static void table_of_the_old_sm_does_not_count(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	hold_next_table();
	puppet.port.reregisters++;
	puppet.port_changed = true;
	time_pass(1);
	set_nodes("\1");
	serve_table();
	sa.holds_table = false;
	set_nodes("\1\7\11");
	time_pass(2 * SOON_MS);
	EXPECT(&diary, 1, IBSA_EVENT_LOST, IBSA_EVENT_SUBSCRIBED,
	       IBSA_EVENT_GAP, IBSA_EVENT_GID_IN);
	assert_port(&diary, 4, IBSA_EVENT_GID_IN, 9, true);
}

/* When the transport has lost messages, the next audit comes soon. */
static void lost_messages_cause_an_audit(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	puppet.recv_err = -EIO;
	time_pass(1);
	puppet.recv_err = 0;
	set_nodes("\1");
	time_pass(2 * SOON_MS);
	assert_port(&diary, diary.count - 1, IBSA_EVENT_GID_OUT, 7, true);
}

/* Deliver the Report of a port that joined, without memory to store it. */
static void send_join_without_memory(uint8_t tail)
{
	fail_alloc_after(0);
	send_of(64, tail);
	fail_alloc_after(-1);
}

/*
 * A port that joined cannot be stored. The table is read soon, so that the next
 * audit reports that the port has left again.
 */
static void report_that_cannot_be_stored_causes_an_audit(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	send_join_without_memory(9);
	assert_port(&diary, 1, IBSA_EVENT_GID_IN, 9, false);
	set_nodes("\1\7\11");
	time_pass(SOON_MS);
	assert_int_equal(sa.tables, 2);
	set_nodes("\1\7");
	time_pass(AUDIT_MS + 10);
	assert_port(&diary, diary.count - 1, IBSA_EVENT_GID_OUT, 9, true);
}

/* After an audit, the list of ports has no room for further ports. */
static void list_is_as_long_as_the_table(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	time_pass_until(&sa.tables);
	time_pass(10);
	send_join_without_memory(9);
	time_pass(SOON_MS);
	assert_int_equal(sa.tables, 3);
}

/* A port without a LID neither joins nor leaves. */
static void port_without_lid_does_not_count(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	set_nodes("\1\7\11");
	sa.without_lid = 9;
	time_pass(AUDIT_MS);
	sa.without_lid = 7;
	set_nodes("\1\7");
	time_pass(AUDIT_MS);
	assert_int_equal(diary.count, 1);
	set_nodes("\1\7\11");
	time_pass(AUDIT_MS);
	assert_int_equal(diary.count, 2);
	assert_port(&diary, 1, IBSA_EVENT_GID_IN, 9, true);
}

/*
 * If a port has several NodeRecords, one of them with a LID is enough, whatever
 * their order. A record with GUID 0 is ignored.
 */
static void odd_table_is_accepted(void **state)
{
	static struct diary diary;

	(void)state;
	watch_nodes("\1\7", &diary);
	sa.hollow = 2;
	set_nodes("\11\7\2\7\1\11");
	time_pass(AUDIT_MS);
	assert_int_equal(diary.count, 2);
	assert_port(&diary, 1, IBSA_EVENT_GID_IN, 9, true);
	set_nodes("\7\11\2\11\1\7");
	time_pass(AUDIT_MS);
	assert_int_equal(diary.count, 2);
	sa.hollow = 0;
	sa.nodes[0] = 0;
	sa.node_count = 1;
	time_pass(AUDIT_MS);
	assert_int_equal(diary.count, 3);
	assert_int_equal(expect_event(&diary, 2, IBSA_EVENT_FAILED)->err,
			 -ENODATA);
}

static void filters_hold(void **state)
{
	static const struct ibsa_gid nine = { { 0xfe, 0x80, [15] = 9 } };
	static struct diary some, out;

	(void)state;
	set_nodes("\1\7");
	watch_begin(&(struct ibsa_event_options){ .audit_nodes = true,
						  .gids = &nine,
						  .gid_count = 1 },
		    &some);
	watch_begin(&(struct ibsa_event_options){ .audit_nodes = true,
						  .kinds = IBSA_EVENT_GID_OUT },
		    &out);
	time_pass(SOON_MS);
	set_nodes("\1\10\11");
	time_pass(AUDIT_MS);
	EXPECT(&some, 0, IBSA_EVENT_SUBSCRIBED, IBSA_EVENT_GID_IN);
	assert_port(&some, 1, IBSA_EVENT_GID_IN, 9, true);
	EXPECT(&out, 0, IBSA_EVENT_SUBSCRIBED, IBSA_EVENT_GID_OUT);
	assert_port(&out, 1, IBSA_EVENT_GID_OUT, 7, true);
}

/* The callback of the first of several changes ends the watch. */
static void watch_ends_in_its_callback(void **state)
{
	static struct diary diary;
	const unsigned int before = sa.unsets;

	(void)state;
	watch_nodes("\1\2\3", &diary);
	diary.victim = diary.watch;
	set_nodes("\1\7\10\11");
	time_pass(AUDIT_MS);
	assert_int_equal(diary.count, 2);
	assert_int_equal(sa.unsets, before + 1);
	sa.tables = 0;
	time_pass(3 * AUDIT_MS);
	assert_int_equal(sa.tables, 0);
	assert_int_equal(diary.count, 2);
}

/* The last watch with audit_nodes ends while a table is being read, and another
 * one begins: it gets a table of its own. */
static void audit_ends_and_begins(void **state)
{
	static struct diary plain, first, second;

	(void)state;
	watch_subscribed(0, &plain);
	watch_nodes("\1\7", &first);
	hold_next_table();
	ibsa_event_watch_stop(first.watch);
	watch_begin(&audited, &second);
	serve_table();
	time_pass(10);
	assert_int_equal(second.count, 0);
	sa.holds_table = false;
	set_nodes("\1");
	time_pass(2 * SOON_MS);
	EXPECT(&second, 0, IBSA_EVENT_SUBSCRIBED);
	EXPECT(&plain, 0, IBSA_EVENT_SUBSCRIBED);
}

/* The interval is the smallest of the watches with audit_nodes, not of all. */
static void interval_is_that_of_audit_nodes(void **state)
{
	static struct diary often, seldom;
	const struct ibsa_event_options quick = { .audit_ms = 1000 };

	(void)state;
	watch_nodes("\1", &seldom);
	watch_begin(&quick, &often);
	sa.tables = 0;
	time_pass(10 * AUDIT_MS);
	assert_in_range(sa.tables, 10, 12);
}

static void audit_takes_ports(void **state)
{
	const struct ibsa_event_options groups = {
		.audit_nodes = true,
		.kinds = IBSA_EVENT_GROUP_CREATED,
	};
	struct ibsa_event_watch *out;
	static struct diary diary;

	(void)state;
	assert_int_equal(ibsa_event_watch_start(client, &groups, note, &diary,
						NULL, &out),
			 -EINVAL);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(first_table_is_awaited),
		TEST(lost_report_is_found_by_the_audit),
		TEST(audit_is_off_by_default),
		TEST(reported_changes_are_delivered_once),
		TEST(report_overtakes_the_table),
		TEST(change_after_a_report_is_found),
		TEST(late_report_is_not_delivered_again),
		TEST(failure_is_reported_and_retried),
		TEST(failure_of_the_table_alone_is_reported),
		TEST(refusal_does_not_hide_a_gap),
		TEST(missing_replies_do_not_delay_the_audit),
		TEST(table_of_the_old_sm_does_not_count),
		TEST(lost_messages_cause_an_audit),
		TEST(report_that_cannot_be_stored_causes_an_audit),
		TEST(list_is_as_long_as_the_table),
		TEST(port_without_lid_does_not_count),
		TEST(odd_table_is_accepted),
		TEST(filters_hold),
		TEST(watch_ends_in_its_callback),
		TEST(audit_ends_and_begins),
		TEST(interval_is_that_of_audit_nodes),
		TEST(audit_takes_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
