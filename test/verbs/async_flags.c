/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flags of a number that programs poll and change. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test/verbs/async_rig.h"

static bool has_nonblock(void)
{
	return fcntl(world.number, F_GETFL) & O_NONBLOCK;
}

static void nonblock_set(bool on)
{
	const int flags = fcntl(world.number, F_GETFL) & ~O_NONBLOCK;

	assert_int_equal(
		fcntl(world.number, F_SETFL, flags | (on ? O_NONBLOCK : 0)), 0);
}

static void flags_of_the_number_move_along(void **state)
{
	struct ibv_async_event event;

	(void)state;
	nonblock_set(true);
	assert_errno(ibv_get_async_event(&world.context, &event), EAGAIN);
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_true(has_nonblock());
	assert_int_equal(fcntl(world.number, F_GETFD), FD_CLOEXEC);
	assert_errno(ibv_get_async_event(&world.context, &event), EAGAIN);
	nonblock_set(false);
	assert_int_equal(fcntl(world.number, F_SETFD, 0), 0);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_false(has_nonblock());
	assert_int_equal(fcntl(world.number, F_GETFD), 0);
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_false(has_nonblock());
	nonblock_set(true);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_true(has_nonblock());
}

/* Called right before the next dup3(), in place of another thread; or NULL. */
static void (*before_dup3)(void);

int __real_dup3(int from, int to, int flags);
int __wrap_dup3(int from, int to, int flags);

int __wrap_dup3(int from, int to, int flags)
{
	if (before_dup3)
		before_dup3();
	before_dup3 = NULL;
	return __real_dup3(from, to, flags);
}

static void nonblock_turn_on(void)
{
	nonblock_set(true);
}

static void nonblock_turn_off(void)
{
	nonblock_set(false);
}

/* A flag that another thread sets must not be overwritten. */
static void flag_set_meanwhile_stays(void **state)
{
	(void)state;
	before_dup3 = nonblock_turn_on;
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_true(has_nonblock());
	before_dup3 = nonblock_turn_off;
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_false(has_nonblock());
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	before_dup3 = nonblock_turn_on;
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_true(has_nonblock());
	before_dup3 = nonblock_turn_off;
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_false(has_nonblock());
}

/* While the number refers to the device's file, a read changes no flag. */
static unsigned int sets;

static void reading_sets_no_flag(void **state)
{
	struct ibv_async_event event;

	(void)state;
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	sets = 0;
	assert_int_equal(ibv_get_async_event(&world.context, &event), 0);
	assert_int_equal(sets, 0);
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	sets = 0;
	assert_int_equal(ibv_get_async_event(&world.context, &event), 0);
	assert_int_equal(sets, 0);
}

/* Several readers, each of which wakes the next one. */
enum { READERS = 3, EVENTS = 200 };

static atomic_int left;

static void *read_and_pass_on(void *arg)
{
	struct ibsa_async_event event;
	int *failed = arg;

	while (!*failed && atomic_load(&left) > 0) {
		*failed = ibsa_get_async_event(&world.context, &event);
		atomic_fetch_sub(&left, 1);
		async_device_event(IBV_EVENT_PORT_ERR, 1);
	}
	return NULL;
}

static void readers_do_not_disturb_each_other(void **state)
{
	pthread_t threads[READERS];
	int failed[READERS] = { 0 };

	(void)state;
	atomic_store(&left, EVENTS);
	for (int i = 0; i < READERS; i++)
		pthread_create(&threads[i], NULL, read_and_pass_on, &failed[i]);
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	for (int i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(failed[i], 0);
	}
}

/* Number of flag changes before they fail; -1: they never fail. */
static int sets_left = -1;

int __real_fcntl(int fd, int command, long value);
int __wrap_fcntl(int fd, int command, long value);

int __wrap_fcntl(int fd, int command, long value)
{
	if (command == F_SETFL)
		sets++;
	if (command == F_SETFL && sets_left >= 0 && !sets_left--) {
		errno = EPERM;
		return -1;
	}
	return __real_fcntl(fd, command, value);
}

static void number_that_cannot_be_changed_stays(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		sets_left = i;
		assert_int_equal(ibsa_verbs_attach(&world.context, NULL),
				 -EPERM);
		assert_true(async_is_pipe(world.number));
	}
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(flags_of_the_number_move_along),
		TEST(flag_set_meanwhile_stays),
		TEST(reading_sets_no_flag),
		TEST(readers_do_not_disturb_each_other),
		TEST(number_that_cannot_be_changed_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
