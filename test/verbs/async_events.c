/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of a device and of its SM at one descriptor. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "test/verbs/async_rig.h"

static void events_come_side_by_side(void **state)
{
	(void)state;
	async_device_event(IBV_EVENT_PORT_ACTIVE, 1);
	async_expect_device(IBV_EVENT_PORT_ACTIVE, 1);
	async_add();
	assert_false(async_is_pipe(world.number));
	async_device_event(IBV_EVENT_PORT_ERR, 2);
	async_expect_device(IBV_EVENT_PORT_ERR, 2);
	verbs_rig_plug(&world.rig, "node2", 1, false);
	async_expect_sm(IBV_EVENT_GID_UNAVAIL);
	async_device_event(IBV_EVENT_SM_CHANGE, 1);
	async_expect_device(IBV_EVENT_SM_CHANGE, 1);
	verbs_rig_plug(&world.rig, "node2", 1, true);
	async_expect_sm(IBV_EVENT_GID_AVAIL);
	async_drop();
	assert_true(async_is_pipe(world.number));
	async_device_event(IBV_EVENT_LID_CHANGE, 1);
	async_expect_device(IBV_EVENT_LID_CHANGE, 1);
}

static int bytes_waiting(int fd)
{
	int bytes = -1;

	assert_int_equal(ioctl(fd, FIONREAD, &bytes), 0);
	return bytes;
}

static void nothing_is_read_ahead(void **state)
{
	(void)state;
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	async_device_event(IBV_EVENT_PORT_ACTIVE, 1);
	async_add();
	async_expect_device(IBV_EVENT_PORT_ERR, 1);
	assert_int_equal(world.seen->got, 1);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_true(async_is_pipe(world.number));
	assert_true(bytes_waiting(world.number) > 0);
	async_expect_device(IBV_EVENT_PORT_ACTIVE, 1);
	assert_int_equal(bytes_waiting(world.number), 0);
	assert_false(async_is_readable(0));
}

static void neither_source_starves_the_other(void **state)
{
	int device_events = 0;
	int sm_events = 0;

	(void)state;
	async_add();
	verbs_rig_plug(&world.rig, "node2", 1, false);
	verbs_rig_plug(&world.rig, "node2", 1, true);
	for (int i = 0; i < 100; i++)
		async_device_event(IBV_EVENT_PORT_ACTIVE, 1);
	/*
	 * Two SM events are queued, or soon will be, among a hundred of the
	 * device.
	 */
	while (sm_events < 2) {
		if (async_next().event_type == IBV_EVENT_PORT_ACTIVE)
			device_events++;
		else
			sm_events++;
	}
	while (device_events++ < 100)
		async_expect_device(IBV_EVENT_PORT_ACTIVE, 1);
}

static void *read_one(void *arg)
{
	(void)!ibsa_get_async_event(&world.context, arg);
	return NULL;
}

static void reader_waits_for_both(void **state)
{
	struct ibsa_async_event event = { 0 };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_one, &event), 0);
	async_add();
	verbs_rig_plug(&world.rig, "node2", 1, false);
	pthread_join(thread, NULL);
	assert_int_equal(event.event_type, IBV_EVENT_GID_UNAVAIL);
	assert_int_equal(pthread_create(&thread, NULL, read_one, &event), 0);
	async_drop();
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	pthread_join(thread, NULL);
	assert_int_equal(event.event_type, IBV_EVENT_PORT_ERR);
}

static void epoll_sees_both(void **state)
{
	const int set = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };

	(void)state;
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_int_equal(epoll_ctl(set, EPOLL_CTL_ADD, world.number, &event),
			 0);
	async_add();
	verbs_rig_plug(&world.rig, "node2", 1, false);
	assert_int_equal(epoll_wait(set, &event, 1, PATIENCE_MS), 1);
	async_expect_sm(IBV_EVENT_GID_UNAVAIL);
	assert_int_equal(epoll_wait(set, &event, 1, 0), 0);
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	assert_int_equal(epoll_wait(set, &event, 1, PATIENCE_MS), 1);
	async_expect_device(IBV_EVENT_PORT_ERR, 1);
	async_drop();
	assert_false(async_is_pipe(world.number));
	close(set);
}

static void device_that_is_gone_is_an_error(void **state)
{
	struct ibv_async_event event;

	(void)state;
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	close(world.writer);
	world.writer = -1;
	assert_errno(ibv_get_async_event(&world.context, &event), EIO);
	assert_int_equal(world.context.async_fd, world.number);
}

static void without_libibverbs_there_are_no_device_events(void **state)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ERR };
	int ends[2];

	(void)state;
	memset(&world, 0, sizeof(world));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(world.device.name, sizeof(world.device.name), "mlx5_0");
	world.context.device = &world.device;
	world.context.async_fd = world.number = ends[0];
	world.context.cmd_fd = world.writer = ends[1];
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	assert_errno(ibv_get_async_event(&world.context, &event), ENOSYS);
	assert_string_equal(ibv_event_type_str(IBV_EVENT_PORT_ERR), "unknown");
	ibv_ack_async_event(&event);
	assert_errno(ibv_close_device(&world.context), ENOSYS);
	close(ends[0]);
	close(ends[1]);
}

static void names_of_device_events_are_libibverbs(void **state)
{
	(void)state;
	assert_string_equal(ibv_event_type_str(IBV_EVENT_PORT_ERR),
			    "a port of the stub");
	assert_string_equal(ibv_event_type_str(IBV_EVENT_GID_AVAIL),
			    "GID available");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_libibverbs_there_are_no_device_events),
		TEST(events_come_side_by_side),
		TEST(nothing_is_read_ahead),
		TEST(neither_source_starves_the_other),
		TEST(reader_waits_for_both),
		TEST(epoll_sees_both),
		TEST(device_that_is_gone_is_an_error),
		TEST(names_of_device_events_are_libibverbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
