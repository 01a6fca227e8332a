/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for a child that a test has forked. */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

/* Wait for @child, the pid from fork(), and check that its exit status is 0. */
static inline void child_end(pid_t child)
{
	int status = -1;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#endif
