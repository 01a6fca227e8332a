/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches: invalid options, their end, and what callbacks may do. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "test/event/rig.h"

enum { WINDOW = IBSA_DEFAULT_WINDOW };

static struct diary diary, other, third;

static int try(const struct ibsa_event_options *options, ibsa_event_fn happened)
{
	struct ibsa_event_watch *watch = NULL;
	struct ibsa_error error = { .text = "" };
	int err = ibsa_event_watch_start(client, options, happened, NULL,
					 &error, &watch);

	assert_null(watch);
	assert_true(error.text[0]);
	assert_false(puppet.listening);
	assert_int_equal(ibsa_timeout_ms(client), -1);
	return err;
}

static void misuse_is_refused(void **state)
{
	const struct ibsa_gid gid = { { 1 } };
	const struct ibsa_event_options wrong[] = {
		{ .kinds = IBSA_EVENT_GAP },
		{ .kinds = IBSA_EVENT_GID_IN | 0x100 },
		{ .gids = &gid },
		{ .gid_count = 1 },
		{ .gids = &gid, .gid_count = IBSA_EVENT_GIDS_MAX + 1 },
	};

	(void)state;
	assert_int_equal(try(NULL, NULL), -EINVAL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(try(&wrong[i], note), -EINVAL);
	ibsa_event_watch_stop(NULL);
}

/* A watch accepts a filter with the largest number of GIDs. */
static void all_gids_are_taken(void **state)
{
	static struct ibsa_gid gids[IBSA_EVENT_GIDS_MAX];
	const struct ibsa_event_options options = {
		.gids = gids, .gid_count = IBSA_EVENT_GIDS_MAX
	};
	struct puppet_mad report = report_of(64, 7);

	(void)state;
	for (uint32_t i = 0; i < IBSA_EVENT_GIDS_MAX; i++)
		ibsa_put_be32(gids[i].raw + 12, i * 2654435761u);
	gids[1000] = (struct ibsa_gid){ { 0xfe, 0x80, [15] = 7 } };
	watch_begin(&options, &diary);
	time_pass(10);
	send_report(&report);
	report = report_of(64, 8);
	send_report(&report);
	EXPECT(&diary, 0, IBSA_EVENT_SUBSCRIBED, IBSA_EVENT_GID_IN);
}

static bool rig_holder(struct ibsa_transport *transport, struct ibsa_error *out)
{
	(void)transport;
	strcpy(out->text, "pid 7 \033 at H1");
	return true;
}

static void holder_note(const struct ibsa_event *event, void *arg)
{
	struct ibsa_error *seen = arg;

	if (event->holder)
		strcpy(seen->text, event->holder);
}

/*
 * If a watch fails after it began, its event names the process that receives
 * the Reports, as the error of ibsa_event_watch_start() does.
 */
static void holder_is_named(void **state)
{
	static struct ibsa_transport_ops ops;
	static struct ibsa_error seen, error;
	struct ibsa_event_watch *watch;

	(void)state;
	ops = *puppet.transport.ops;
	seen.text[0] = '\0';
	ops.holder = rig_holder;
	assert_int_equal(ibsa_event_watch_start(client, NULL, holder_note,
						&seen, NULL, &watch),
			 0);
	time_pass(100);
	puppet.transport.ops = &ops;
	puppet.listen_err = -EBUSY;
	time_pass(31000);
	assert_string_equal(seen.text, "pid 7 \\x1b at H1");
	ibsa_event_watch_stop(watch);
	time_pass(100);
	assert_int_equal(ibsa_event_watch_start(client, NULL, note, NULL,
						&error, &watch),
			 -EBUSY);
	assert_non_null(strstr(error.text, "; pid 7 \\x1b at H1"));
	puppet.listen_err = 0;
	watch_subscribed(0, &diary);
}

/*
 * The message says that another program receives the Reports, and what to do.
 */
static void owner_is_named(void **state)
{
	struct ibsa_event_watch *watch;
	struct ibsa_error error;

	(void)state;
	puppet.listen_err = -EBUSY;
	assert_int_equal(try(NULL, note), -EBUSY);
	assert_int_equal(ibsa_event_watch_start(client, NULL, note, NULL,
						&error, &watch),
			 -EBUSY);
	assert_non_null(strstr(error.text, "another program"));
	assert_non_null(strstr(error.text, "use another port"));
	assert_int_equal(ibsa_event_watch_start(client, NULL, note, NULL, NULL,
						&watch),
			 -EBUSY);
	puppet.listen_err = -ENODEV;
	assert_int_equal(try(NULL, note), -ENODEV);
	puppet.listen_err = 0;
	watch_subscribed(0, &diary);
}

static void transport_without_reports_is_refused(void **state)
{
	struct ibsa_transport_ops without_listen = *puppet.transport.ops;
	const struct ibsa_transport_ops *ops = puppet.transport.ops;

	(void)state;
	without_listen.listen = NULL;
	puppet.transport.ops = &without_listen;
	assert_int_equal(try(NULL, note), -EOPNOTSUPP);
	puppet.transport.ops = ops;
}

/* A callback may end its own watch; the other watch still gets events. */
static void callback_ends_its_own_watch(void **state)
{
	struct puppet_mad report = report_of(64, 1);

	(void)state;
	watch_subscribed(0, &diary);
	watch_subscribed(0, &other);
	diary.victim = diary.watch;
	send_report(&report);
	assert_int_equal(diary.count, 2);
	assert_int_equal(other.count, 2);
	report = report_of(64, 2);
	send_report(&report);
	assert_int_equal(diary.count, 2);
	assert_int_equal(other.count, 3);
}

static void callback_ends_another_watch(void **state)
{
	struct puppet_mad report = report_of(64, 1);

	(void)state;
	watch_subscribed(0, &diary);
	watch_subscribed(0, &other);
	watch_subscribed(0, &third);
	diary.victim = other.watch;
	third.victim = diary.watch;
	send_report(&report);
	assert_int_equal(diary.count, 2);
	assert_int_equal(other.count, 1);
	assert_int_equal(third.count, 2);
}

/* The last watch ends in its callback: the client stops listening. */
static void callback_ends_the_last_watch(void **state)
{
	struct puppet_mad report = report_of(64, 1);

	(void)state;
	watch_subscribed(0, &diary);
	sa.is_silent = true;
	diary.victim = diary.watch;
	send_report(&report);
	time_pass(1100);
	assert_false(puppet.listening);
	assert_int_equal(diary.count, 2);
	watch_begin(NULL, &other);
	puppet.send_err = -EIO;
	other.victim = other.watch;
	time_pass(10);
	EXPECT(&other, 0, IBSA_EVENT_FAILED);
	assert_int_equal(other.events[0].err, -EIO);
	assert_false(puppet.listening);
	puppet.send_err = 0;
}

/* A watch that begins in a callback gets only later events. */
static void callback_begins_a_watch(void **state)
{
	struct puppet_mad report = report_of(64, 1);

	(void)state;
	watch_subscribed(0, &diary);
	diary.starts = &other;
	send_report(&report);
	assert_int_equal(other.count, 0);
	time_pass(3);
	EXPECT(&other, 0, IBSA_EVENT_SUBSCRIBED);
	report = report_of(64, 2);
	send_report(&report);
	EXPECT(&other, 1, IBSA_EVENT_GID_IN);
}

static void reopen(void)
{
	assert_int_equal(rig_set_up(NULL), 0);
}

/* Closing deletes the subscriptions and reports ENDED to all watches that have
 * not ended. */
static void close_unsubscribes(void **state)
{
	const struct ibsa_event *last;

	(void)state;
	watch_subscribed(IBSA_EVENT_ALL, &diary);
	watch_subscribed(0, &other);
	watch_subscribed(0, &third);
	ibsa_event_watch_stop(third.watch);
	other.victim = other.watch;
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(sa.has, 0);
	assert_int_equal(sa.unsets, 4);
	assert_false(puppet.listening);
	last = expect_event(&diary, 1, IBSA_EVENT_ENDED);
	assert_int_equal(last->err, 0);
	assert_int_equal(last->status, 0);
	EXPECT(&other, 1, IBSA_EVENT_ENDED);
	assert_int_equal(third.count, 1);
	reopen();
}

/*
 * If the SA does not answer, closing takes a limited time, and ENDED has the
 * error -ETIMEDOUT.
 */
static void close_takes_a_limited_time(void **state)
{
	uint64_t start_ns;

	(void)state;
	watch_subscribed(0, &diary);
	sa.is_silent = true;
	start_ns = puppet.now_ns;
	assert_int_equal(ibsa_close(client), 0);
	assert_in_range(puppet.now_ns - start_ns, 1000 * (uint64_t)MS,
			2000 * (uint64_t)MS);
	assert_int_equal(expect_event(&diary, 1, IBSA_EVENT_ENDED)->err,
			 -ETIMEDOUT);
	assert_int_equal(diary.count, 2);
	reopen();
}

static int broken_wait(struct ibsa_transport *transport, int timeout_ms)
{
	(void)transport;
	(void)timeout_ms;
	return -EIO;
}

/*
 * If the transport's wait fails, it is not known whether the SA got the Delete.
 */
static void close_reports_a_failed_wait(void **state)
{
	struct ibsa_transport_ops ops = *puppet.transport.ops;

	(void)state;
	ops.wait = broken_wait;
	watch_subscribed(0, &diary);
	puppet.transport.ops = &ops;
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(expect_event(&diary, 1, IBSA_EVENT_ENDED)->err,
			 -ECANCELED);
	assert_false(puppet.listening);
	reopen();
}

static void close_reports_the_status_of_the_sa(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	sa.set_status = IBSA_STATUS_REQ_INVALID;
	sa.set_of = 0x1e;
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(expect_event(&diary, 1, IBSA_EVENT_ENDED)->status,
			 IBSA_STATUS_REQ_INVALID);
	reopen();
}

/*
 * The SA has no such subscription at the second try, because it has carried out
 * the first, whose reply was lost.
 */
static void close_accepts_a_lost_reply(void **state)
{
	(void)state;
	watch_subscribed(0, &diary);
	sa.loses_unset = true;
	assert_int_equal(ibsa_close(client), 0);
	assert_in_range(sa.unsets, 2, 8);
	assert_int_equal(sa.has, 0);
	assert_int_equal(expect_event(&diary, 1, IBSA_EVENT_ENDED)->status, 0);
	reopen();
}

/*
 * If the client is closed while a Set is in flight, it deletes the
 * subscription; a Set that was not sent yet is not sent.
 */
static void close_while_subscribing(void **state)
{
	(void)state;
	watch_begin(NULL, &diary);
	time_pass(1);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(sa.unsets, 1);
	assert_int_equal(sa.has, 0);
	EXPECT(&diary, 0, IBSA_EVENT_ENDED);
	reopen();
	/* before anything was sent */
	watch_begin(NULL, &diary);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(sa.sets, 0);
	EXPECT(&diary, 0, IBSA_EVENT_ENDED);
	reopen();
	/* during the read */
	watch_subscribed(0, &diary);
	sa.is_silent = true;
	time_pass_until(&sa.gets);
	sa.is_silent = false;
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(sa.has, 0);
	EXPECT(&diary, 1, IBSA_EVENT_ENDED);
	reopen();
}

static void watch_at_the_end(const struct ibsa_event *event, void *arg)
{
	struct ibsa_event_watch *watch;

	if (event->kind == IBSA_EVENT_ENDED)
		*(int *)arg = ibsa_event_watch_start(client, NULL, note, NULL,
						     NULL, &watch);
}

static void closing_client_takes_no_watch(void **state)
{
	struct ibsa_event_watch *watch;
	int err = 0;

	(void)state;
	assert_int_equal(ibsa_event_watch_start(client, NULL, watch_at_the_end,
						&err, NULL, &watch),
			 0);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(err, -ESHUTDOWN);
	reopen();
}

static void kinds_have_names(void **state)
{
	(void)state;
	assert_string_equal(ibsa_event_name(IBSA_EVENT_GID_IN), "gid-in");
	assert_string_equal(ibsa_event_name(IBSA_EVENT_OTHER), "other");
	assert_string_equal(ibsa_event_name(IBSA_EVENT_GAP), "gap");
	assert_string_equal(ibsa_event_name(IBSA_EVENT_ENDED), "ended");
	assert_null(ibsa_event_name(0));
	assert_null(ibsa_event_name(IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT));
}

/* Other queries fill the window for longer than a deadline: the Set waits and
 * is sent when there is room. */
static void full_window_is_waited_for(void **state)
{
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.no_sharing = true,
		.deadline_ms = 30000,
	};

	(void)state;
	sa.is_silent = true;
	for (int i = 0; i < WINDOW; i++)
		assert_int_equal(
			ibsa_query_start(client, &query, NULL, NULL, NULL), 0);
	watch_begin(NULL, &diary);
	time_pass(29000);
	assert_int_equal(diary.count, 0);
	sa.is_silent = false;
	time_pass(2000);
	EXPECT(&diary, 0, IBSA_EVENT_SUBSCRIBED);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(misuse_is_refused),
		TEST(all_gids_are_taken),
		TEST(holder_is_named),
		TEST(owner_is_named),
		TEST(transport_without_reports_is_refused),
		TEST(callback_ends_its_own_watch),
		TEST(callback_ends_another_watch),
		TEST(callback_ends_the_last_watch),
		TEST(callback_begins_a_watch),
		TEST(close_unsubscribes),
		TEST(close_takes_a_limited_time),
		TEST(close_reports_a_failed_wait),
		TEST(close_reports_the_status_of_the_sa),
		TEST(close_accepts_a_lost_reply),
		TEST(close_while_subscribing),
		TEST(closing_client_takes_no_watch),
		TEST(full_window_is_waited_for),
		TEST(kinds_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
