/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Joining and leaving: requests to the SA, and callbacks of members. */
#include "ib_sa/group.h"
#include "test/ib_sa/multicast_rig.h"
#include "wire/mad.h"

enum { SET = IBSA_METHOD_SET, DELETE = IBSA_METHOD_DELETE };

static struct plug plug;

static int start(void **state)
{
	(void)state;
	plug_start(&plug, NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	plug_stop(&plug);
	return 0;
}

/* Free the member, and let the SA answer the request to leave. */
static void member_leave_accepted(struct member *member)
{
	member_leave(&plug, member);
	sa_accept(&plug);
}

/*
 * The first member sends the join request, and the last sends the leave
 * request.
 */
static void group_is_joined_and_left(void **state)
{
	struct member a = { 0 };

	(void)state;
	member_join(&plug, 1, FULL, &a);
	assert_request(&plug, 1, SET, 1, FULL);
	assert_false(group_is_joined(&plug, 1, FULL));
	sa_accept(&plug);
	assert_int_equal(a.calls, 1);
	assert_int_equal(a.status, 0);
	assert_int_equal(a.rec.join_state, FULL);
	assert_true(group_is_joined(&plug, 1, FULL));
	assert_false(group_is_joined(&plug, 2, FULL));
	member_leave(&plug, &a);
	assert_request(&plug, 2, DELETE, 1, FULL);
	sa_accept(&plug);
	assert_false(group_is_joined(&plug, 1, FULL));
	assert_int_equal(a.calls, 1);
}

static void second_join_is_answered_here(void **state)
{
	struct member a = { 0 };
	struct member b = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	member_join(&plug, 1, FULL, &b);
	assert_int_equal(plug.puppet.sent_count, 1);
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(be32toh(b.rec.qkey), QKEY);
	member_leave(&plug, &a);
	assert_int_equal(plug.puppet.sent_count, 1);
	member_leave_accepted(&b);
	assert_request(&plug, 2, DELETE, 1, FULL);
}

/*
 * A field of a second join's record, and whether the existing group matches
 * it.
 */
struct fit {
	const char *what;
	ib_sa_comp_mask mask;
	struct ib_sa_mcmember_rec rec;
	bool fits;
};

#define MTU_MASK (IB_SA_MCMEMBER_REC_MTU | IB_SA_MCMEMBER_REC_MTU_SELECTOR)
#define RATE_MASK (IB_SA_MCMEMBER_REC_RATE | IB_SA_MCMEMBER_REC_RATE_SELECTOR)
#define LIFE_MASK                              \
	(IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME | \
	 IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME_SELECTOR)

/* clang-format off */
#define FIT(field, bits, value, fits) \
	{ #field, bits, { .field = value }, fits }
#define FIT_QUANTITY(field, bits, code, how, fits) \
	{ #field, bits, { .field##_selector = how, .field = code }, fits }

/*
 * Rate code 3 is 10 Gb/s, 2 is 2.5, 5 is 5: the speed may be lower with a
 * higher code.
 */
static const struct fit fits[] = {
	FIT(qkey, 0, 1, true),
	FIT(qkey, IB_SA_MCMEMBER_REC_QKEY, 1, false),
	FIT(mlid, IB_SA_MCMEMBER_REC_MLID, 1, false),
	FIT(traffic_class, IB_SA_MCMEMBER_REC_TRAFFIC_CLASS, 1, false),
	FIT(traffic_class, IB_SA_MCMEMBER_REC_TRAFFIC_CLASS, 0, true),
	FIT(pkey, IB_SA_MCMEMBER_REC_PKEY, 0xffff, true),
	FIT(pkey, IB_SA_MCMEMBER_REC_PKEY, 0x7fff, false),
	FIT(sl, IB_SA_MCMEMBER_REC_SL, 1, false),
	FIT(flow_label, IB_SA_MCMEMBER_REC_FLOW_LABEL, 1, false),
	FIT(hop_limit, IB_SA_MCMEMBER_REC_HOP_LIMIT, 1, false),
	FIT(scope, IB_SA_MCMEMBER_REC_SCOPE, 1, false),
	FIT(proxy_join, IB_SA_MCMEMBER_REC_PROXY_JOIN, 1, true),
	FIT_QUANTITY(mtu, MTU_MASK, 4, IB_SA_EQ, true),
	FIT_QUANTITY(mtu, MTU_MASK, 3, IB_SA_EQ, false),
	FIT_QUANTITY(mtu, MTU_MASK, 3, IB_SA_GT, true),
	FIT_QUANTITY(mtu, MTU_MASK, 4, IB_SA_GT, false),
	FIT_QUANTITY(mtu, MTU_MASK, 5, IB_SA_LT, true),
	FIT_QUANTITY(mtu, MTU_MASK, 4, IB_SA_LT, false),
	FIT_QUANTITY(mtu, MTU_MASK, 1, IB_SA_BEST, true),
	FIT_QUANTITY(mtu, IB_SA_MCMEMBER_REC_MTU, 1, IB_SA_EQ, true),
	FIT_QUANTITY(rate, RATE_MASK, 3, IB_SA_EQ, true),
	FIT_QUANTITY(rate, RATE_MASK, 5, IB_SA_GT, true),
	FIT_QUANTITY(rate, RATE_MASK, 5, IB_SA_LT, false),
	FIT_QUANTITY(packet_life_time, LIFE_MASK, 19, IB_SA_LT, true),
	FIT_QUANTITY(packet_life_time, LIFE_MASK, 18, IB_SA_LT, false),
};
/* clang-format on */

static void group_of_another_kind_is_refused(void **state)
{
	struct member a = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
		const struct ib_sa_mcmember_rec base = group_rec(1, FULL);
		struct ib_sa_mcmember_rec rec = fits[i].rec;
		struct member b = { 0 };

		rec.mgid = base.mgid;
		rec.port_gid = base.port_gid;
		rec.join_state = FULL;
		join_as(&plug, &rec, GROUP_MASK | fits[i].mask, &b);
		assert_int_equal(b.calls, 1);
		if (b.status != (fits[i].fits ? 0 : -EINVAL))
			fail_msg("%zu: %s: %d", i, fits[i].what, b.status);
		member_leave(&plug, &b);
	}
	assert_int_equal(plug.puppet.sent_count, 1);
	member_leave_accepted(&a);
}

/*
 * As in the kernel, the join state of the record counts, whether or not the
 * component mask selects it.
 */
static void join_state_counts_without_its_bit(void **state)
{
	const ib_sa_comp_mask mask = GROUP_MASK &
				     ~IB_SA_MCMEMBER_REC_JOIN_STATE;
	struct ib_sa_mcmember_rec rec = group_rec(1, FULL);
	struct member a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	join_as(&plug, &rec, mask, &b);
	assert_int_equal(plug.puppet.sent_count, 1);
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.status, 0);
	rec.join_state = NON;
	join_as(&plug, &rec, mask, &c);
	assert_int_equal(plug.puppet.sent_count, 2);
	sa_refuse(&plug, IBSA_STATUS_REQ_INSUFFICIENT);
	assert_int_equal(c.status, -EINVAL);
	member_leave(&plug, &c);
	member_leave(&plug, &b);
	member_leave_accepted(&a);
}

static void other_port_gid_is_refused(void **state)
{
	struct ib_sa_mcmember_rec rec = group_rec(1, FULL);
	struct member a = { 0 };
	struct member b = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	rec.port_gid.raw[15]++;
	join_as(&plug, &rec, GROUP_MASK, &b);
	assert_int_equal(b.status, -EINVAL);
	member_leave(&plug, &b);
	member_leave_accepted(&a);
}

/* Each bit of the join state has its own count of members. */
static void states_are_counted_apart(void **state)
{
	struct member full = { 0 };
	struct member both = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &full);
	member_join(&plug, 1, FULL | SEND_ONLY, &both);
	assert_request(&plug, 2, SET, 1, FULL | SEND_ONLY);
	sa_accept(&plug);
	assert_int_equal(both.status, 0);
	assert_true(group_is_joined(&plug, 1, FULL | SEND_ONLY));
	member_leave(&plug, &full);
	assert_int_equal(plug.puppet.sent_count, 2);
	member_join(&plug, 1, FULL, &full);
	member_leave_accepted(&both);
	assert_request(&plug, 3, DELETE, 1, SEND_ONLY);
	assert_true(group_is_joined(&plug, 1, FULL));
	member_leave_accepted(&full);
	assert_request(&plug, 4, DELETE, 1, FULL);
}

/*
 * A group has one request in flight at a time; a waiting member is accepted by
 * the reply to this request, or sends the next request.
 */
static void members_wait_for_one_request(void **state)
{
	struct member a = { 0 };
	struct member b = { 0 };
	struct member c = { 0 };

	(void)state;
	member_join(&plug, 1, FULL, &a);
	member_join(&plug, 1, FULL, &b);
	member_join(&plug, 1, NON, &c);
	assert_int_equal(plug.puppet.sent_count, 1);
	sa_refuse(&plug, IBSA_STATUS_REQ_INVALID);
	assert_int_equal(a.status, -EINVAL);
	assert_int_equal(b.calls, 0);
	assert_request(&plug, 2, SET, 1, FULL);
	sa_accept(&plug);
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(c.calls, 0);
	assert_request(&plug, 3, SET, 1, NON);
	sa_accept(&plug);
	assert_int_equal(c.status, 0);
	ib_sa_free_multicast(a.multicast);
	ib_sa_free_multicast(b.multicast);
	member_leave_accepted(&c);
	assert_request(&plug, 4, DELETE, 1, FULL | NON);
}

/*
 * A membership is freed before the reply to its join comes: the library then
 * leaves the group at the SA.
 */
static void member_is_freed_while_it_waits(void **state)
{
	struct member a = { 0 };
	struct member b = { 0 };

	(void)state;
	member_join(&plug, 1, FULL, &a);
	member_join(&plug, 1, FULL, &b);
	member_leave(&plug, &b);
	member_leave(&plug, &a);
	assert_int_equal(plug.puppet.sent_count, 1);
	sa_accept(&plug);
	assert_request(&plug, 2, DELETE, 1, FULL);
	sa_accept(&plug);
	assert_int_equal(a.calls + b.calls, 0);
}

/*
 * A join that is requested while the group is being left is sent after the
 * reply to the leave request.
 */
static void group_is_joined_again_while_it_is_left(void **state)
{
	struct member a = { 0 };
	struct member b = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	member_leave(&plug, &a);
	member_join(&plug, 1, FULL, &b);
	assert_request(&plug, 2, DELETE, 1, FULL);
	sa_accept(&plug);
	assert_request(&plug, 3, SET, 1, FULL);
	sa_accept(&plug);
	assert_int_equal(b.status, 0);
	member_leave_accepted(&b);
}

/*
 * MGID 0: the SA chooses a group for each request, and other members can join
 * it.
 */
static void sa_chooses_the_group(void **state)
{
	struct member a = { 0 };
	struct member b = { 0 };
	struct member c = { 0 };

	(void)state;
	member_join(&plug, 0, FULL, &a);
	assert_request(&plug, 1, SET, 0, FULL);
	agree_on(&plug, 77);
	member_join(&plug, 0, FULL, &b);
	assert_request(&plug, 2, SET, 0, FULL);
	agree_on(&plug, 78);
	assert_int_equal(a.rec.mgid.raw[15], 77);
	assert_int_equal(b.rec.mgid.raw[15], 78);
	member_join(&plug, 77, FULL, &c);
	assert_int_equal(plug.puppet.sent_count, 2);
	assert_int_equal(c.status, 0);
	member_leave(&plug, &c);
	member_leave_accepted(&a);
	assert_request(&plug, 3, DELETE, 77, FULL);
	member_leave_accepted(&b);
	assert_request(&plug, 4, DELETE, 78, FULL);
}

/*
 * A reply to a join that is about another group, or has no record, is an
 * error.
 */
static void reply_about_another_group_is_an_error(void **state)
{
	struct member a = { 0 };
	struct member b = { 0 };

	(void)state;
	member_join(&plug, 1, FULL, &a);
	agree_on(&plug, 2);
	assert_int_equal(a.status, -EIO);
	member_join(&plug, 0, FULL, &b);
	agree_on(&plug, 0);
	assert_int_equal(b.status, -EIO);
	assert_int_equal(plug.puppet.sent_count, 2);
	member_leave(&plug, &a);
	member_leave(&plug, &b);
}

static void silence_ends_after_three_seconds(void **state)
{
	struct member a = { 0 };

	(void)state;
	member_join(&plug, 1, FULL, &a);
	plug_run(&plug, 2999);
	assert_int_equal(a.calls, 0);
	plug_run(&plug, 1);
	assert_int_equal(a.status, -ETIMEDOUT);
	member_leave(&plug, &a);
}

/*
 * As in the kernel: one request per group at a time, each with its own timeout.
 */
static void silence_ends_after_three_seconds_a_request(void **state)
{
	enum { MEMBERS = 5 };
	static struct member members[MEMBERS];

	(void)state;
	memset(members, 0, sizeof(members));
	for (int i = 0; i < MEMBERS; i++)
		member_join(&plug, 1, FULL, &members[i]);
	for (int i = 0; i < MEMBERS; i++) {
		plug_run(&plug, 2999);
		assert_int_equal(members[i].calls, 0);
		plug_run(&plug, 1);
		assert_int_equal(members[i].calls, 1);
		assert_int_equal(members[i].status, -ETIMEDOUT);
	}
	for (int i = 0; i < MEMBERS; i++)
		member_leave(&plug, &members[i]);
}

static void assert_join_is_again(void)
{
	struct member a = { 0 };

	plug_run(&plug, IBSA_DEFAULT_PORT_INTERVAL_MS);
	member_join(&plug, 1, FULL, &a);
	assert_int_equal(a.status, -EAGAIN);
	assert_int_equal(plug.puppet.sent_count, 0);
	member_leave(&plug, &a);
}

/* As in the kernel, a port that is down has no other error. */
static void port_without_an_sm_is_again(void **state)
{
	(void)state;
	plug.puppet.port.sm_lid = 0;
	assert_join_is_again();
	plug.puppet.port.port_state = IBSA_PORT_DOWN;
	assert_join_is_again();
}

/* A leave request is sent four times; a refusal counts as a reply. */
static void silence_has_it_left_again(void **state)
{
	struct member a = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	member_leave(&plug, &a);
	for (int i = 0; i < 4; i++) {
		const struct puppet_mad *last;

		last = puppet_sent(&plug.puppet, plug.puppet.sent_count - 1);
		assert_int_equal(last->mad[MAD_METHOD], DELETE);
		plug_run(&plug, 3000);
	}
	plug.puppet.sent_count = 0;
	plug_run(&plug, 3000);
	assert_int_equal(plug.puppet.sent_count, 0);
	assert_false(group_is_joined(&plug, 1, FULL));
}

static void refusal_to_leave_is_final(void **state)
{
	struct member a = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	member_leave(&plug, &a);
	sa_refuse(&plug, IBSA_STATUS_REQ_INVALID);
	plug_run(&plug, 3000);
	assert_int_equal(plug.puppet.sent_count, 2);
	assert_false(group_is_joined(&plug, 1, FULL));
}

/* The callback's return value, or a call in it, frees the member. */
static void callback_frees_its_member(void **state)
{
	struct member a = { .result = 1 };
	struct member b = { .frees = true };
	struct member c = { .frees = true, .result = 1 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	assert_request(&plug, 2, DELETE, 1, FULL);
	sa_accept(&plug);
	member_join_accepted(&plug, 2, FULL, &b);
	assert_request(&plug, 4, DELETE, 2, FULL);
	sa_accept(&plug);
	member_join(&plug, 3, FULL, &c);
	sa_refuse(&plug, IBSA_STATUS_REQ_INVALID);
	assert_int_equal(c.status, -EINVAL);
	assert_int_equal(plug.puppet.sent_count, 5);
	assert_int_equal(plug.rig.client.users, 1);
}

/* Unregistering frees the members; the group is left, and no callback runs. */
static void unregistered_client_has_no_members(void **state)
{
	struct member a = { 0 };
	struct member b = { 0 };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	member_join(&plug, 2, FULL, &b);
	ib_sa_unregister_client(&plug.rig.client);
	plug_run(&plug, 0);
	assert_request(&plug, 3, DELETE, 1, FULL);
	sa_accept(&plug);
	assert_int_equal(a.calls, 1);
	assert_int_equal(b.calls, 0);
	ib_sa_register_client(&plug.rig.client);
}

static int client_unregister(int status, struct ib_sa_multicast *multicast)
{
	struct ib_sa_client *client = multicast->context;

	(void)status;
	ib_sa_unregister_client(client);
	return 0;
}

static void callback_unregisters_its_client(void **state)
{
	struct ib_sa_mcmember_rec rec = group_rec(1, FULL);

	(void)state;
	assert_false(ibsa_is_err(ib_sa_join_multicast(
		&plug.rig.client, plug.rig.device, 1, &rec, GROUP_MASK, 0,
		client_unregister, &plug.rig.client)));
	plug_run(&plug, 0);
	sa_accept(&plug);
	assert_request(&plug, 2, DELETE, 1, FULL);
	sa_accept(&plug);
	ib_sa_register_client(&plug.rig.client);
}

/*
 * Closing the device leaves joined and requested groups and calls the
 * callbacks. A member must still be freed, unless its callback returns another
 * value than 0.
 */
static void closed_device_ends_memberships(void **state)
{
	struct member a = { 0 };
	struct member b = { .frees = true };
	struct member c = { .frees = false };

	(void)state;
	member_join_accepted(&plug, 1, FULL, &a);
	member_join(&plug, 2, NON, &b);
	member_join(&plug, 0, FULL, &c);
	c.result = 1;
	ibsa_ib_device_put(plug.rig.device);
	plug.rig.device = NULL;
	assert_request(&plug, 5, DELETE, 2, NON);
	plug.puppet.sent_count--;
	assert_request(&plug, 4, DELETE, 1, FULL);
	assert_int_equal(a.calls, 2);
	assert_int_equal(a.status, -EINTR);
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.status, -EINTR);
	assert_int_equal(c.status, -EINTR);
	assert_int_equal(plug.rig.client.users, 2);
	ib_sa_free_multicast(a.multicast);
	assert_int_equal(plug.rig.client.users, 1);
}

static struct ib_sa_multicast *try_join(struct ib_sa_client *client,
					uint8_t port, uint8_t states,
					bool has_callback)
{
	struct ib_sa_mcmember_rec rec = group_rec(1, states);

	return ib_sa_join_multicast(client, plug.rig.device, port, &rec,
				    GROUP_MASK, 0,
				    has_callback ? told_member : NULL, NULL);
}

#define assert_err(pointer, err)                          \
	do {                                              \
		const void *got = (pointer);              \
		assert_true(ibsa_is_err(got));            \
		assert_int_equal(ibsa_ptr_err(got), err); \
	} while (0)

static void wrong_join_is_refused(void **state)
{
	struct ib_sa_client *client = &plug.rig.client;
	struct ibsa__sa *sa = plug.rig.device->sa;
	struct ib_sa_client never = { 0 };

	(void)state;
	assert_err(try_join(&never, 1, FULL, true), -EINVAL);
	assert_err(try_join(client, 1, FULL, false), -EINVAL);
	assert_err(try_join(client, 1, 0, true), -EINVAL);
	assert_err(try_join(client, 1, 0x10, true), -EINVAL);
	assert_err(try_join(client, 0, FULL, true), -ENODEV);
	assert_err(try_join(client, 9, FULL, true), -ENODEV);
	sa->member_count = MEMBERS_MAX;
	assert_err(try_join(client, 1, FULL, true), -ENOBUFS);
	sa->member_count = 0;
	assert_int_equal(client->users, 1);
	ib_sa_free_multicast(NULL);
}

static void ethernet_has_no_sa(void **state)
{
	(void)state;
	plug.puppet.port.link = IBSA_LINK_ETHERNET;
	plug.puppet.port.lid = 9;
	plug_run(&plug, IBSA_DEFAULT_PORT_INTERVAL_MS);
	assert_err(try_join(&plug.rig.client, 1, FULL, true), -ENODEV);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(group_is_joined_and_left),
		TEST(second_join_is_answered_here),
		TEST(group_of_another_kind_is_refused),
		TEST(join_state_counts_without_its_bit),
		TEST(other_port_gid_is_refused),
		TEST(states_are_counted_apart),
		TEST(members_wait_for_one_request),
		TEST(member_is_freed_while_it_waits),
		TEST(group_is_joined_again_while_it_is_left),
		TEST(sa_chooses_the_group),
		TEST(reply_about_another_group_is_an_error),
		TEST(silence_ends_after_three_seconds),
		TEST(silence_ends_after_three_seconds_a_request),
		TEST(port_without_an_sm_is_again),
		TEST(silence_has_it_left_again),
		TEST(refusal_to_leave_is_final),
		TEST(callback_frees_its_member),
		TEST(unregistered_client_has_no_members),
		TEST(callback_unregisters_its_client),
		TEST(closed_device_ends_memberships),
		TEST(wrong_join_is_refused),
		TEST(ethernet_has_no_sa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
