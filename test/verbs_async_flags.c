/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flags of a number that is polled: whose they are, and who sets them. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/verbs_async_rig.h"

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

/* Two readers: one has seen nothing and looks whether it may wait, the other
 * begins to read meanwhile. */
static struct {
	bool armed;
	pthread_t other;
	atomic_int id; /* of its thread */
	atomic_bool is_reading;
	sem_t looked;
	int errors[2];
} race;

/* Flags cannot be set the time after so many; -1: they can. */
static int sets_left = -1;

/* Either may get the first event; then there is one for the other. */
static int read_and_pass_on(void)
{
	struct ibsa_async_event event;

	if (ibsa_get_async_event(&world.context, &event))
		return errno;
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	return 0;
}

static void *read_beside(void *arg)
{
	atomic_store(&race.id, gettid());
	*(int *)arg = read_and_pass_on();
	return NULL;
}

static void let_other_begin(void)
{
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	pthread_create(&race.other, NULL, read_beside, &race.errors[1]);
	while (!atomic_load(&race.is_reading) &&
	       !(race.id && verbs_rig_is_in(race.id, SYS_futex)))
		sched_yield();
}

int __real_fcntl(int fd, int command, long value);
int __wrap_fcntl(int fd, int command, long value);

int __wrap_fcntl(int fd, int command, long value)
{
	const bool looks = race.armed && command == F_GETFL &&
			   fd == world.number;
	int result;

	if (looks) {
		race.armed = false;
		let_other_begin();
	}
	if (command == F_SETFL && sets_left >= 0 && !sets_left--) {
		errno = EPERM;
		return -1;
	}
	if (command == F_SETFL && race.id == gettid()) {
		if (!atomic_exchange(&race.is_reading, true))
			return __real_fcntl(fd, command, value);
		sem_wait(&race.looked);
	}
	result = __real_fcntl(fd, command, value);
	if (looks)
		sem_post(&race.looked);
	return result;
}

static void readers_do_not_disturb_each_other(void **state)
{
	(void)state;
	memset(&race, 0, sizeof(race));
	sem_init(&race.looked, 0, 0);
	race.armed = true;
	race.errors[0] = read_and_pass_on();
	pthread_join(race.other, NULL);
	sem_destroy(&race.looked);
	assert_int_equal(race.errors[0], 0);
	assert_int_equal(race.errors[1], 0);
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
		TEST(readers_do_not_disturb_each_other),
		TEST(number_that_cannot_be_changed_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
