/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a fabric that no cable connects: each is a subnet with its own SA. */
#include <errno.h>

#include "change_rig.h"

#define CM(field) IBSA_MCMEMBER_CM(field)

/*
 * Two subnets. LIDs in the first: a 1, with the SA; host's port 1 2; the switches
 * 3 and 4. In the second: host's port 2 1, with the SA; c 2; the switch 3.
 */
static const char two_parts[] = "Switch 4 \"s\"\n"
				"[1] \"a\"[1]\n"
				"[2] \"u\"[1]\n"
				"Switch 4 \"u\"\n"
				"[2] \"host\"[1]\n"
				"Switch 4 \"t\"\n"
				"[1] \"c\"[1]\n"
				"[2] \"host\"[2]\n"
				"Ca 1 \"a\"\nCa 2 \"host\"\nCa 1 \"c\"\n";

/* Clients at ports 1 and 2 of the host. */
struct rig {
	struct bench one;
	struct bench two;
};

static int start(void **state)
{
	static struct rig rig;

	bench_start_text(&rig.one, two_parts, "host", NULL);
	rig.two = (struct bench){ .fabric = rig.one.fabric, .next_tid = 1 };
	assert_int_equal(ibsa_fabric_attach(rig.two.fabric, "host", 2,
					    &rig.two.transport),
			 0);
	*state = &rig;
	return 0;
}

static int stop(void **state)
{
	struct rig *rig = *state;

	rig->two.transport->ops->close(rig->two.transport);
	bench_stop(&rig->one);
	return 0;
}

static void each_has_an_sa_with_its_own_nodes(void **state)
{
	struct rig *rig = *state;
	const struct ibsa_port_state one = bench_port(&rig->one);
	const struct ibsa_port_state two = bench_port(&rig->two);

	assert_int_equal(one.port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(one.lid, 2);
	assert_int_equal(one.sm_lid, 1);
	assert_int_equal(count_nodes(&rig->one), 4);
	assert_int_equal(two.port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(two.lid, 1);
	assert_int_equal(two.sm_lid, 1);
	assert_int_equal(count_nodes(&rig->two), 3);
	/* Their subnet prefixes follow each other. */
	assert_int_equal(one.gid.raw[7], 0);
	assert_int_equal(two.gid.raw[7], 1);
}

static void a_gid_of_the_other_has_no_path(void **state)
{
	struct rig *rig = *state;
	struct ibsa_path want = {
		.sgid = bench_port(&rig->one).gid,
		.dgid = bench_port_at(&rig->one, "c").gid,
		.numb_path = 1,
	};
	const uint64_t mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			      IBSA_PATH_CM(numb_path);

	assert_int_not_equal(bench_query(&rig->one, IBSA_METHOD_GET,
					 &ibsa_path_record, &want, mask),
			     0);
	want.sgid = bench_port(&rig->two).gid;
	assert_int_equal(bench_query(&rig->two, IBSA_METHOD_GET,
				     &ibsa_path_record, &want, mask),
			 0);
	assert_int_equal(query_path(&rig->one, 2, 1), 0);
	assert_int_equal(query_path(&rig->one, 2, 5), S(NO_RECORDS));
}

static int group_exchange(struct bench *bench, uint8_t method)
{
	const struct ibsa_mcmember group = {
		.mgid.raw = { 0xff, 0x15, 0x12, 0x34, [15] = 1 },
		.port_gid = bench_port(bench).gid,
		.qkey = 0x1234,
		.pkey = 0xffff,
		.join_state = 1,
	};

	return bench_query(bench, method, &ibsa_mcmember_record, &group,
			   method == IBSA_METHOD_SET
				   ? CM(mgid) | CM(port_gid) | CM(join_state) |
					     CM(qkey) | CM(tclass) | CM(pkey) |
					     CM(flow_label) | CM(sl)
				   : CM(mgid));
}

/* A group, a service or a subscription is known to one SA. */
static void registrations_are_of_one(void **state)
{
	struct rig *rig = *state;

	set_service(&rig->one);
	subscribe(&rig->two);
	assert_int_equal(count_services(&rig->one), 1);
	assert_int_equal(count_services(&rig->two), 0);
	assert_int_equal(count_subscriptions(&rig->one), 0);
	assert_int_equal(count_subscriptions(&rig->two), 1);
	assert_int_equal(group_exchange(&rig->one, IBSA_METHOD_SET), 0);
	assert_int_equal(group_exchange(&rig->two, IBSA_METHOD_GET_TABLE), 0);
	assert_int_equal(bench_count(&rig->two), 0);
	assert_int_equal(group_exchange(&rig->two, IBSA_METHOD_SET), 0);
	assert_int_equal(group_exchange(&rig->one, IBSA_METHOD_GET_TABLE), 0);
	assert_int_equal(bench_count(&rig->one), 1);
}

/* What happens in one subnet is neither seen nor felt in the other. */
static void a_change_is_of_one(void **state)
{
	struct rig *rig = *state;

	subscribe(&rig->two);
	bench_set_link(&rig->one, "a", 1, false);
	assert_int_equal(count_nodes(&rig->one), -1);
	assert_int_equal(count_nodes(&rig->two), 3);
	assert_int_equal(bench_port(&rig->two).reregisters, 0);
	assert_int_equal(bench_stats(&rig->two).reports, 0);
	bench_set_link(&rig->one, "c", 1, false);
	assert_int_not_equal(bench_stats(&rig->two).reports, 0);
	assert_int_equal(count_nodes(&rig->two), 2);
}

static void an_sa_moves_within_its_own(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(ibsa_fabric_sa_move(rig->one.fabric, "c"), 0);
	assert_int_equal(bench_port(&rig->one).sm_lid, 1);
	assert_int_equal(bench_port(&rig->one).reregisters, 0);
	assert_int_equal(bench_port(&rig->two).sm_lid, 2);
	assert_int_equal(bench_port(&rig->two).reregisters, 1);
}

static void all_stop_and_start_together(void **state)
{
	struct rig *rig = *state;

	ibsa_fabric_sa_set(rig->one.fabric, false);
	assert_int_equal(bench_port(&rig->one).sm_lid, 0);
	assert_int_equal(bench_port(&rig->two).sm_lid, 0);
	ibsa_fabric_sa_set(rig->one.fabric, true);
	assert_int_equal(count_nodes(&rig->one), 4);
	assert_int_equal(count_nodes(&rig->two), 3);
}

static void partitions_are_those_of_each(void **state)
{
	struct rig *rig = *state;
	const uint16_t pkeys[] = { 0xffff, 0x8001 };

	bench_set_pkeys(&rig->two, "c", pkeys, 2);
	assert_int_equal(count_nodes(&rig->one), 4);
	assert_int_equal(count_nodes(&rig->two), 3);
}

/* There are at most 64; other ports stay without an SM. */
static void there_are_at_most_64(void **state)
{
	static char text[8192];
	struct bench bench;
	int len = 0;

	(void)state;
	for (int i = 0; i < 70; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				"Ca 1 \"a%d\"\n[1] \"b%d\"[1]\nCa 1 \"b%d\"\n",
				i, i, i);
	bench_start_text(&bench, text, "a0", NULL);
	assert_int_equal(bench_port_at(&bench, "a63").sm_lid, 1);
	assert_int_equal(bench_port_at(&bench, "a64").sm_lid, 0);
	assert_int_equal(bench_port_at(&bench, "a64").port_state,
			 IBSA_PORT_INIT);
	assert_int_equal(count_nodes(&bench), 2);
	bench_stop(&bench);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_has_an_sa_with_its_own_nodes),
		TEST(a_gid_of_the_other_has_no_path),
		TEST(registrations_are_of_one),
		TEST(a_change_is_of_one),
		TEST(an_sa_moves_within_its_own),
		TEST(all_stop_and_start_together),
		TEST(partitions_are_those_of_each),
		cmocka_unit_test(there_are_at_most_64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
