/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A kept service with the n-th allocation failing, for every n. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/service.h>
#include <ibsa/sim.h>

#include "test/fail_alloc.h"

/* FABRIC is a topology with node1 and node2, from the build. */

enum { MS = 1000000 };

/* How often each event was reported. */
struct tally {
	int events[IBSA_KEPT_RELEASED + 1];
};

static void count(const struct ibsa_kept_report *report, void *arg)
{
	struct tally *tally = arg;

	assert_int_equal(tally->events[IBSA_KEPT_RELEASED], 0);
	tally->events[report->event]++;
}

/* Keep a service for a second, on a fabric that memory is short for as well.
 * Return: whether it was taken. */
static bool scenario(struct ibsa_client *client, struct ibsa_fabric *fabric,
		     struct tally *tally)
{
	const struct ibsa_service service = { .service_id = 1 };
	const struct ibsa_service_keep keep = { .service = &service };
	struct ibsa_kept *kept = NULL;
	int err = ibsa_service_keep(client, &keep, count, tally, &kept);

	assert_true(err == 0 || err == -ENOMEM);
	assert_true(!err == !!kept);
	for (int ms = 0; ms < 1000; ms++) {
		assert_int_equal(ibsa_fabric_advance(fabric, MS), 0);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
	return !err;
}

/* One that was taken is released once, whatever failed in between. */
static void every_allocation_may_fail(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	struct tally tally = { 0 };

	(void)state;
	for (long n = 0; !tally.events[IBSA_KEPT_REGISTERED]; n++) {
		struct ibsa_options mine = { .seed = 1 };
		struct ibsa_fabric *fabric;
		struct ibsa_client *client;
		bool taken;

		assert_int_equal(
			ibsa_fabric_load(FABRIC, &options, NULL, &fabric), 0);
		assert_int_equal(ibsa_fabric_attach(fabric, NULL, 0,
						    &mine.transport),
				 0);
		assert_int_equal(ibsa_open(&mine, NULL, &client), 0);
		tally = (struct tally){ 0 };
		fail_alloc_after(n);
		taken = scenario(client, fabric, &tally);
		assert_int_equal(ibsa_close(client), 0);
		fail_alloc_after(-1);
		ibsa_fabric_put(fabric);
		assert_int_equal(tally.events[IBSA_KEPT_RELEASED], taken);
		assert_true(n || !taken);
	}
}

/* Memory that was short for a while does no harm. */
static void shortage_passes(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	const struct ibsa_service service = { .service_id = 1 };
	const struct ibsa_service_keep keep = { .service = &service };
	struct ibsa_options mine = { .seed = 1 };
	struct tally tally = { 0 };
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;
	struct ibsa_kept *kept;

	(void)state;
	assert_int_equal(ibsa_fabric_load(FABRIC, &options, NULL, &fabric), 0);
	assert_int_equal(ibsa_fabric_attach(fabric, NULL, 0, &mine.transport),
			 0);
	assert_int_equal(ibsa_open(&mine, NULL, &client), 0);
	assert_int_equal(ibsa_service_keep(client, &keep, count, &tally, &kept),
			 0);
	fail_alloc_after(0);
	for (int ms = 0; ms < 5000; ms++) {
		assert_int_equal(ibsa_fabric_advance(fabric, MS), 0);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
	fail_alloc_after(-1);
	assert_int_equal(tally.events[IBSA_KEPT_FAILED], 1);
	assert_int_equal(tally.events[IBSA_KEPT_REGISTERED], 0);
	for (int ms = 0; ms < 5000; ms++) {
		assert_int_equal(ibsa_fabric_advance(fabric, MS), 0);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
	assert_int_equal(tally.events[IBSA_KEPT_REGISTERED], 1);
	assert_int_equal(ibsa_close(client), 0);
	ibsa_fabric_put(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(shortage_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
