/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subscriptions: set once for all watches, read back, and set again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/event/rig.h"
#include "wire/mad.h"

enum {
	OF_SM = 1 << 4,
	OF_SWITCH = 1 << 2,
	OF_ALL = 0x1e,
	AUDIT_MS = IBSA_DEFAULT_AUDIT_MS,
	/* until a change of the port is acted on: a read, and at most 500 ms */
	NOTICE_MS = IBSA_DEFAULT_PORT_INTERVAL_MS + 502,
};

static struct diary diary, other;

#define SUBSCRIBED IBSA_EVENT_SUBSCRIBED
#define LOST IBSA_EVENT_LOST
#define FAILED IBSA_EVENT_FAILED
#define REFUSED IBSA_EVENT_REFUSED
#define GAP IBSA_EVENT_GAP

static void assert_info(const struct puppet_mad *mad, int subscribe,
			uint32_t qpn)
{
	struct ibsa_inform_info info;

	ibsa_inform_info_record.decode(mad->mad + NOTICE_AT, &info);
	assert_int_equal(mad->mad[MAD_METHOD], IBSA_METHOD_SET);
	assert_int_equal(info.lid_range_begin, 0xffff);
	assert_int_equal(info.lid_range_end, 0);
	assert_int_equal(info.is_generic, 1);
	assert_int_equal(info.subscribe, subscribe);
	assert_int_equal(info.type, 0xffff);
	assert_int_equal(info.trap_number, 0xffff);
	assert_int_equal(info.qpn, qpn);
	assert_int_equal(info.producer_type, 4);
}

/*
 * By default, a watch subscribes to the SM's traps. The subscription is deleted
 * with the QP that the SA has stored.
 */
static void subscription_has_the_fields_the_sa_requires(void **state)
{
	(void)state;
	sa.is_silent = true;
	watch_begin(NULL, &diary);
	assert_true(puppet.listening);
	time_pass(2);
	assert_int_equal(sa.sets, 1);
	assert_info(&sa.last, 1, 0);
	sa.is_silent = false;
	time_pass(200);
	EXPECT(&diary, 0, SUBSCRIBED);
	assert_int_equal(sa.has, OF_SM);
	ibsa_event_watch_stop(diary.watch);
	time_pass(2);
	assert_info(&sa.last, 0, 1);
	assert_int_equal(sa.has, 0);
	time_pass(2);
	assert_false(puppet.listening);
	assert_int_equal(ibsa_timeout_ms(client), -1);
	assert_int_equal(diary.count, 1);
}

/* Only producer types that report the selected kinds are subscribed to. */
static void producers_are_those_needed(void **state)
{
	(void)state;
	watch_subscribed(IBSA_EVENT_LINK_STATE, &diary);
	assert_int_equal(sa.has, OF_SWITCH);
	watch_subscribed(IBSA_EVENT_LOCAL_CHANGES, &other);
	assert_int_equal(sa.has, 0x0e);
	assert_int_equal(sa.sets, 3);
	ibsa_event_watch_stop(other.watch);
	time_pass(10);
	assert_int_equal(sa.has, OF_SWITCH);
	watch_subscribed(IBSA_EVENT_OTHER, &other);
	assert_int_equal(sa.has, OF_ALL);
	assert_int_equal(diary.count, 1);
}

/* All watches get the same event with the same number; the last watch ends the
 * subscription. */
static void watches_share_a_subscription(void **state)
{
	struct puppet_mad report = report_of(64, 1);

	(void)state;
	watch_subscribed(0, &diary);
	watch_subscribed(IBSA_EVENT_GID_IN, &other);
	assert_int_equal(sa.sets, 1);
	send_report(&report);
	EXPECT(&diary, 1, IBSA_EVENT_GID_IN);
	EXPECT(&other, 1, IBSA_EVENT_GID_IN);
	assert_int_equal(diary.events[1].sequence, other.events[1].sequence);
	assert_true(diary.events[1].sequence > diary.events[0].sequence);
	assert_int_equal(sa.answers, 1);
	ibsa_event_watch_stop(diary.watch);
	time_pass(10);
	assert_int_equal(sa.unsets, 0);
	report = report_of(64, 2);
	send_report(&report);
	assert_int_equal(diary.count, 2);
	assert_int_equal(other.count, 3);
	ibsa_event_watch_stop(other.watch);
	time_pass(10);
	assert_int_equal(sa.unsets, 1);
}

/* Reports are answered until the SA has confirmed the Delete. */
static void late_reports_are_answered(void **state)
{
	struct puppet_mad report = report_of(64, 1);

	(void)state;
	watch_subscribed(0, &diary);
	sa.is_silent = true;
	ibsa_event_watch_stop(diary.watch);
	time_pass(20);
	assert_true(puppet.listening);
	send_report(&report);
	assert_int_equal(sa.answers, 1);
	assert_int_equal(diary.count, 1);
	time_pass(1100);
	assert_false(puppet.listening);
}

/* A watch that begins while the subscription is being deleted or set ends up
 * subscribed. */
static void watch_during_the_delete_is_subscribed(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	ibsa_event_watch_stop(diary.watch);
	sa.is_silent = true;
	time_pass(2);
	assert_int_equal(sa.unsets, 1);
	sa.is_silent = false;
	watch_begin(NULL, &diary);
	time_pass(200);
	assert_int_equal(sa.has, OF_SM);
	EXPECT(&diary, 0, SUBSCRIBED);

	ibsa_event_watch_stop(diary.watch);
	time_pass(10);
	assert_int_equal(sa.has, 0);
	watch_begin(NULL, &diary);
	sa.is_silent = true;
	time_pass(2);
	ibsa_event_watch_stop(diary.watch);
	sa.is_silent = false;
	time_pass(300);
	assert_int_equal(sa.has, 0);
	assert_int_equal(diary.count, 0);
	assert_false(puppet.listening);
}

/* The subscription is read back at the smallest interval of all watches. */
static void subscription_is_read_back(void **state)
{
	const struct ibsa_event_options anxious = { .audit_ms = 1000 };
	struct ibsa_inform_info_rec match;

	(void)state;
	watch_subscribed(0, &diary);
	assert_int_equal(sa.gets, 1);
	ibsa_inform_info_rec_record.decode(sa.last.mad + NOTICE_AT, &match);
	assert_memory_equal(&match.subscriber_gid, &puppet.port.gid, 16);
	assert_in_range(time_pass_until(&sa.gets), AUDIT_MS * 7 / 8,
			AUDIT_MS + 1);
	watch_begin(&anxious, &other);
	assert_in_range(time_pass_until(&sa.gets), 875, 1001);
	assert_in_range(time_pass_until(&sa.gets), 875, 1001);
	ibsa_event_watch_stop(other.watch);
	assert_in_range(time_pass_until(&sa.gets), AUDIT_MS * 7 / 8,
			AUDIT_MS + 1);
	sa.qpn = 1;
	assert_in_range(time_pass_until(&sa.gets), AUDIT_MS * 7 / 8,
			AUDIT_MS + 1);
	assert_int_equal(sa.sets, 1);
	EXPECT(&diary, 0, SUBSCRIBED);
}

/* Watches that begin and end do not delay the read. */
static void audit_is_not_delayed_by_watches(void **state)
{
	const struct ibsa_event_options anxious = { .audit_ms = 1000 };

	(void)state;
	watch_begin(&anxious, &diary);
	time_pass(200);
	assert_int_equal(sa.gets, 1);
	for (int i = 0; i < 5; i++) {
		watch_begin(&anxious, &other);
		time_pass(200);
		ibsa_event_watch_stop(other.watch);
		time_pass(200);
	}
	assert_in_range(sa.gets, 2, 4);
}

/* If one subscription fails, the others are still read back. */
static void audit_continues_beside_a_refusal(void **state)
{
	const struct ibsa_event_options links = {
		.kinds = IBSA_EVENT_LINK_STATE,
	};

	(void)state;
	sa.set_status = 0x0200;
	sa.set_of = OF_SWITCH;
	watch_begin(NULL, &diary);
	watch_begin(&links, &other);
	time_pass(200);
	EXPECT(&diary, 0, SUBSCRIBED);
	EXPECT(&other, 0, REFUSED);
	sa.has = 0;
	time_pass(31000);
	EXPECT(&diary, 0, SUBSCRIBED, LOST, SUBSCRIBED, GAP);
}

/* The SM restarts: the loss is detected, the subscription set again, and then
 * GAP reported. */
static void lost_subscription_is_set_again(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	sa.has = 0;
	time_pass_until(&sa.gets);
	time_pass(10);
	EXPECT(&diary, 0, SUBSCRIBED, LOST, SUBSCRIBED, GAP);
	assert_int_equal(diary.events[1].err, 0);
	assert_true(diary.events[3].sequence > diary.events[2].sequence);
	assert_int_equal(sa.has, OF_SM);
}

/*
 * After a restart, an SM begins its TransactionIDs anew: a Report with the id and the
 * content of one before the restart is another event.
 */
static void report_of_a_restarted_sm_is_another_event(void **state)
{
	const struct ibsa_event_options anxious = { .audit_ms = 1000 };
	const struct puppet_mad report = report_of(65, 7);

	(void)state;
	watch_begin(&anxious, &diary);
	time_pass(200);
	send_report(&report);
	sa.has = 0;
	time_pass_until(&sa.sets);
	time_pass(10);
	send_report(&report);
	EXPECT(&diary, 0, SUBSCRIBED, IBSA_EVENT_GID_OUT, LOST, SUBSCRIBED, GAP,
	       IBSA_EVENT_GID_OUT);
}

/*
 * A subscription with another QP is that of another program: the client reports
 * its own as lost.
 */
static void subscription_of_another_qp_does_not_count(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	sa.qpn = 77;
	time_pass_until(&sa.sets);
	time_pass(10);
	assert_int_equal(expect_event(&diary, 1, LOST)->err, 0);
}

/* One of several subscriptions is lost: only watches that need it get LOST. */
static void loss_is_reported_to_watches_that_need_it(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	watch_subscribed(IBSA_EVENT_LINK_STATE, &other);
	sa.has = OF_SM;
	time_pass_until(&sa.gets);
	time_pass(10);
	EXPECT(&diary, 0, SUBSCRIBED);
	EXPECT(&other, 0, SUBSCRIBED, LOST, SUBSCRIBED, GAP);
	assert_int_equal(sa.has, OF_SM | OF_SWITCH);
}

/* If the SA does not support the read, the subscription is set again at each
 * interval. */
static void subscription_is_set_again_if_reads_are_unsupported(void **state)
{
	(void)state;
	sa.get_status = IBSA_STATUS_BAD_METHOD_ATTRIBUTE;
	watch_subscribed(0, &diary);
	assert_int_equal(sa.gets, 1);
	time_pass(10);
	assert_int_equal(sa.sets, 2);
	assert_in_range(time_pass_until(&sa.sets), AUDIT_MS * 7 / 8,
			AUDIT_MS + 1);
	assert_in_range(time_pass_until(&sa.sets), AUDIT_MS * 7 / 8,
			AUDIT_MS + 1);
	assert_int_equal(sa.gets, 1);
	EXPECT(&diary, 0, SUBSCRIBED);
}

/*
 * The SA has no resources to return the subscriptions. This passes, so the read
 * is retried after the intervals of a failure, not after those of a refusal.
 */
static void read_without_resources_is_retried_soon(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	sa.get_status = IBSA_STATUS_NO_RESOURCES;
	time_pass_until(&sa.gets);
	assert_in_range(time_pass_until(&sa.gets), 700, 1010);
	assert_in_range(time_pass_until(&sa.gets), 1400, 2010);
	EXPECT(&diary, 0, SUBSCRIBED, REFUSED);
	assert_int_equal(diary.events[1].status, IBSA_STATUS_NO_RESOURCES);
	sa.get_status = 0;
	assert_in_range(time_pass_until(&sa.gets), 2900, 4010);
	time_pass(10);
	EXPECT(&diary, 2, SUBSCRIBED, GAP);
	assert_int_equal(sa.sets, 1);
}

/*
 * If the SA does not return a subscription that it has just accepted, the
 * client sets the subscription again at each interval, without a further read.
 */
static void subscription_is_set_again_if_the_sa_hides_it(void **state)
{
	(void)state;
	sa.hides = true;
	watch_subscribed(0, &diary);
	assert_in_range(time_pass_until(&sa.sets), AUDIT_MS * 7 / 8,
			AUDIT_MS + 1);
	assert_int_equal(sa.gets, 1);
	time_pass(10);
	EXPECT(&diary, 0, SUBSCRIBED);
	/* Another SM may return subscriptions. */
	sa.hides = false;
	puppet.port.sm_sl = 3;
	time_pass(2000);
	assert_int_equal(sa.gets, 2);
}

static void refresh_may_fail(void **state)
{
	(void)state;
	sa.hides = true;
	watch_subscribed(0, &diary);
	sa.set_status = IBSA_STATUS_REQ_INVALID;
	sa.set_of = OF_ALL;
	time_pass_until(&sa.sets);
	time_pass(10);
	sa.set_status = 0;
	assert_in_range(time_pass_until(&sa.sets), 45000, 60001);
	time_pass(10);
	EXPECT(&diary, 0, SUBSCRIBED, REFUSED, SUBSCRIBED, GAP);
}

/* A subscription that is being released is not set again. */
static void released_subscription_is_not_set_again(void **state)
{
	(void)state;
	watch_subscribed(IBSA_EVENT_LINK_STATE, &diary);
	watch_subscribed(0, &other);
	sa.get_status = IBSA_STATUS_BAD_METHOD_ATTRIBUTE;
	time_pass_until(&sa.gets);
	ibsa_event_watch_stop(other.watch);
	assert_int_equal(ibsa_dispatch(client), 0);
	time_pass(100);
	assert_int_equal(sa.sets, 3);
	assert_int_equal(sa.unsets, 1);
	assert_int_equal(sa.has, OF_SWITCH);
}

/* Missing replies are reported once, and then a GAP. */
static void missing_replies_are_a_gap(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	sa.is_silent = true;
	time_pass_until(&sa.gets);
	time_pass(20000);
	EXPECT(&diary, 0, SUBSCRIBED, FAILED);
	assert_int_equal(diary.events[1].err, -ETIMEDOUT);
	sa.is_silent = false;
	time_pass(20000);
	EXPECT(&diary, 2, SUBSCRIBED, GAP);
	assert_int_equal(sa.sets, 1);
}

/* A watch that was never subscribed gets no GAP. */
static void first_missing_reply_causes_no_gap(void **state)
{
	unsigned int asked;

	(void)state;
	sa.is_silent = true;
	watch_begin(NULL, &diary);
	time_pass(60 * 1000);
	asked = sa.sets;
	assert_in_range(asked, 20, 60);
	sa.is_silent = false;
	time_pass(60 * 1000);
	EXPECT(&diary, 0, FAILED, SUBSCRIBED);
}

static void busy_sa_is_asked_again(void **state)
{
	(void)state;
	sa.set_status = IBSA_STATUS_BUSY;
	sa.set_of = OF_ALL;
	watch_begin(NULL, &diary);
	time_pass(3000);
	assert_int_equal(expect_event(&diary, 0, FAILED)->err, 0);
	assert_int_equal(diary.events[0].status, IBSA_STATUS_BUSY);
	sa.set_status = 0;
	time_pass(10000);
	EXPECT(&diary, 1, SUBSCRIBED);
}

/* A refusal is retried after a long time; a watch that does not need this
 * subscription is not affected. */
static void refusal_is_reported_and_retried(void **state)
{
	unsigned int before;

	(void)state;
	sa.set_status = IBSA_STATUS_REQ_DENIED;
	sa.set_of = OF_SWITCH;
	watch_subscribed(0, &diary);
	watch_begin(
		&(struct ibsa_event_options){ .kinds = IBSA_EVENT_LINK_STATE },
		&other);
	before = sa.sets;
	time_pass(40 * 1000);
	assert_int_equal(sa.sets, before + 1);
	EXPECT(&other, 0, REFUSED);
	assert_int_equal(other.events[0].status, IBSA_STATUS_REQ_DENIED);
	sa.set_status = 0;
	time_pass(60 * 1000);
	EXPECT(&other, 1, SUBSCRIBED);
	EXPECT(&diary, 0, SUBSCRIBED);
}

/* The retry after a refusal does not depend on earlier missing replies. */
static void missing_replies_do_not_count_as_refusal(void **state)
{
	(void)state;
	sa.is_silent = true;
	watch_begin(NULL, &diary);
	time_pass(600 * 1000);
	sa.is_silent = false;
	sa.set_status = IBSA_STATUS_REQ_INVALID;
	sa.set_of = 0xff;
	while (diary.count < 2)
		time_pass(1000);
	expect_event(&diary, 1, IBSA_EVENT_REFUSED);
	assert_in_range(time_pass_until(&sa.sets), 1, 61 * 1000);
	sa.set_status = 0;
}

/*
 * After a change of the port's LID, or a request to register again, the
 * subscription is set again soon, and a GAP is reported.
 */
static void change_of_the_port_sets_it_again(void **state)
{
	uint32_t lids[] = { 4, 5 };
	unsigned int total = 0;

	(void)state;
	watch_subscribed(0, &diary);
	for (int i = 0; i < 8; i++) {
		unsigned int ms;

		puppet.port.lid = lids[i % 2];
		puppet.port.reregisters += i % 3;
		ms = time_pass_until(&sa.sets);
		assert_in_range(ms, 1, NOTICE_MS);
		total += ms;
		time_pass(10);
	}
	assert_in_range(total, 8 * 10, 8 * (NOTICE_MS - 300));
	EXPECT(&diary, 0, SUBSCRIBED, LOST, SUBSCRIBED, GAP, LOST, SUBSCRIBED,
	       GAP, LOST, SUBSCRIBED, GAP, LOST, SUBSCRIBED, GAP, LOST,
	       SUBSCRIBED, GAP, LOST, SUBSCRIBED, GAP, LOST, SUBSCRIBED, GAP,
	       LOST, SUBSCRIBED, GAP);
}

/* A change of PhysState alone ends no subscription and causes no GAP. */
static void physical_state_sets_nothing_again(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	puppet.port.phys_state ^= 3;
	time_pass(3000);
	assert_int_equal(sa.sets, 1);
	assert_int_equal(diary.count, 1);
}

/* While the port is down nothing is sent; when it is up, the subscription is
 * set at once. */
static void port_that_is_down_is_reported(void **state)
{
	unsigned int asked;

	(void)state;
	watch_subscribed(0, &diary);
	puppet.port.port_state = IBSA_PORT_DOWN;
	time_pass(IBSA_DEFAULT_PORT_INTERVAL_MS + 1);
	asked = puppet.sent_count;
	assert_int_equal(expect_event(&diary, 1, LOST)->err, -ENETDOWN);
	watch_begin(NULL, &other);
	time_pass(60 * 1000);
	assert_int_equal(expect_event(&other, 0, LOST)->err, -ENETDOWN);
	puppet.port.port_state = IBSA_PORT_INIT;
	time_pass(5000);
	assert_int_equal(puppet.sent_count, asked);
	puppet.port.port_state = IBSA_PORT_ARMED;
	assert_in_range(time_pass_until(&sa.sets), 1, NOTICE_MS);
	time_pass(10);
	EXPECT(&diary, 2, SUBSCRIBED, GAP);
	EXPECT(&other, 1, SUBSCRIBED);
}

/*
 * The port changes while a request is in flight: the reply to this request does
 * not count, and the client sends the request again.
 */
static void change_under_a_request_counts(void **state)
{
	(void)state;
	sa.is_silent = true;
	watch_begin(NULL, &diary);
	time_pass(5);
	puppet.port.sm_sl = 5;
	time_pass(1050);
	sa.is_silent = false;
	time_pass(2000);
	EXPECT(&diary, 0, SUBSCRIBED);
	/* The port changes while a read of the subscription is in flight. */
	sa.is_silent = true;
	time_pass_until(&sa.gets);
	puppet.port.reregisters = 1;
	puppet.port_changed = true;
	time_pass(20);
	sa.is_silent = false;
	sa.has = 0;
	time_pass(2000);
	EXPECT(&diary, 0, SUBSCRIBED, LOST, SUBSCRIBED, GAP);
}

/* GAP is reported after the next reply of the SA, not before. */
static void lost_messages_are_a_gap(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	puppet.recv_err = -ENOBUFS;
	time_pass(3);
	assert_int_equal(diary.count, 1);
	puppet.recv_err = 0;
	assert_in_range(time_pass_until(&sa.gets), 1, 502);
	time_pass(10);
	EXPECT(&diary, 0, SUBSCRIBED, GAP);
	assert_int_equal(sa.sets, 1);
}

/* GAP is reported soon, even if another watch begins meanwhile. */
static void gap_is_not_delayed(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	puppet.recv_err = -ENOBUFS;
	time_pass(1);
	puppet.recv_err = 0;
	watch_begin(NULL, &other);
	time_pass(600);
	EXPECT(&diary, 0, SUBSCRIBED, GAP);
	EXPECT(&other, 0, SUBSCRIBED);
}

/*
 * If another program receives the Reports when the client has opened the device
 * file again, FAILED is reported; when they can be received again, a GAP.
 */
static void lost_reports_are_reported(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	puppet.listen_err = -EBUSY;
	time_pass(31000);
	EXPECT(&diary, 0, SUBSCRIBED, FAILED);
	assert_int_equal(diary.events[1].err, -EBUSY);
	puppet.listen_err = 0;
	time_pass(70000);
	EXPECT(&diary, 2, SUBSCRIBED, GAP);
}

static void no_sm_is_waited_for(void **state)
{
	(void)state;
	puppet.port.sm_lid = 0;
	puppet.port_changed = true;
	time_pass(1);
	watch_begin(NULL, &diary);
	time_pass(10);
	assert_int_equal(expect_event(&diary, 0, FAILED)->err, -EAGAIN);
	puppet.port.sm_lid = PUPPET_SM_LID;
	time_pass(2000);
	EXPECT(&diary, 1, SUBSCRIBED);
}

/*
 * A reply with a table that is cut off or invalid does not end the
 * subscription.
 */
static void broken_reads_do_not_count(void **state)
{
	static const struct {
		uint16_t offset;
		size_t len;
	} broken[] = { { 0, 56 + 64 }, { 8, 200 }, { 1, 56 + 8 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct puppet_mad reply;

		watch_subscribed(0, &diary);
		sa.is_silent = true;
		time_pass_until(&sa.gets);
		reply = puppet_answer(&sa.last);
		ibsa_put_be16(reply.mad + MAD_ATTRIBUTE_OFFSET,
			      broken[i].offset);
		reply.len = broken[i].len;
		sa.is_silent = false;
		puppet_deliver(&puppet, &reply);
		time_pass(10);
		assert_int_equal(sa.has, OF_SM);
		assert_true(diary.count == 1 || diary.count == 4);
		ibsa_event_watch_stop(diary.watch);
		time_pass(10);
	}
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(subscription_has_the_fields_the_sa_requires),
		TEST(producers_are_those_needed),
		TEST(watches_share_a_subscription),
		TEST(late_reports_are_answered),
		TEST(watch_during_the_delete_is_subscribed),
		TEST(subscription_is_read_back),
		TEST(audit_is_not_delayed_by_watches),
		TEST(audit_continues_beside_a_refusal),
		TEST(lost_subscription_is_set_again),
		TEST(report_of_a_restarted_sm_is_another_event),
		TEST(subscription_of_another_qp_does_not_count),
		TEST(loss_is_reported_to_watches_that_need_it),
		TEST(subscription_is_set_again_if_reads_are_unsupported),
		TEST(read_without_resources_is_retried_soon),
		TEST(subscription_is_set_again_if_the_sa_hides_it),
		TEST(refresh_may_fail),
		TEST(released_subscription_is_not_set_again),
		TEST(missing_replies_are_a_gap),
		TEST(first_missing_reply_causes_no_gap),
		TEST(busy_sa_is_asked_again),
		TEST(refusal_is_reported_and_retried),
		TEST(missing_replies_do_not_count_as_refusal),
		TEST(change_of_the_port_sets_it_again),
		TEST(physical_state_sets_nothing_again),
		TEST(port_that_is_down_is_reported),
		TEST(change_under_a_request_counts),
		TEST(lost_messages_are_a_gap),
		TEST(gap_is_not_delayed),
		TEST(lost_reports_are_reported),
		TEST(no_sm_is_waited_for),
		TEST(broken_reads_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
