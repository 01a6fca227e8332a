/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices: opened, shared, dispatched, put. */
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "test/ib_sa/rig.h"

static void open_fails(const struct ibsa_ib_device_options *options, int err)
{
	struct ib_device *device = NULL;
	struct ibsa_error error = { { 0 } };

	assert_int_equal(ibsa_ib_device_open(options, &error, &device), err);
	assert_null(device);
	assert_true(strlen(error.text) > 0);
	assert_int_equal(ibsa_ib_device_open(options, NULL, &device), err);
}

static void refusals_are_told_apart(void **state)
{
	struct ibsa_fabric *fabric = rig_fabric(true);

	(void)state;
	open_fails(&(struct ibsa_ib_device_options){ .on = fabric,
						     .window = (1 << 20) + 1 },
		   -EINVAL);
	open_fails(&(struct ibsa_ib_device_options){ .on = fabric,
						     .name = "nobody" },
		   -ENODEV);
	open_fails(&(struct ibsa_ib_device_options){ .fabric = "/nowhere" },
		   -ENOENT);
	open_fails(&(struct ibsa_ib_device_options){ .fabric = "/etc/passwd" },
		   -EINVAL);
	ibsa_fabric_put(fabric);
}

/* The system's own error is returned. */
static void lack_of_descriptors_is_emfile(void **state)
{
	struct ibsa_fabric *fabric = rig_fabric(false);
	struct rlimit before, few;
	struct ib_sa_query *query;
	struct rig rig;

	(void)state;
	rig_start_on(&rig, fabric);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	open_fails(&(struct ibsa_ib_device_options){ .on = fabric }, -EMFILE);
	assert_int_equal(rig_query_on(&rig.client, rig.device, 1, 2, 1000, NULL,
				      NULL, &query),
			 -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(rig_query_on(&rig.client, rig.device, 1, 2, 1000, NULL,
				      NULL, &query),
			 0);
	rig_stop(&rig);
}

/* Devices with one name are shared; with options, each is separate. */
static void name_is_shared_until_the_last_put(void **state)
{
	struct ib_device *one, *two, *other, *own;
	const struct ibsa_ib_device_options options = { .name = "node1" };

	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC", FABRIC, 1), 0);
	assert_int_equal(ibsa_ib_device_get("node1", &one), 0);
	assert_int_equal(ibsa_ib_device_get(NULL, &two), 0);
	assert_int_equal(ibsa_ib_device_get("node2", &other), 0);
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &own), 0);
	assert_ptr_equal(one, two);
	assert_ptr_not_equal(one, other);
	assert_ptr_not_equal(one, own);
	ibsa_ib_device_put(own);
	ibsa_ib_device_put(one);
	assert_int_equal(ibsa_ib_device_get("node1", &one), 0);
	assert_ptr_equal(one, two);
	ibsa_ib_device_put(one);
	ibsa_ib_device_put(two);
	ibsa_ib_device_put(other);
	ibsa_ib_device_put(NULL);
	assert_int_equal(ibsa_ib_device_get("nobody", &one), -ENODEV);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
}

static void capture_is_a_device_of_one_port(void **state)
{
	struct ib_device *device, *named;

	(void)state;
	open_fails(&(struct ibsa_ib_device_options){ .fabric = CAPTURE,
						     .name = "node1" },
		   -ENODEV);
	assert_int_equal(setenv("IBSA_FABRIC", CAPTURE, 1), 0);
	assert_int_equal(ibsa_ib_device_get(NULL, &device), 0);
	assert_int_equal(ibsa_ib_device_get("recorded", &named), 0);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
	assert_ptr_equal(device, named);
	ibsa_ib_device_put(named);
	ibsa_ib_device_put(device);
}

/* If a device has a worker, programs cannot poll or dispatch the device. */
static void device_with_a_worker_is_not_dispatched(void **state)
{
	struct ibsa_fabric *fabric = rig_fabric(false);
	struct ib_device *device = rig_open(fabric, "node1", false);

	(void)state;
	assert_int_equal(ibsa_ib_device_fd(device), -1);
	assert_int_equal(ibsa_ib_device_timeout_ms(device), -1);
	assert_int_equal(ibsa_ib_device_dispatch(device), -EINVAL);
	assert_int_equal(ibsa_ib_device_wait(device, 0), -EINVAL);
	ibsa_ib_device_put(device);
	ibsa_fabric_put(fabric);
}

static void poll_until(struct rig *rig, const int *calls, int wanted)
{
	while (*calls < wanted) {
		struct pollfd fd = { .fd = ibsa_ib_device_fd(rig->device),
				     .events = POLLIN };
		const int ms = ibsa_ib_device_timeout_ms(rig->device);

		assert_true(poll(&fd, 1, ms < 0 ? 10000 : ms) >= 0);
		assert_int_equal(ibsa_ib_device_dispatch(rig->device), 0);
	}
}

/* The program's own loop: one fd and one timeout for both ports of a device. */
static void device_can_be_polled(void **state)
{
	struct told told = { 0 };
	struct ib_sa_query *query;
	struct rig rig;
	int fd;

	(void)state;
	rig_start_on(&rig, rig_fabric(false));
	fd = ibsa_ib_device_fd(rig.device);
	assert_true(fd >= 0);
	assert_int_equal(ibsa_ib_device_timeout_ms(rig.device), -1);
	for (uint8_t port = 1; port <= 2; port++)
		assert_true(rig_query_on(&rig.client, rig.device, port, 3, 5000,
					 told_path, &told, &query) >= 0);
	poll_until(&rig, &told.calls, 2);
	assert_int_equal(told.status, 0);
	rig_silence(&rig, true);
	for (uint8_t port = 1; port <= 2; port++)
		assert_true(rig_query_on(&rig.client, rig.device, port, 3, 20,
					 told_path, &told, &query) >= 0);
	poll_until(&rig, &told.calls, 4);
	assert_int_equal(told.status, -ETIMEDOUT);
	assert_int_equal(ibsa_ib_device_fd(rig.device), fd);
	rig_stop(&rig);
}

static bool is_readable(struct ib_device *device)
{
	struct pollfd fd = { .fd = ibsa_ib_device_fd(device),
			     .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/*
 * A program that polls with an older timeout is woken when the deadlines
 * change.
 */
static void new_deadlines_end_a_poll(void **state)
{
	struct told told = { 0 };
	struct ib_sa_query *query;
	struct rig rig;

	(void)state;
	rig_start_on(&rig, rig_fabric(false));
	assert_int_equal(opa_pr_query_possible(NULL, rig.device, 1, NULL),
			 PR_IB_SUPPORTED);
	assert_true(is_readable(rig.device));
	assert_int_equal(ibsa_ib_device_dispatch(rig.device), 0);
	/* An alarm of a second, rounded up to milliseconds twice. */
	assert_in_range(ibsa_ib_device_timeout_ms(rig.device), 1, 1001);
	assert_false(is_readable(rig.device));
	assert_true(rig_query(&rig, 2, &told, &query) >= 0);
	ib_sa_unregister_client(&rig.client);
	assert_int_equal(told.calls, 1);
	assert_true(is_readable(rig.device));
	assert_int_equal(ibsa_ib_device_dispatch(rig.device), 0);
	assert_false(is_readable(rig.device));
	rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_are_told_apart),
		cmocka_unit_test(lack_of_descriptors_is_emfile),
		cmocka_unit_test(name_is_shared_until_the_last_put),
		cmocka_unit_test(capture_is_a_device_of_one_port),
		cmocka_unit_test(device_with_a_worker_is_not_dispatched),
		cmocka_unit_test(device_can_be_polled),
		cmocka_unit_test(new_deadlines_end_a_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
