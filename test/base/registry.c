/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the registry: objects found by number or name, in a process that
 * forks.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/registry.h"
#include "../support/child.h"

enum { NUMBER = 70, OTHER_NUMBER = NUMBER + 64, LIMIT_S = 20 };

static bool has_number(const struct registry_slot *slot, int number)
{
	return atomic_load(&slot->number) == number;
}

static void object_destroy(void *object)
{
	*(int *)object += 1;
}

static struct registry_slot *slot_get(int number)
{
	return ibsa__registry_slot_get(has_number, number, object_destroy);
}

static void slot_put(struct registry_slot *slot)
{
	ibsa__registry_slot_put(slot, object_destroy);
}

/* Return: the object of this number; NULL if there is none. */
static void *object_find(int number)
{
	struct registry_slot *slot = slot_get(number);
	void *object = slot ? slot->object : NULL;

	if (slot)
		slot_put(slot);
	return object;
}

static void object_close(int number)
{
	struct registry_slot *slot = slot_get(number);

	ibsa__registry_slot_close(slot);
	slot_put(slot);
}

/* Return: whether a child that is forked now finds @object by the number. */
static bool child_finds(const void *object)
{
	const pid_t child = fork();
	int status = -1;

	if (!child)
		_exit(object_find(NUMBER) != object);
	return waitpid(child, &status, 0) == child && !status;
}

/*
 * Runs in a child that was forked while other threads of the parent used the
 * object; the child does not have these threads.
 */
static int child_run(int *object)
{
	if (object_find(NUMBER) != object)
		return 1;
	if (!child_finds(object))
		return 2;
	object_close(NUMBER);
	if (*object != 1 || ibsa__registry_has_slot(NUMBER))
		return 3;
	return 0;
}

static void a_child_closes_what_its_parent_uses(void **state)
{
	struct registry_slot *user;
	int object = 0;
	pid_t child;

	(void)state;
	assert_int_equal(ibsa__registry_slot_add(NUMBER, 0, &object), 0);
	user = slot_get(NUMBER);
	assert_ptr_equal(user->object, &object);
	child = fork();
	if (!child)
		_exit(child_run(&object));
	child_end(child);
	object_close(NUMBER);
	assert_int_equal(object, 0);
	/* The descriptor is closed at the end of the use, not before the fork. */
	child = fork();
	if (!child)
		_exit(child_run(&object));
	child_end(child);
	assert_ptr_equal(object_find(NUMBER), &object);
	slot_put(user);
	assert_int_equal(object, 1);
	assert_null(object_find(NUMBER));
}

static void a_slot_is_used_again(void **state)
{
	int first = 0, second = 0, other = 0;
	const struct registry_slot *slot;
	struct registry_slot *again;

	(void)state;
	assert_int_equal(ibsa__registry_slot_add(NUMBER, 0, &first), 0);
	assert_int_equal(ibsa__registry_slot_add(OTHER_NUMBER, 0, &other), 0);
	assert_ptr_equal(object_find(NUMBER), &first);
	slot = slot_get(NUMBER);
	object_close(NUMBER);
	slot_put((struct registry_slot *)(uintptr_t)slot);
	assert_int_equal(first, 1);
	assert_false(ibsa__registry_has_slot(NUMBER));
	assert_int_equal(ibsa__registry_slot_add(NUMBER, 0, &second), 0);
	again = slot_get(NUMBER);
	assert_ptr_equal(again, slot);
	assert_ptr_equal(again->object, &second);
	slot_put(again);
	assert_ptr_equal(object_find(OTHER_NUMBER), &other);
	object_close(NUMBER);
	object_close(OTHER_NUMBER);
	assert_int_equal(second + other, 2);
}

static struct {
	atomic_bool is_over;
	atomic_int wrong;
	atomic_int destroyed;
} shared;

static void number_destroy(void *object)
{
	(void)object;
	atomic_fetch_add(&shared.destroyed, 1);
}

/*
 * Get the object of a number again and again. Count in shared.wrong how often
 * it is another number's object.
 */
static void *getter_run(void *arg)
{
	const int number = *(const int *)arg;
	struct registry_slot *slot;

	while (!atomic_load(&shared.is_over)) {
		slot = ibsa__registry_slot_get(has_number, number,
					       number_destroy);
		if (!slot)
			continue;
		if (slot->object != arg)
			atomic_fetch_add(&shared.wrong, 1);
		ibsa__registry_slot_put(slot, number_destroy);
	}
	return NULL;
}

static void number_close(int number)
{
	struct registry_slot *slot;

	slot = ibsa__registry_slot_get(has_number, number, number_destroy);
	ibsa__registry_slot_close(slot);
	ibsa__registry_slot_put(slot, number_destroy);
}

static void threads_get_the_object_of_a_number(void **state)
{
	enum { GETTERS = 2, ROUNDS = 20000 };
	static int numbers[GETTERS] = { NUMBER, OTHER_NUMBER };
	pthread_t threads[GETTERS];

	(void)state;
	for (int i = 0; i < GETTERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, getter_run,
						&numbers[i]),
				 0);
	for (int i = 0; i < ROUNDS; i++) {
		int *number = &numbers[i % GETTERS];

		assert_int_equal(ibsa__registry_slot_add(*number, 0, number),
				 0);
		number_close(*number);
		/*
		 * When an object is destroyed, its number becomes free for
		 * another object.
		 */
		while (atomic_load(&shared.destroyed) <= i)
			sched_yield();
	}
	atomic_store(&shared.is_over, true);
	for (int i = 0; i < GETTERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(shared.wrong, 0);
	assert_int_equal(shared.destroyed, ROUNDS);
}

/*
 * State of a fork that is in progress, after the registry's prepare handler has
 * run.
 */
static struct {
	bool is_on;
	bool is_usable;
} during_fork;

static void *user_run(void *arg)
{
	int *object = arg;

	during_fork.is_usable = !ibsa__registry_slot_add(NUMBER, 0, object) &&
				object_find(NUMBER) == object &&
				!ibsa__registry_find("no such name");
	object_close(NUMBER);
	return NULL;
}

static void fork_await_user(void)
{
	struct timespec until;
	pthread_t thread;
	int object = 0;

	if (!during_fork.is_on)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LIMIT_S;
	if (pthread_create(&thread, NULL, user_run, &object) ||
	    pthread_timedjoin_np(thread, NULL, &until))
		during_fork.is_usable = false;
}

__attribute__((constructor(101))) static void fork_await_user_install(void)
{
	pthread_atfork(fork_await_user, NULL, NULL);
}

static void no_lock_is_held_during_a_fork(void **state)
{
	pid_t child;

	(void)state;
	during_fork.is_on = true;
	child = fork();
	if (!child)
		_exit(0);
	during_fork.is_on = false;
	child_end(child);
	assert_true(during_fork.is_usable);
}

static int object_make_and_fork(const char *of, void *arg, void **out)
{
	const pid_t child = fork();

	if (!child)
		_exit(ibsa__registry_find(of) != NULL);
	child_end(child);
	*out = arg;
	return 0;
}

static void object_free(void *object)
{
	(void)object;
}

/*
 * A child that was forked while the parent was still making an object does not
 * find it.
 */
static void unfinished_object_is_not_found(void **state)
{
	int made = 0;
	void *object;

	(void)state;
	assert_int_equal(ibsa__registry_get("registry test",
					    object_make_and_fork, &made,
					    &object),
			 0);
	assert_ptr_equal(object, &made);
	ibsa__registry_put(object, object_free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_closes_what_its_parent_uses),
		cmocka_unit_test(a_slot_is_used_again),
		cmocka_unit_test(threads_get_the_object_of_a_number),
		cmocka_unit_test(no_lock_is_held_during_a_fork),
		cmocka_unit_test(unfinished_object_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
