/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a forked child finds of its parent's objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/registry.h"
#include "child.h"

static const char name[] = "registry test";

static int object_make(const char *of, void *arg, void **out)
{
	(void)of;
	*out = arg;
	return 0;
}

static void object_free(void *object)
{
	(void)object;
}

/* In a child: whether its parent had @object, without a word if not. */
static bool child_finds(const void *object)
{
	const pid_t child = fork();
	int status = -1;

	if (!child)
		_exit(ibsa__registry_inherited(name) != object);
	return waitpid(child, &status, 0) == child && !status;
}

/* While an object is made, another thread may fork: here it is this one.
 * @arg: what the parent of the child's parent had. */
static int object_make_and_fork(const char *of, void *arg, void **out)
{
	(void)of;
	*out = arg;
	return child_finds(arg) ? 0 : -1;
}

static void grandchild_finds_the_object(void **state)
{
	int number = 0;
	void *object;
	void *again;
	pid_t child;

	(void)state;
	assert_int_equal(
		ibsa__registry_get(name, object_make, &number, &object), 0);
	child = fork();
	if (!child)
		_exit(ibsa__registry_get(name, object_make_and_fork, object,
					 &again) != 0);
	child_end(child);
	ibsa__registry_put(object, object_free);
}

/* Nothing that the parent had not finished is an object. */
static void unfinished_object_is_not_found(void **state)
{
	void *object;

	(void)state;
	assert_int_equal(ibsa__registry_get(name, object_make_and_fork, NULL,
					    &object),
			 0);
	ibsa__registry_put(object, object_free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grandchild_finds_the_object),
		cmocka_unit_test(unfinished_object_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
