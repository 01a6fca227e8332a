/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memberships that end by themselves: the port changes, or the SA loses them.
 */
#include "ib_sa/state.h"
#include "test/ib_sa/multicast_rig.h"
#include "wire/mad.h"

enum {
	SET = IBSA_METHOD_SET,
	DELETE = IBSA_METHOD_DELETE,
	GET = IBSA_METHOD_GET,
	POLL_MS = IBSA_DEFAULT_PORT_INTERVAL_MS,
	/*
	 * Milliseconds in which groups are read or joined again after a change
	 * of the port.
	 */
	SPREAD_MS = 500,
	AUDIT_MS = IBSA_DEFAULT_AUDIT_MS,
	JITTER_MS = AUDIT_MS / 8,
};

static struct plug plug;
static struct member a;

static int start(void **state)
{
	(void)state;
	memset(&a, 0, sizeof(a));
	plug_start(&plug, NULL);
	member_join_accepted(&plug, 1, FULL, &a);
	a.calls = 0;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ib_sa_free_multicast(a.multicast);
	plug_stop(&plug);
	return 0;
}

/*
 * Let time pass after a change of the port: the library detects the change at
 * the next poll, and acts on it soon after.
 */
static void port_change_notice(void)
{
	plug_run(&plug, POLL_MS);
	plug_run(&plug, SPREAD_MS);
	plug_run(&plug, 0);
}

static void assert_reset(void)
{
	assert_int_equal(a.calls, 1);
	assert_int_equal(a.status, -ENETRESET);
	assert_false(group_is_joined(&plug, 1, FULL));
	assert_int_equal(plug.puppet.sent_count, 1);
}

static void assert_unchanged(void)
{
	assert_int_equal(a.calls, 0);
	assert_true(group_is_joined(&plug, 1, FULL));
}

static void port_that_goes_down_resets(void **state)
{
	(void)state;
	plug.puppet.port.port_state = IBSA_PORT_DOWN;
	port_change_notice();
	assert_reset();
	plug.puppet.port.port_state = IBSA_PORT_ACTIVE;
	port_change_notice();
	assert_int_equal(a.calls, 1);
}

/*
 * If the port was down, and is active again when the library polls its state,
 * the memberships end (reset).
 */
static void port_that_was_down_meanwhile_resets(void **state)
{
	struct ibsa_client *client =
		ibsa__sa_port_find(plug.rig.device, 1)->client;
	struct ibsa_port_state port;

	(void)state;
	plug.puppet.port.port_state = IBSA_PORT_DOWN;
	assert_int_equal(ibsa_port_get(client, true, &port), 0);
	plug.puppet.port.port_state = IBSA_PORT_ACTIVE;
	assert_int_equal(ibsa_port_get(client, true, &port), 0);
	port_change_notice();
	assert_reset();
}

/*
 * The port was down before the program joins, and the library has not detected
 * it yet: the new membership has not ended, only the older one has.
 */
static void change_before_a_join_does_not_end_it(void **state)
{
	struct member b = { 0 };

	(void)state;
	plug.puppet.port.reregisters++;
	member_join(&plug, 2, FULL, &b);
	assert_request(&plug, 2, SET, 2, FULL);
	sa_accept(&plug);
	port_change_notice();
	assert_int_equal(a.status, -ENETRESET);
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.status, 0);
	assert_true(group_is_joined(&plug, 2, FULL));
	ib_sa_free_multicast(b.multicast);
}

/*
 * In LinkErrorRecovery, the memberships stay: the port stays active, and the
 * kernel has no event for it.
 */
static void physical_state_keeps_memberships(void **state)
{
	enum { LINK_UP = 5, RECOVERY = 6 };

	(void)state;
	plug.puppet.port.phys_state = LINK_UP;
	port_change_notice();
	plug.puppet.port.phys_state = RECOVERY;
	port_change_notice();
	plug.puppet.port.phys_state = LINK_UP;
	port_change_notice();
	assert_unchanged();
	assert_int_equal(plug.puppet.sent_count, 1);
}

static void other_lid_resets(void **state)
{
	(void)state;
	plug.puppet.port.lid++;
	port_change_notice();
	assert_reset();
}

static void reregistration_resets(void **state)
{
	(void)state;
	plug.puppet.port.reregisters++;
	port_change_notice();
	assert_reset();
}

/*
 * The SL of the SM, the GID, and the index of the default P_Key change, but not
 * the index of the group's P_Key: the membership stays.
 */
static void other_changes_keep_memberships(void **state)
{
	(void)state;
	plug.puppet.port.sm_sl++;
	plug.puppet.port.gid.raw[15]++;
	plug.puppet.port.pkey_index++;
	plug.pkeys[1] = 0xffff;
	port_change_notice();
	assert_unchanged();
}

static void pkey_that_moves_resets(void **state)
{
	(void)state;
	plug.pkeys[0] = 0x8001;
	plug.pkeys[1] = 0xffff;
	plug.puppet.port.pkey_index = 1;
	port_change_notice();
	assert_reset();
}

/*
 * A limited member of a partition has a P_Key without the full membership bit.
 */
static void pkey_that_loses_its_full_membership_stays(void **state)
{
	(void)state;
	plug.pkeys[0] = 0x7fff;
	plug.puppet.port.pkey_index = 1;
	port_change_notice();
	assert_unchanged();
}

/*
 * Let the library detect and report a change of the port; it does not yet send
 * the delayed requests.
 */
static void port_change_report(void)
{
	plug_run(&plug, POLL_MS);
	plug_run(&plug, 0);
}

/*
 * Members are told at once, as in the kernel, because data for the group may be
 * lost from now on.
 */
static void reregistration_is_told_at_once(void **state)
{
	(void)state;
	plug.puppet.port.reregisters++;
	port_change_report();
	assert_reset();
	plug_run(&plug, SPREAD_MS);
	plug_run(&plug, 0);
	assert_reset();
}

static void pkey_that_moves_is_told_at_once(void **state)
{
	(void)state;
	plug.pkeys[0] = 0x8001;
	plug.pkeys[1] = 0xffff;
	plug.puppet.port.pkey_index = 1;
	port_change_report();
	assert_reset();
}

/* Members of many groups are told at once, but their requests are spread. */
static void lost_group_is_joined_soon(void **state)
{
	struct member b = { 0 };

	(void)state;
	a.rejoins = true;
	plug.puppet.port.reregisters++;
	port_change_report();
	assert_reset();
	member_join(&plug, 1, FULL, &b);
	assert_int_equal(plug.puppet.sent_count, 1);
	plug_run(&plug, SPREAD_MS);
	plug_run(&plug, 0);
	assert_request(&plug, 2, SET, 1, FULL);
	sa_accept(&plug);
	assert_int_equal(a.calls, 2);
	assert_int_equal(a.status, 0);
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.status, 0);
	ib_sa_free_multicast(b.multicast);
}

/* A member that is freed meanwhile does not join; other groups do not wait. */
static void lost_group_may_be_left(void **state)
{
	struct member b = { 0 }, c = { 0 };

	(void)state;
	plug.puppet.port.reregisters++;
	port_change_report();
	member_join(&plug, 1, FULL, &b);
	member_leave(&plug, &b);
	member_join_accepted(&plug, 2, FULL, &c);
	plug_run(&plug, SPREAD_MS);
	plug_run(&plug, 0);
	assert_int_equal(plug.puppet.sent_count, 2);
	assert_int_equal(b.calls, 0);
	member_join_accepted(&plug, 1, FULL, &b);
	ib_sa_free_multicast(b.multicast);
	ib_sa_free_multicast(c.multicast);
}

/* The device closes while a group waits to join. */
static void lost_group_ends_with_the_device(void **state)
{
	(void)state;
	a.rejoins = true;
	plug.puppet.port.reregisters++;
	port_change_report();
	assert_reset();
}

/* A read in flight that the SA does not answer does not delay the new join. */
static void lost_group_does_not_wait_for_a_read(void **state)
{
	unsigned int before;

	(void)state;
	a.rejoins = true;
	plug_run(&plug, AUDIT_MS);
	plug.puppet.port.reregisters++;
	port_change_report();
	assert_int_equal(a.status, -ENETRESET);
	before = plug.puppet.sent_count;
	plug_run(&plug, SPREAD_MS);
	plug_run(&plug, 0);
	assert_request(&plug, before + 1, SET, 1, FULL);
	sa_accept(&plug);
	assert_int_equal(a.status, 0);
}

/*
 * The request in flight is answered first; then the member that waits for it
 * sends the request again.
 */
static void member_that_waits_asks_again(void **state)
{
	struct member b = { 0 };

	(void)state;
	member_join(&plug, 1, FULL | NON, &b);
	plug.puppet.port.reregisters++;
	port_change_notice();
	plug.puppet.sent_count = 2; /* without retries */
	assert_int_equal(a.calls, 0);
	sa_accept(&plug);
	assert_int_equal(a.status, -ENETRESET);
	assert_int_equal(b.calls, 0);
	assert_request(&plug, 3, SET, 1, FULL | NON);
	sa_accept(&plug);
	assert_int_equal(b.status, 0);
	ib_sa_free_multicast(b.multicast);
}

static void member_joins_again_from_its_callback(void **state)
{
	(void)state;
	a.rejoins = true;
	plug.puppet.port.reregisters++;
	port_change_notice();
	assert_int_equal(a.status, -ENETRESET);
	assert_request(&plug, 2, SET, 1, FULL);
	sa_accept(&plug);
	assert_int_equal(a.calls, 2);
	assert_int_equal(a.status, 0);
	assert_true(group_is_joined(&plug, 1, FULL));
}

/*
 * After the SA has deleted a group, a join shares the freed membership until
 * the request to leave was sent. Then ib_sa_get_mcmember_rec() fails, and a
 * join sends a request.
 */
static void deleted_group_is_joined_after_it_was_left(void **state)
{
	struct member b = { 0 };

	(void)state;
	ib_sa_free_multicast(a.multicast);
	member_join(&plug, 1, FULL, &b);
	assert_int_equal(b.calls, 1);
	assert_int_equal(plug.puppet.sent_count, 1);
	assert_true(group_is_joined(&plug, 1, FULL));
	member_leave(&plug, &b);
	assert_request(&plug, 2, DELETE, 1, FULL);
	assert_false(group_is_joined(&plug, 1, FULL));
	member_join(&plug, 1, FULL, &a);
	sa_refuse(&plug, IBSA_STATUS_REQ_INVALID);
	assert_request(&plug, 3, SET, 1, FULL);
	sa_accept(&plug);
	assert_int_equal(a.calls, 1);
	assert_int_equal(a.status, 0);
}

/* The SA is queried regularly for the membership. */
static void membership_is_read_back(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		plug_run(&plug, AUDIT_MS - JITTER_MS - 1);
		assert_int_equal(plug.puppet.sent_count, 1 + i);
		plug_run(&plug, JITTER_MS + 1);
		assert_request(&plug, 2 + i, GET, 1, 0);
		sa_accept(&plug);
		plug_run(&plug, 0);
		assert_unchanged();
		plug_run(&plug, 0);
	}
}

static void forgotten_membership_resets(void **state)
{
	(void)state;
	plug_run(&plug, AUDIT_MS);
	sa_refuse(&plug, IBSA_STATUS_NO_RECORDS);
	plug_run(&plug, 0);
	plug.puppet.sent_count = 1;
	assert_reset();
	plug_run(&plug, AUDIT_MS);
	assert_int_equal(plug.puppet.sent_count, 1);
}

/* Neither a timeout nor a refusal ends the membership. */
static void no_answer_says_nothing(void **state)
{
	(void)state;
	plug_run(&plug, AUDIT_MS);
	sa_refuse(&plug, IBSA_STATUS_NO_RESOURCES);
	plug_run(&plug, AUDIT_MS);
	assert_int_equal(plug.puppet.sent_count, 3);
	plug_run(&plug, 3000);
	plug_run(&plug, 0);
	assert_unchanged();
}

/* After a timeout, the membership is read again before its interval ends. */
static void silence_is_asked_again(void **state)
{
	unsigned int before;

	(void)state;
	plug_run(&plug, AUDIT_MS);
	plug_run(&plug, 3000);
	plug_run(&plug, 0);
	before = plug.puppet.sent_count;
	plug_run(&plug, 1000);
	assert_int_equal(plug.puppet.sent_count, before + 1);
	assert_request(&plug, before + 1, GET, 1, 0);
	sa_refuse(&plug, IBSA_STATUS_NO_RECORDS);
	plug_run(&plug, 0);
	assert_int_equal(a.status, -ENETRESET);
}

/* A reply to a read that was sent before the join is ignored. */
static void stale_answer_says_nothing(void **state)
{
	struct member b = { 0 };
	struct puppet_mad read;

	(void)state;
	plug_run(&plug, AUDIT_MS);
	read = puppet_answer(puppet_sent(&plug.puppet, 1));
	read.mad[MAD_STATUS + 1] = 0;
	read.mad[MAD_STATUS] = IBSA_STATUS_NO_RECORDS >> 8;
	member_join(&plug, 1, NON, &b);
	sa_accept(&plug);
	assert_int_equal(b.status, 0);
	puppet_deliver(&plug.puppet, &read);
	plug_run(&plug, 0);
	plug_run(&plug, 0);
	assert_int_equal(a.calls, 0);
	assert_true(group_is_joined(&plug, 1, FULL | NON));
	ib_sa_free_multicast(b.multicast);
}

/* A new SM may not have the membership: it is queried soon. */
static void new_sm_is_asked_soon(void **state)
{
	(void)state;
	plug.puppet.port.sm_lid++;
	plug_run(&plug, POLL_MS);
	assert_int_equal(plug.puppet.sent_count, 1);
	plug_run(&plug, 1000);
	assert_request(&plug, 2, GET, 1, 0);
	sa_refuse(&plug, IBSA_STATUS_NO_RECORDS);
	plug_run(&plug, 0);
	plug.puppet.sent_count = 1;
	assert_reset();
}

/*
 * After a change of the SM, the membership must be read, and the read is due
 * while a member joins. It is sent soon after the join, not after another
 * interval.
 */
static void read_during_a_join_comes_soon(void **state)
{
	struct member b = { 0 };
	unsigned int before;

	(void)state;
	plug.puppet.port.sm_lid++;
	member_join(&plug, 1, FULL | NON, &b);
	plug_run(&plug, POLL_MS);
	plug_run(&plug, SPREAD_MS);
	plug_run(&plug, 0);
	sa_accept(&plug);
	assert_int_equal(b.status, 0);
	before = plug.puppet.sent_count;
	plug_run(&plug, SPREAD_MS);
	plug_run(&plug, 0);
	assert_request(&plug, before + 1, GET, 1, 0);
	ib_sa_free_multicast(b.multicast);
}

/*
 * A P_Key that has moved to another index without an event is found by the
 * audit.
 */
static void audit_checks_the_pkey(void **state)
{
	(void)state;
	plug.pkeys[0] = 0x8001;
	plug_run(&plug, AUDIT_MS);
	plug_run(&plug, 0);
	plug.puppet.sent_count = 1;
	assert_reset();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(port_that_goes_down_resets),
		TEST(port_that_was_down_meanwhile_resets),
		TEST(change_before_a_join_does_not_end_it),
		TEST(physical_state_keeps_memberships),
		TEST(other_lid_resets),
		TEST(reregistration_resets),
		TEST(other_changes_keep_memberships),
		TEST(pkey_that_moves_resets),
		TEST(pkey_that_loses_its_full_membership_stays),
		TEST(reregistration_is_told_at_once),
		TEST(pkey_that_moves_is_told_at_once),
		TEST(lost_group_is_joined_soon),
		TEST(lost_group_may_be_left),
		TEST(lost_group_ends_with_the_device),
		TEST(lost_group_does_not_wait_for_a_read),
		TEST(member_that_waits_asks_again),
		TEST(member_joins_again_from_its_callback),
		TEST(deleted_group_is_joined_after_it_was_left),
		TEST(membership_is_read_back),
		TEST(forgotten_membership_resets),
		TEST(no_answer_says_nothing),
		TEST(silence_is_asked_again),
		TEST(stale_answer_says_nothing),
		TEST(new_sm_is_asked_soon),
		TEST(read_during_a_join_comes_soon),
		TEST(audit_checks_the_pkey),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
