/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast groups of the embedded SA: joining, leaving, and queries. */
#include <errno.h>

#include "fabric/sa/group.h"
#include "support.h"
#include "wire/mad.h"

#define S(status) IBSA_STATUS_##status
#define CM(field) IBSA_MCMEMBER_CM(field)

enum { SET = IBSA_METHOD_SET, DELETE = IBSA_METHOD_DELETE };

#define PREFIX 0xfe, 0x80, 0, 0, 0, 0, 0, 0
#define PORT(last)                                                 \
	{                                                          \
		PREFIX, 0, 0x08, 0xf1, 0x04, 0x03, 0x98, 0, (last) \
	}

static const struct ibsa_gid host1 = { PORT(0x11) };
static const struct ibsa_gid host2 = { PORT(0x21) };
static const struct ibsa_gid host3 = { PORT(0x31) };

static const uint64_t join_mask = CM(mgid) | CM(port_gid) | CM(join_state);
static const uint64_t create_mask = CM(mgid) | CM(port_gid) | CM(join_state) |
				    CM(qkey) | CM(tclass) | CM(pkey) |
				    CM(flow_label) | CM(sl);

/* Two clients: one at the third host, one at the second. */
struct clients {
	struct bench one;
	struct bench two;
};

static int start(void **state)
{
	static struct clients clients;

	bench_start_file(&clients.one, "b.net", "host-r3 mlx5_0", NULL);
	clients.two = (struct bench){ .fabric = clients.one.fabric,
				      .next_tid = 1 };
	assert_int_equal(ibsa_fabric_attach(clients.two.fabric,
					    "host-r2 mlx4_0", 0,
					    &clients.two.transport),
			 0);
	*state = &clients;
	return 0;
}

static int stop(void **state)
{
	struct clients *clients = *state;

	clients->two.transport->ops->close(clients->two.transport);
	bench_stop(&clients->one);
	return 0;
}

static struct ibsa_mcmember a_group(struct ibsa_gid port, uint8_t join_state)
{
	const struct ibsa_mcmember group = {
		.mgid.raw = { 0xff, 0x15, 0x12, 0x34, [15] = 1 },
		.port_gid = port,
		.qkey = 0x1234,
		.pkey = 0xffff,
		.scope = 5,
		.join_state = join_state,
	};

	return group;
}

static int exchange(struct bench *bench, uint8_t method,
		    const struct ibsa_mcmember *group, uint64_t mask)
{
	return bench_query(bench, method, &ibsa_mcmember_record, group, mask);
}

/* Return: the join state in the answer's first record. */
static unsigned int join_state(const struct bench *bench)
{
	return (unsigned int)IBSA_GET(mcmember, join_state,
				      bench_record(bench, 0));
}

/* Join a group with a rate that all ports have. */
static void join(struct bench *bench, struct ibsa_gid port, uint8_t states)
{
	struct ibsa_mcmember group = a_group(port, states);

	group.rate = 3;
	group.rate_selector = IBSA_SELECT_EXACTLY;
	assert_int_equal(exchange(bench, SET, &group,
				  create_mask | CM(rate) | CM(rate_selector)),
			 0);
}

static int leave(struct bench *bench, struct ibsa_gid port, uint8_t states)
{
	const struct ibsa_mcmember group = a_group(port, states);

	return exchange(bench, DELETE, &group, join_mask);
}

/*
 * Return: the number of records of the group in the answer to a request with
 * @sm_key.
 */
static size_t count(struct bench *bench, uint64_t mask, uint64_t sm_key)
{
	const struct ibsa_mcmember group = a_group(host3, 0);

	memset(bench->request, 0, sizeof(bench->request));
	(void)exchange(bench, IBSA_METHOD_GET_TABLE, &group, mask);
	ibsa_put_be64(bench->request + MAD_SM_KEY, sm_key);
	assert_int_equal(bench_exchange(bench), 0);
	return bench_count(bench);
}

static void full_member_creates_the_group(void **state)
{
	const struct ibsa_mcmember group = a_group(host3, 1);
	struct bench *bench = &((struct clients *)*state)->one;

	assert_int_equal(exchange(bench, SET, &group, join_mask),
			 S(REQ_INSUFFICIENT));
	assert_int_equal(exchange(bench, SET, &group, create_mask), 0);
	assert_int_equal(IBSA_GET(mcmember, mlid, bench_record(bench, 0)),
			 0xc001);
	/* The group gets the values that its first member's port supports. */
	assert_int_equal(IBSA_GET(mcmember, mtu, bench_record(bench, 0)), 4);
	assert_int_equal(IBSA_GET(mcmember, rate, bench_record(bench, 0)), 16);
	assert_int_equal(count(bench, CM(mgid), 0), 1);
	assert_int_equal(leave(bench, host3, 1), 0);
	assert_int_equal(count(bench, CM(mgid), 0), 0);
}

static void group_needs_a_full_member_to_be_created(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;

	for (uint8_t states = 0; states < 16; states++) {
		const struct ibsa_mcmember group = a_group(host3, states);
		const bool is_full = states & JOIN_ANY_FULL;

		assert_int_equal(exchange(bench, SET, &group, create_mask),
				 is_full ? 0 : S(REQ_INVALID));
		if (is_full)
			assert_int_equal(leave(bench, host3, states), 0);
		assert_int_equal(count(bench, CM(mgid), 0), 0);
	}
}

static void join_states_add_up_and_are_given_up(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;

	join(bench, host1, 1);
	join(bench, host3, 1);
	assert_int_equal(join_state(bench), 1);
	join(bench, host3, 4);
	assert_int_equal(join_state(bench), 5);
	assert_int_equal(leave(bench, host3, 2), S(REQ_INVALID));
	assert_int_equal(leave(bench, host3, 3), S(REQ_INVALID));
	assert_int_equal(leave(bench, host3, 0), S(REQ_INVALID));
	assert_int_equal(leave(bench, host3, 1), 0);
	assert_int_equal(join_state(bench), 4);
	assert_int_equal(leave(bench, host3, 4), 0);
	assert_int_equal(join_state(bench), 0);
	assert_int_equal(leave(bench, host3, 4), S(REQ_INVALID));
	assert_int_equal(count(bench, CM(mgid), 1), 1);
}

static void group_stays_with_one_kind_of_full_member(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;

	join(bench, host3, JOIN_FULL);
	join(bench, host3, JOIN_SEND_ONLY_FULL);
	assert_int_equal(leave(bench, host3, JOIN_FULL), 0);
	assert_int_equal(join_state(bench), JOIN_SEND_ONLY_FULL);
	assert_int_equal(count(bench, CM(mgid), 1), 1);
	assert_int_equal(leave(bench, host3, JOIN_SEND_ONLY_FULL), 0);
	assert_int_equal(count(bench, CM(mgid), 0), 0);
}

static void last_full_member_takes_the_others_along(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;

	join(bench, host3, 1);
	join(bench, host1, 2);
	join(bench, host2, 4);
	assert_int_equal(count(bench, CM(mgid), 1), 3);
	assert_int_equal(leave(bench, host3, 1), 0);
	assert_int_equal(count(bench, CM(mgid), 1), 0);
	assert_int_equal(leave(bench, host1, 2), S(REQ_INVALID));
}

static void membership_is_ended_only_by_its_own_port(void **state)
{
	struct clients *clients = *state;

	join(&clients->one, host3, 1);
	assert_int_equal(leave(&clients->two, host3, 1), S(REQ_INVALID));
	assert_int_equal(exchange(&clients->two, SET,
				  &(struct ibsa_mcmember){
					  .mgid = a_group(host3, 2).mgid,
					  .port_gid = host3,
					  .join_state = 2 },
				  join_mask),
			 S(REQ_INVALID));
	/* Any port may remove a member that another port joined. */
	join(&clients->one, host1, 1);
	assert_int_equal(count(&clients->one, CM(mgid), 1), 2);
	assert_int_equal(IBSA_GET(mcmember, proxy_join,
				  bench_record(&clients->one, 0)),
			 1);
	assert_int_equal(IBSA_GET(mcmember, proxy_join,
				  bench_record(&clients->one, 1)),
			 0);
	assert_int_equal(leave(&clients->two, host1, 1), 0);
	assert_int_equal(leave(&clients->one, host3, 1), 0);
}

/*
 * A query by MGID and PortGID finds the membership of the requester's own port.
 * Without the SM_Key, the record has neither the PortGID nor the join state.
 */
static void port_can_read_its_own_membership(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;
	const uint64_t mask = CM(mgid) | CM(port_gid);
	const uint8_t *record;

	join(bench, host1, 1);
	assert_int_equal(count(bench, mask, 0), 0);
	assert_int_equal(count(bench, mask, 1), 0);
	join(bench, host3, 4);
	assert_int_equal(count(bench, mask, 1), 1);
	record = bench_record(bench, 0);
	assert_memory_equal(record + 16, host3.raw, 16);
	assert_int_equal(join_state(bench), 4);
	assert_int_equal(count(bench, mask, 0), 1);
	record = bench_record(bench, 0);
	for (int i = 16; i < 32; i++)
		assert_int_equal(record[i], 0);
	assert_int_equal(join_state(bench), 0);
	assert_int_equal(count(bench, CM(mgid) | CM(join_state), 0), 0);
}

/* A hidden field is compared, too. */
static void join_state_is_matched_unseen(void **state)
{
	const uint64_t mask = CM(mgid) | CM(port_gid) | CM(join_state);
	struct bench *bench = &((struct clients *)*state)->one;
	struct ibsa_mcmember group = a_group(host3, 1);

	join(bench, host3, 1);
	assert_int_equal(exchange(bench, IBSA_METHOD_GET, &group, mask), 0);
	assert_int_equal(join_state(bench), 0);
	group.join_state = 4;
	assert_int_equal(exchange(bench, IBSA_METHOD_GET, &group, mask),
			 S(NO_RECORDS));
}

static void mgid_zero_is_for_the_sa_to_choose(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;
	struct ibsa_mcmember group = a_group(host3, 1);
	const uint8_t *mgid;

	group.mgid = (struct ibsa_gid){ { 0 } };
	for (uint8_t i = 0; i < 3; i++) {
		assert_int_equal(exchange(bench, SET, &group,
					  create_mask | (i ? CM(scope) : 0)),
				 0);
		mgid = bench_record(bench, 0);
		assert_int_equal(mgid[0], 0xff);
		assert_int_equal(mgid[1], i ? 0x15 : 0x12);
		assert_int_equal(ibsa_be16(mgid + 2), 0xa01b);
		assert_int_equal(mgid[10], i);
	}
}

static void mlid_is_as_asked_or_the_lowest(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;
	static const uint16_t asked[] = { 0xc005, 0xc005, 0xbfff, 0xffff, 0 };
	static const uint16_t got[] = { 0xc005, 0xc001, 0xc002, 0xc003,
					0xc004 };

	for (uint8_t i = 0; i < 5; i++) {
		struct ibsa_mcmember group = a_group(host3, 1);

		group.mgid.raw[14] = i;
		group.mlid = asked[i];
		assert_int_equal(exchange(bench, SET, &group, create_mask), 0);
		assert_int_equal(IBSA_GET(mcmember, mlid,
					  bench_record(bench, 0)),
				 got[i]);
	}
}

static void invalid_joins_are_refused(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;
	struct ibsa_mcmember group = a_group(host3, 1);

	group.port_gid.raw[0] = 0x20;
	assert_int_equal(exchange(bench, SET, &group, create_mask),
			 S(REQ_INVALID_GID));
	group.port_gid = host3;
	group.port_gid.raw[15] = 0x77;
	assert_int_equal(exchange(bench, SET, &group, create_mask),
			 S(REQ_INVALID));
	group = a_group(host3, 1);
	group.pkey = 0x8001;
	assert_int_equal(exchange(bench, SET, &group, create_mask),
			 S(REQ_INVALID));
	group = a_group(host3, 1);
	group.mgid.raw[0] = 0xfe;
	assert_int_equal(exchange(bench, SET, &group, create_mask),
			 S(REQ_INVALID));
	group = a_group(host3, 1);
	assert_int_equal(exchange(bench, DELETE, &group, CM(mgid)),
			 S(REQ_INSUFFICIENT));
	assert_int_equal(exchange(bench, DELETE, &group, join_mask),
			 S(REQ_INVALID));
	/* The failed requests have left no group behind. */
	assert_int_equal(count(bench, 0, 0), 1);
}

static void group_has_the_values_of_its_first_member(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;
	struct ibsa_mcmember group = a_group(host3, 1);

	assert_int_equal(exchange(bench, SET, &group, create_mask), 0);
	group.qkey++;
	assert_int_equal(exchange(bench, SET, &group, join_mask | CM(qkey)),
			 S(REQ_INVALID));
	group = a_group(host1, 1);
	/* The first host's cable is slower than the third's. */
	assert_int_equal(exchange(bench, SET, &group, join_mask),
			 S(REQ_INVALID));
	group = a_group(host3, 2);
	group.mtu = 4;
	group.mtu_selector = IBSA_SELECT_GREATER;
	assert_int_equal(exchange(bench, SET, &group,
				  join_mask | CM(mtu) | CM(mtu_selector)),
			 S(REQ_INVALID));
	group.mtu_selector = IBSA_SELECT_EXACTLY;
	assert_int_equal(exchange(bench, SET, &group,
				  join_mask | CM(mtu) | CM(mtu_selector)),
			 0);
	assert_int_equal(join_state(bench), 3);
}

static void path_to_a_group_is_for_its_members(void **state)
{
	const uint64_t ends = IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid);
	struct bench *bench = &((struct clients *)*state)->one;
	struct ibsa_path path = { .sgid = host3,
				  .dgid = a_group(host3, 1).mgid };

	join(bench, host3, 1);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &path, ends),
			 0);
	assert_int_equal(IBSA_GET(path, dlid, bench_record(bench, 0)), 0xc001);
	assert_int_equal(IBSA_GET(path, hop_limit, bench_record(bench, 0)),
			 255);
	path.sgid = host1;
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &path, ends),
			 S(NO_RECORDS));
}

static void restarted_sa_has_no_members(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;

	join(bench, host3, 1);
	assert_int_equal(count(bench, 0, 1), 1);
	ibsa_fabric_sa_set(bench->fabric, false);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(count(bench, 0, 1), 0);
	/* The SA's own group exists again. */
	assert_int_equal(count(bench, 0, 0), 1);
	join(bench, host3, 1);
	assert_int_equal(IBSA_GET(mcmember, mlid, bench_record(bench, 0)),
			 0xc001);
}

static void give_both_pkeys(struct bench *bench, const char *node)
{
	static const uint16_t pkeys[] = { 0xffff, 0x8001 };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = pkeys,
		.pkey_count = 2,
	};

	assert_int_equal(ibsa_fabric_port_set(bench->fabric, node, 1, &change),
			 0);
}

static void group_is_for_its_partition(void **state)
{
	struct clients *clients = *state;
	struct ibsa_mcmember group = a_group(host2, 1);

	group.pkey = 0x8001;
	assert_int_equal(exchange(&clients->two, SET, &group, create_mask),
			 S(REQ_INVALID));
	give_both_pkeys(&clients->one, "host-r2 mlx4_0");
	assert_int_equal(exchange(&clients->two, SET, &group, create_mask), 0);
	assert_int_equal(count(&clients->two, CM(mgid), 0), 1);
	/* Ports of other partitions can neither list nor join the group. */
	assert_int_equal(count(&clients->one, CM(mgid), 0), 0);
	group.port_gid = host3;
	assert_int_equal(exchange(&clients->two, SET, &group, join_mask),
			 S(REQ_INVALID));
}

static void proxy_is_ended_from_within_its_partition(void **state)
{
	struct clients *clients = *state;
	struct ibsa_mcmember group = a_group(host1, 1);

	group.pkey = 0x8001;
	give_both_pkeys(&clients->one, "host-r1 mthca0");
	give_both_pkeys(&clients->one, "host-r2 mlx4_0");
	assert_int_equal(exchange(&clients->two, SET, &group, create_mask), 0);
	assert_int_equal(leave(&clients->one, host1, 1), S(REQ_INVALID));
	assert_int_equal(leave(&clients->two, host1, 1), 0);
}

static void plug(struct bench *bench, bool link_up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = link_up,
	};

	assert_int_equal(ibsa_fabric_port_set(bench->fabric, "host-r2 mlx4_0",
					      1, &change),
			 0);
}

static void port_that_goes_leaves_its_groups(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;

	join(bench, host2, 1);
	join(bench, host1, 4);
	plug(bench, false);
	/* It was the only full member. */
	assert_int_equal(count(bench, CM(mgid), 0), 0);
	plug(bench, true);
	join(bench, host3, 1);
	join(bench, host2, 1);
	join(bench, host1, 4);
	assert_int_equal(count(bench, CM(mgid), 1), 3);
	plug(bench, false);
	assert_int_equal(count(bench, CM(mgid), 1), 2);
}

static void number_of_groups_is_limited(void **state)
{
	struct bench *bench = &((struct clients *)*state)->one;
	struct ibsa_mcmember group = a_group(host3, 1);

	for (unsigned int i = 1; i < GROUPS_MAX; i++) {
		ibsa_put_be16(group.mgid.raw + 12, (uint16_t)(i * 37));
		assert_int_equal(exchange(bench, SET, &group, create_mask), 0);
	}
	assert_int_equal(IBSA_GET(mcmember, mlid, bench_record(bench, 0)),
			 0xfffe);
	group.mgid.raw[11] = 1;
	assert_int_equal(exchange(bench, SET, &group, create_mask),
			 S(NO_RESOURCES));
	group.mgid.raw[11] = 0;
	assert_int_equal(exchange(bench, DELETE, &group, join_mask), 0);
	group.mgid.raw[11] = 1;
	assert_int_equal(exchange(bench, SET, &group, create_mask), 0);
}

static void number_of_members_is_limited(void **state)
{
	const struct ibsa_mcmember record = {
		.mgid.raw = { 0xff, 0x12 },
	};
	struct member profile = { .join_state = 1 };
	struct groups groups = { 0 };
	struct member *member;
	struct group *group;

	(void)state;
	assert_int_equal(ibsa__groups_add(&groups, &record, &group), 0);
	for (; profile.guid < MEMBERS_MAX; profile.guid++)
		assert_int_equal(
			ibsa__group_join(&groups, group, &profile, &member), 0);
	assert_int_equal(ibsa__group_join(&groups, group, &profile, &member),
			 -ENOSPC);
	profile.guid = 7;
	profile.join_state = 2;
	assert_int_equal(ibsa__group_join(&groups, group, &profile, &member),
			 0);
	assert_int_equal(member->join_state, 3);
	assert_int_equal(ibsa__group_leave(&groups, group, member, 3), 0);
	profile.guid = MEMBERS_MAX;
	assert_int_equal(ibsa__group_join(&groups, group, &profile, &member),
			 0);
	ibsa__groups_done(&groups);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(full_member_creates_the_group),
		TEST(group_needs_a_full_member_to_be_created),
		TEST(join_states_add_up_and_are_given_up),
		TEST(group_stays_with_one_kind_of_full_member),
		TEST(last_full_member_takes_the_others_along),
		TEST(membership_is_ended_only_by_its_own_port),
		TEST(port_can_read_its_own_membership),
		TEST(join_state_is_matched_unseen),
		TEST(mgid_zero_is_for_the_sa_to_choose),
		TEST(mlid_is_as_asked_or_the_lowest),
		TEST(invalid_joins_are_refused),
		TEST(group_has_the_values_of_its_first_member),
		TEST(path_to_a_group_is_for_its_members),
		TEST(restarted_sa_has_no_members),
		TEST(group_is_for_its_partition),
		TEST(proxy_is_ended_from_within_its_partition),
		TEST(port_that_goes_leaves_its_groups),
		TEST(number_of_groups_is_limited),
		cmocka_unit_test(number_of_members_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
