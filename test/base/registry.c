/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a forked child finds of its parent's objects. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/registry.h"
#include "../support/child.h"

enum { NUMBER = 70, SAME_REMAINDER = NUMBER + 64, LIMIT_S = 20 };

/* A thread that has just had its handlers installed, and what it waits for. */
static struct {
	bool is_on;
	sem_t installed;
	sem_t forked;
} pause_at;

int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void),
			  void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void),
			  void (*child)(void));

int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void),
			  void (*child)(void))
{
	const int err = __real_pthread_atfork(prepare, parent, child);

	if (!pause_at.is_on)
		return err;
	sem_post(&pause_at.installed);
	sem_wait(&pause_at.forked);
	return err;
}

static void *first_user_run(void *arg)
{
	(void)ibsa__process();
	return arg;
}

/* A child of a process that has not finished installing its handlers. */
static void child_uses_and_forks(void)
{
	int status = -1;
	pid_t child;

	alarm(LIMIT_S);
	(void)ibsa__process();
	child = fork();
	if (!child)
		_exit(0);
	_exit(waitpid(child, &status, 0) != child || status);
}

/* No thread of this process has used the registry. */
static void fresh_process_run(void)
{
	pthread_t thread;
	int status = -1;
	pid_t child;

	pause_at.is_on = true;
	if (sem_init(&pause_at.installed, 0, 0) ||
	    sem_init(&pause_at.forked, 0, 0) ||
	    pthread_create(&thread, NULL, first_user_run, NULL))
		_exit(2);
	sem_wait(&pause_at.installed);
	pause_at.is_on = false;
	child = fork();
	if (!child)
		child_uses_and_forks();
	sem_post(&pause_at.forked);
	pthread_join(thread, NULL);
	_exit(waitpid(child, &status, 0) != child || status);
}

/* The child would install them once more, and its next fork wait for itself. */
static void fork_beside_the_first_use(void **state)
{
	const pid_t child = fork();

	(void)state;
	if (!child)
		fresh_process_run();
	child_end(child);
}

/* What the process has by that number, or its parent had. */
static const struct registry_number *object_find(int number)
{
	const struct registry_number *parents = NULL;
	struct registry_number *own;

	own = ibsa__registry_number_find(number, &parents);
	if (own)
		(void)ibsa__registry_number_put(own);
	return own ? own : parents;
}

/* Whether a child that is forked now has @object by the number. */
static bool child_finds(const struct registry_number *object)
{
	const pid_t child = fork();
	int status = -1;

	if (!child)
		_exit(object_find(NUMBER) != object);
	return waitpid(child, &status, 0) == child && !status;
}

/* Before and after the child takes over what its parent had. */
static int child_run(const struct registry_number *parents)
{
	struct registry_number own, late;

	if (!child_finds(parents))
		return 1;
	if (ibsa__registry_number_adopt(&own, NUMBER) != &own)
		return 2;
	if (!child_finds(&own))
		return 3;
	/* Another thread that adopts at the same time gets the first one's. */
	if (ibsa__registry_number_adopt(&late, NUMBER) != &own)
		return 4;
	return 0;
}

static void grandchild_finds_the_object(void **state)
{
	struct registry_number object;
	pid_t child;

	(void)state;
	ibsa__registry_number_add(&object, NUMBER);
	child = fork();
	if (!child)
		_exit(child_run(&object));
	child_end(child);
	assert_true(ibsa__registry_number_put(&object));
	assert_null(object_find(NUMBER));
	assert_false(ibsa__registry_has_numbers());
}

static void a_number_is_the_last_ones(void **state)
{
	struct registry_number first, second, other;

	(void)state;
	ibsa__registry_number_add(&first, NUMBER);
	ibsa__registry_number_add(&other, SAME_REMAINDER);
	ibsa__registry_number_add(&second, NUMBER);
	assert_ptr_equal(object_find(NUMBER), &second);
	assert_ptr_equal(object_find(SAME_REMAINDER), &other);
	assert_true(ibsa__registry_number_put(&first));
	assert_ptr_equal(object_find(NUMBER), &second);
	assert_true(ibsa__registry_number_put(&second));
	assert_true(ibsa__registry_number_put(&other));
	assert_false(ibsa__registry_has_numbers());
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

/* Nothing that the parent had not finished is an object. */
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
		/* First: it needs a process without handlers. */
		cmocka_unit_test(fork_beside_the_first_use),
		cmocka_unit_test(grandchild_finds_the_object),
		cmocka_unit_test(a_number_is_the_last_ones),
		cmocka_unit_test(unfinished_object_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
