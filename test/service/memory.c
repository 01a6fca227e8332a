/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A registered service with the n-th allocation failing, for every n. */
#include <ibsa/service.h>

#include "test/support/memory_rig.h"

/* FABRIC is a topology with node1 and node2, from the build. */

/* How often each event was reported. */
struct tally {
	int events[IBSA_REGISTRATION_RELEASED + 1];
};

static void count(const struct ibsa_registration_report *report, void *arg)
{
	struct tally *tally = arg;

	assert_int_equal(tally->events[IBSA_REGISTRATION_RELEASED], 0);
	tally->events[report->event]++;
}

/* Register a service for a second, on a fabric whose allocations fail, too.
 * Return: whether the service was accepted. */
static bool service_scenario(const struct memory_rig *rig, struct tally *tally)
{
	const struct ibsa_service service = { .service_id = 1 };
	const struct ibsa_service_options options = { .service = &service };
	struct ibsa_registration *registration = NULL;
	int err = ibsa_service_register(rig->client, &options, count, tally,
					&registration);

	assert_true(err == 0 || err == -ENOMEM);
	assert_true(!err == !!registration);
	memory_rig_pass(rig, 1000);
	return !err;
}

/* An accepted service is released once, whatever failed before. */
static void every_allocation_may_fail(void **state)
{
	struct tally tally = { 0 };

	(void)state;
	for (long n = 0; !tally.events[IBSA_REGISTRATION_REGISTERED]; n++) {
		struct memory_rig rig = memory_rig_open(FABRIC);
		bool taken;

		tally = (struct tally){ 0 };
		fail_alloc_after(n);
		taken = service_scenario(&rig, &tally);
		memory_rig_close(&rig);
		assert_int_equal(tally.events[IBSA_REGISTRATION_RELEASED],
				 taken);
		assert_true(n || !taken);
	}
}

/* After temporary failures everything works. */
static void shortage_passes(void **state)
{
	const struct ibsa_service service = { .service_id = 1 };
	const struct ibsa_service_options options = { .service = &service };
	struct memory_rig rig = memory_rig_open(FABRIC);
	struct tally tally = { 0 };
	struct ibsa_registration *registration;

	(void)state;
	assert_int_equal(ibsa_service_register(rig.client, &options, count,
					       &tally, &registration),
			 0);
	fail_alloc_after(0);
	memory_rig_pass(&rig, 5000);
	fail_alloc_after(-1);
	assert_int_equal(tally.events[IBSA_REGISTRATION_FAILED], 1);
	assert_int_equal(tally.events[IBSA_REGISTRATION_REGISTERED], 0);
	memory_rig_pass(&rig, 5000);
	assert_int_equal(tally.events[IBSA_REGISTRATION_REGISTERED], 1);
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
