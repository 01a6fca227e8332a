/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports: answered, checked, and delivered once to the watches that select
 * them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/event/rig.h"
#include "wire/mad.h"

static void send_of(uint16_t trap, uint8_t tail)
{
	const struct puppet_mad report = report_of(trap, tail);

	send_report(&report);
}

static void send_of_lid(uint16_t trap, uint16_t lid)
{
	const struct puppet_mad report = report_of_lid(trap, lid);

	send_report(&report);
}

/*
 * The client first sends the response to the sender of the Report: the same MAD
 * with another method.
 */
static void report_is_answered_and_delivered(void **state)
{
	struct puppet_mad report, answer;
	const struct ibsa_event *event;
	static struct diary diary;

	(void)state;
	watch_subscribed(0, &diary);
	report = report_of(65, 9);
	send_report(&report);
	event = expect_event(&diary, 1, IBSA_EVENT_GID_OUT);
	assert_int_equal(diary.answered[1], 1);
	assert_int_equal(diary.close_err, -EBUSY);
	assert_int_equal(event->trap, 65);
	assert_int_equal(event->gid.raw[0], 0xfe);
	assert_int_equal(event->gid.raw[15], 9);
	assert_int_equal(event->lid, 0);
	assert_int_equal(event->port_num, 2);
	assert_int_equal(event->time_ns, puppet.now_ns);
	assert_int_equal(event->err, 0);
	assert_int_equal(diary.notices[1].issuer_lid, PUPPET_SM_LID);
	answer = sa.last_answer;
	assert_int_equal(answer.mad[MAD_METHOD], IBSA_METHOD_REPORT_RESP);
	assert_int_equal(answer.timeout_ms, 0);
	assert_int_equal(answer.len, IBSA_MAD_BYTES);
	assert_memory_equal(&answer.address, &report.address,
			    sizeof(answer.address));
	answer.mad[MAD_METHOD] = IBSA_METHOD_REPORT;
	assert_memory_equal(answer.mad, report.mad, IBSA_MAD_BYTES);
}

static void kinds_are_told_apart(void **state)
{
	static struct diary diary;

	(void)state;
	watch_subscribed(IBSA_EVENT_ALL, &diary);
	send_of(64, 1);
	send_of(66, 2);
	send_of(67, 2);
	send_of_lid(128, 40);
	send_of_lid(144, 41);
	send_of_lid(145, 42);
	send_of_lid(129, 43);
	send_of_lid(257, 44);
	send_of_lid(0, 45);
	send_of_lid(0xfffe, 46);
	EXPECT(&diary, 1, IBSA_EVENT_GID_IN, IBSA_EVENT_GROUP_CREATED,
	       IBSA_EVENT_GROUP_DELETED, IBSA_EVENT_LINK_STATE,
	       IBSA_EVENT_LOCAL_CHANGES, IBSA_EVENT_SYSTEM_IMAGE,
	       IBSA_EVENT_OTHER, IBSA_EVENT_OTHER, IBSA_EVENT_OTHER,
	       IBSA_EVENT_OTHER);
	for (uint32_t i = 0; i < 5; i++) {
		const struct ibsa_gid none = { { 0 } };

		assert_int_equal(diary.events[4 + i].lid, 40 + i);
		assert_memory_equal(&diary.events[4 + i].gid, &none, 16);
	}
	assert_int_equal(diary.events[9].lid, 0);
	assert_int_equal(diary.events[10].lid, 0);
	assert_int_equal(diary.events[10].trap, 0xfffe);
}

/* In a vendor's notice the number is not a trap number. */
static void vendor_notice_is_not_a_trap(void **state)
{
	struct puppet_mad report;
	static struct diary diary;

	(void)state;
	watch_subscribed(IBSA_EVENT_ALL, &diary);
	report = report_of(64, 1);
	report.mad[NOTICE_AT] &= 0x7f;
	send_report(&report);
	report = report_of_lid(144, 5);
	report.mad[NOTICE_AT] &= 0x7f;
	send_report(&report);
	EXPECT(&diary, 1, IBSA_EVENT_OTHER, IBSA_EVENT_OTHER);
	assert_int_equal(diary.events[1].trap, 64);
	assert_int_equal(diary.events[1].gid.raw[15], 0);
	assert_int_equal(diary.events[2].lid, 0);
	assert_int_equal(diary.notices[1].is_generic, 0);
}

static void kinds_and_gids_filter(void **state)
{
	const struct ibsa_gid gids[] = { { { 0xff, 0x12 } },
					 { { 0xfe, 0x80, [15] = 3 } },
					 { { 0xfe, 0x80, [15] = 1 } } };
	const struct ibsa_event_options options = {
		.kinds = IBSA_EVENT_GID_OUT | IBSA_EVENT_LINK_STATE,
		.gids = gids,
		.gid_count = 3,
	};
	static struct diary diary;

	(void)state;
	watch_begin(&options, &diary);
	time_pass(10);
	for (uint8_t tail = 1; tail < 5; tail++) {
		send_of(64, tail);
		send_of(65, tail);
	}
	send_of_lid(128, 1);
	send_of_lid(144, 1);
	EXPECT(&diary, 0, IBSA_EVENT_SUBSCRIBED, IBSA_EVENT_GID_OUT,
	       IBSA_EVENT_GID_OUT, IBSA_EVENT_LINK_STATE);
	assert_int_equal(diary.events[1].gid.raw[15], 1);
	assert_int_equal(diary.events[2].gid.raw[15], 3);
	assert_int_equal(sa.answers, 10);
}

/*
 * The response to a Report is lost, so the SA sends the Report several times;
 * it is delivered once.
 */
static void repeated_report_is_delivered_once(void **state)
{
	struct puppet_mad report;
	static struct diary diary;

	(void)state;
	watch_subscribed(IBSA_EVENT_ALL, &diary);
	report = report_of_lid(128, 4);
	send_report(&report);
	for (int i = 0; i < 3; i++) {
		time_pass(200);
		send_report(&report);
	}
	EXPECT(&diary, 1, IBSA_EVENT_LINK_STATE);
	assert_int_equal(sa.answers, 4);
	/*
	 * A Report with another transaction id is another event, even for the
	 * same switch.
	 */
	send_of_lid(128, 4);
	EXPECT(&diary, 1, IBSA_EVENT_LINK_STATE, IBSA_EVENT_LINK_STATE);
	/*
	 * A Report with the same transaction id but other content is another
	 * event: an SM may start its ids again.
	 */
	report = report_of_lid(128, 5);
	sa.next_id--;
	send_report(&report);
	report = report_of_lid(144, 5);
	send_report(&report);
	assert_int_equal(diary.count, 5);
	/* The same Report is another event after a long time. */
	time_pass(11000);
	send_report(&report);
	assert_int_equal(diary.count, 6);
}

/*
 * The SA may send a Report twice because it still has an outdated subscription.
 */
static void second_copy_is_delivered_once(void **state)
{
	static struct diary diary;

	(void)state;
	watch_subscribed(0, &diary);
	send_of(65, 1);
	send_of(65, 1);
	send_of(65, 2);
	send_of(65, 1);
	EXPECT(&diary, 1, IBSA_EVENT_GID_OUT, IBSA_EVENT_GID_OUT);
	time_pass(1100);
	send_of(65, 1);
	assert_int_equal(diary.count, 4);
}

/* A port that leaves, joins and leaves within a second causes three events. */
static void flapping_is_delivered_in_full(void **state)
{
	struct puppet_mad first;
	static struct diary diary;

	(void)state;
	watch_subscribed(0, &diary);
	first = report_of(65, 1);
	send_report(&first);
	send_of(64, 1);
	send_report(&first);
	send_of(65, 1);
	send_of(64, 1);
	/*
	 * A multicast group whose MGID equals the port's GID has its own
	 * events.
	 */
	send_of(66, 1);
	send_of(64, 1);
	EXPECT(&diary, 1, IBSA_EVENT_GID_OUT, IBSA_EVENT_GID_IN,
	       IBSA_EVENT_GID_OUT, IBSA_EVENT_GID_IN, IBSA_EVENT_GROUP_CREATED);
}

/* The history is limited: after very many Reports, an old one is delivered
 * again. */
static void history_is_limited(void **state)
{
	static struct diary diary;
	static struct diary few;

	(void)state;
	watch_subscribed(IBSA_EVENT_LINK_STATE, &few);
	watch_subscribed(IBSA_EVENT_GID_IN, &diary);
	send_of(64, 1);
	send_of(64, 1);
	assert_int_equal(diary.count, 2);
	for (uint16_t i = 0; i < 255; i++)
		send_of_lid(144, i);
	send_of(64, 1);
	assert_int_equal(diary.count, 2);
	for (uint16_t i = 0; i < 256; i++)
		send_of_lid(144, i);
	send_of(64, 1);
	assert_int_equal(diary.count, 3);
	assert_int_equal(few.count, 1);
}

/* A message that is not a valid notice is answered with a status, and not
 * delivered. */
static void hostile_reports_are_answered(void **state)
{
	struct puppet_mad report;
	static struct diary diary;

	(void)state;
	watch_subscribed(IBSA_EVENT_ALL, &diary);
	report = report_of(64, 1);
	report.len = NOTICE_AT + NOTICE_BYTES - 1;
	send_report(&report);
	assert_int_equal(ibsa_be16(sa.last_answer.mad + MAD_STATUS), 0x001c);
	assert_int_equal(sa.last_answer.len, IBSA_MAD_BYTES);
	assert_int_equal(sa.last_answer.mad[NOTICE_AT + NOTICE_BYTES], 0);
	report = report_of(64, 1);
	ibsa_put_be16(report.mad + MAD_ATTRIBUTE, 0x0035);
	send_report(&report);
	assert_int_equal(ibsa_be16(sa.last_answer.mad + MAD_STATUS), 0x000c);
	report = report_of(64, 1);
	report.mad[MAD_CLASS_VERSION] = 1;
	send_report(&report);
	assert_int_equal(ibsa_be16(sa.last_answer.mad + MAD_STATUS), 0x0004);
	report = report_of(64, 1);
	report.len = PUPPET_BYTES;
	memset(report.mad + IBSA_MAD_BYTES, 0xff, 100);
	ibsa_put_be16(report.mad + MAD_ATTRIBUTE, 0);
	send_report(&report);
	assert_int_equal(sa.last_answer.len, IBSA_MAD_BYTES);
	assert_int_equal(sa.answers, 4);
	EXPECT(&diary, 0, IBSA_EVENT_SUBSCRIBED);
}

/* The status is reserved in a Report: whatever it is, the response's is 0. */
static void status_of_a_report_is_ignored(void **state)
{
	struct puppet_mad report;
	static struct diary diary;

	(void)state;
	watch_subscribed(0, &diary);
	report = report_of(64, 1);
	ibsa_put_be16(report.mad + MAD_STATUS, 0x0700);
	send_report(&report);
	EXPECT(&diary, 1, IBSA_EVENT_GID_IN);
	assert_int_equal(ibsa_be16(sa.last_answer.mad + MAD_STATUS), 0);
}

/* The Report of another port is answered, so that it is not repeated, but not
 * delivered. */
static void report_of_another_port_is_not_delivered(void **state)
{
	struct puppet_mad report;
	struct ibsa_stats stats;
	static struct diary diary;

	(void)state;
	watch_subscribed(0, &diary);
	report = report_of(64, 1);
	report.address.lid = PUPPET_SM_LID + 1;
	send_report(&report);
	assert_int_equal(sa.answers, 1);
	EXPECT(&diary, 0, IBSA_EVENT_SUBSCRIBED);
	ibsa_stats_get(client, &stats);
	assert_int_equal(stats.ignored_source, 1);
}

/* If the response cannot be sent, the SA repeats the Report. */
static void answer_may_fail(void **state)
{
	struct puppet_mad report;
	static struct diary diary;

	(void)state;
	watch_subscribed(0, &diary);
	report = report_of(64, 1);
	puppet.send_err = -EAGAIN;
	send_report(&report);
	puppet.send_err = 0;
	EXPECT(&diary, 1, IBSA_EVENT_GID_IN);
	send_report(&report);
	assert_int_equal(sa.answers, 1);
	assert_int_equal(diary.count, 2);
}

/* Reports may arrive before the response to the subscription. */
static void report_before_the_reply_is_delivered(void **state)
{
	struct puppet_mad report;
	static struct diary diary;

	(void)state;
	sa.is_silent = true;
	watch_begin(NULL, &diary);
	time_pass(5);
	assert_int_equal(sa.sets, 1);
	report = report_of(64, 1);
	send_report(&report);
	EXPECT(&diary, 0, IBSA_EVENT_GID_IN);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(report_is_answered_and_delivered),
		TEST(kinds_are_told_apart),
		TEST(vendor_notice_is_not_a_trap),
		TEST(kinds_and_gids_filter),
		TEST(repeated_report_is_delivered_once),
		TEST(second_copy_is_delivered_once),
		TEST(flapping_is_delivered_in_full),
		TEST(history_is_limited),
		TEST(hostile_reports_are_answered),
		TEST(status_of_a_report_is_ignored),
		TEST(report_of_another_port_is_not_delivered),
		TEST(answer_may_fail),
		TEST(report_before_the_reply_is_delivered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
