/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events with the n-th allocation failing, for every n. */
#include <ibsa/event.h>

#include "test/support/memory_rig.h"

/* FABRIC is a topology with node1 and node2, from the build. */

/* How often each kind of event was delivered, by its bit. */
struct tally {
	int events[32];
};

static int *count_of(struct tally *tally, enum ibsa_event_kind kind)
{
	int bit = 0;

	while (kind >> bit != 1)
		bit++;
	return &tally->events[bit];
}

static void count(const struct ibsa_event *event, void *arg)
{
	assert_int_equal(*count_of(arg, IBSA_EVENT_ENDED), 0);
	++*count_of(arg, event->kind);
}

static void set_link(struct ibsa_fabric *fabric, bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	(void)!ibsa_fabric_port_set(fabric, "node2", 1, &change);
}

/* Watch while node2 leaves and joins, on a fabric whose allocations fail, too.
 * Return: whether the watch was accepted. */
static bool scenario(const struct memory_rig *rig, struct tally *tally)
{
	const struct ibsa_gid any = { { 1 } };
	const struct ibsa_event_options all = { .audit_ms = 300,
						.audit_nodes = true };
	const struct ibsa_event_options few = { .kinds = IBSA_EVENT_ALL,
						.gids = &any,
						.gid_count = 1 };
	struct ibsa_event_watch *watch = NULL, *other = NULL;
	struct ibsa_error error = { .text = "" };
	int err = ibsa_event_watch_start(rig->client, &all, count, tally,
					 &error, &watch);

	assert_true(err == 0 || err == -ENOMEM);
	assert_true(!err == !!watch && !err == !error.text[0]);
	(void)!ibsa_event_watch_start(rig->client, &few, count,
				      &(struct tally){ { 0 } }, NULL, &other);
	memory_rig_pass(rig, 1000);
	ibsa_event_watch_stop(other);
	set_link(rig->fabric, false);
	memory_rig_pass(rig, 500);
	set_link(rig->fabric, true);
	memory_rig_pass(rig, 500);
	return !err;
}

/* An accepted watch gets ENDED once, whatever failed before. */
static void every_allocation_may_fail(void **state)
{
	struct tally tally = { { 0 } };

	(void)state;
	for (long n = 0; !*count_of(&tally, IBSA_EVENT_GID_IN); n++) {
		struct memory_rig rig = memory_rig_open(FABRIC);
		bool taken;

		tally = (struct tally){ { 0 } };
		fail_alloc_after(n);
		taken = scenario(&rig, &tally);
		memory_rig_close(&rig);
		assert_int_equal(*count_of(&tally, IBSA_EVENT_ENDED), taken);
		assert_true(n || !taken);
	}
}

/* After temporary failures everything works. */
static void shortage_passes(void **state)
{
	struct memory_rig rig = memory_rig_open(FABRIC);
	struct tally tally = { { 0 } };
	struct ibsa_event_watch *watch;

	(void)state;
	assert_int_equal(ibsa_event_watch_start(rig.client, NULL, count, &tally,
						NULL, &watch),
			 0);
	fail_alloc_after(0);
	memory_rig_pass(&rig, 5000);
	fail_alloc_after(-1);
	assert_int_equal(*count_of(&tally, IBSA_EVENT_FAILED), 1);
	assert_int_equal(*count_of(&tally, IBSA_EVENT_SUBSCRIBED), 0);
	memory_rig_pass(&rig, 10000);
	assert_int_equal(*count_of(&tally, IBSA_EVENT_SUBSCRIBED), 1);
	assert_int_equal(*count_of(&tally, IBSA_EVENT_GAP), 0);
	memory_rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(shortage_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
