/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reachability and SM events with their n-th allocation failing. */
#include "test/support/fail_alloc.h"
#include "test/verbs/rig.h"

enum { FAILURES_MAX = 3000 };

static bool is_named(int err)
{
	return err == ENOMEM || err == EIO;
}

/* Call @work with a new context, which has no state of earlier runs. */
static bool run(bool (*work)(struct ibv_context *, union ibv_gid *),
		long allocations)
{
	struct verbs_rig rig;
	union ibv_gid gid;
	bool is_good;

	verbs_rig_start(&rig, true);
	gid = verbs_rig_gid(&rig, "node2", 1);
	fail_alloc_after(allocations);
	is_good = work(rig.context, &gid);
	fail_alloc_after(-1);
	verbs_rig_stop(&rig);
	return is_good;
}

/* @work fails without side effects until there is enough memory. */
static void fail_each(bool (*work)(struct ibv_context *, union ibv_gid *))
{
	long allocations = 0;

	while (!run(work, allocations))
		assert_in_range(++allocations, 1, FAILURES_MAX);
	assert_true(allocations > 0);
}

static bool reach(struct ibv_context *context, union ibv_gid *gid)
{
	if (!ibv_gid_reachable(context, 0, gid, 0))
		return true;
	assert_true(is_named(errno));
	return false;
}

static void reachability_reports_it(void **state)
{
	(void)state;
	fail_each(reach);
}

static bool add_and_drop(struct ibv_context *context, union ibv_gid *gid)
{
	const unsigned int kind = IBV_SM_EVENT_UGID;

	if (ibv_register_sm_events(context, kind, 1, gid)) {
		assert_true(is_named(errno));
		assert_int_equal(ibsa_verbs_detach(context), -EINVAL);
		return false;
	}
	assert_int_equal(ibv_unregister_sm_events(context, kind, 1, gid), 0);
	return true;
}

static void registration_reports_it(void **state)
{
	(void)state;
	fail_each(add_and_drop);
}

static void no_memory_at_all_is_enomem(void **state)
{
	struct verbs_rig rig;
	union ibv_gid gid;

	(void)state;
	verbs_rig_start(&rig, false);
	gid = verbs_rig_gid(&rig, "node2", 1);
	fail_alloc_after(0);
	assert_errno(ibv_gid_reachable(rig.context, 1, &gid, 0), ENOMEM);
	assert_errno(ibv_register_sm_events(rig.context, IBV_SM_EVENT_ALL, 0,
					    NULL),
		     ENOMEM);
	fail_alloc_after(-1);
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &gid, 0), 0);
	verbs_rig_stop(&rig);
}

static bool add_two(struct ibv_context *context, union ibv_gid *gid)
{
	const unsigned int kind = IBV_SM_EVENT_UGID;
	union ibv_gid two[] = { *gid, *gid };
	bool is_good;

	two[1].raw[15] ^= 1;
	fail_alloc_after(-1);
	assert_int_equal(ibv_register_sm_events(context, kind, 1, gid), 0);
	fail_alloc_after(0);
	is_good = !ibv_register_sm_events(context, kind, 2, two);
	assert_true(is_good || errno == ENOMEM);
	fail_alloc_after(-1);
	assert_int_equal(ibv_unregister_sm_events(context, kind, 1, gid), 0);
	assert_int_equal(ibv_unregister_sm_events(context, kind, 1, gid), -1);
	return is_good;
}

/* If memory is short, a call registers none of its GIDs. */
static void list_is_not_cut(void **state)
{
	(void)state;
	assert_false(run(add_two, -1));
}

static bool attach(struct ibv_context *context, union ibv_gid *gid)
{
	int err = ibsa_verbs_attach(context, NULL);
	struct ibsa_async_event event;

	(void)gid;
	if (!err)
		return true;
	assert_int_equal(err, -ENOMEM);
	assert_errno(ibsa_get_async_event(context, &event), ENOMEM);
	return false;
}

static void attaching_reports_it(void **state)
{
	(void)state;
	fail_each(attach);
}

/* An event for which there is no memory is reported as a gap. */
static void event_that_is_lost_is_a_gap(void **state)
{
	const struct ibsa_verbs_options options = { .gaps = true };
	struct ibsa_async_event event = { 0 };
	struct verbs_rig rig;

	(void)state;
	verbs_rig_start(&rig, false);
	assert_int_equal(ibsa_verbs_attach(rig.context, &options), 0);
	assert_int_equal(ibv_register_sm_events(rig.context,
						IBV_SM_EVENT_UGID_ALL, 0, NULL),
			 0);
	for (long left = 0; event.event_type != IBV_EVENT_SM_GAP; left++) {
		verbs_rig_plug(&rig, "node2", 1, left % 2);
		fail_alloc_after(left % 8);
		verbs_rig_plug(&rig, "node3", 2, left % 2);
		assert_int_equal(ibsa_get_async_event(rig.context, &event), 0);
		fail_alloc_after(-1);
	}
	verbs_rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reachability_reports_it),
		cmocka_unit_test(registration_reports_it),
		cmocka_unit_test(no_memory_at_all_is_enomem),
		cmocka_unit_test(list_is_not_cut),
		cmocka_unit_test(attaching_reports_it),
		cmocka_unit_test(event_that_is_lost_is_a_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
