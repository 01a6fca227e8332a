/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client at a port of the kernel after a fork, in the child and in the parent:
 * both have the same open file.
 *
 * usage: vm-fork REPORTER
 */
#include <stdlib.h>
#include <unistd.h>

#include "test/support/child.h"
#include "test/support/told.h"
#include "test/vm/sa_rig.h"

enum { WAIT_MS = 5000, LATE_MS = 400 };

/* A client with a service, a watch, and a query that is answered late. */
struct parent {
	struct sa sa;
	struct ibsa_client *client;
	struct sa_seen late;
	struct told told;
};

static int setup(void **state)
{
	static struct parent parent;
	struct reporter *reporter = &parent.sa.reporter;

	parent = (struct parent){ 0 };
	sa_start(&parent.sa);
	parent.client = sa_client(&parent.sa, NULL);
	told_watch(parent.client, sa_service('K', 1), &parent.told);
	reporter_await(reporter, "subscribed 4");
	reporter_await(reporter, "kept 1");
	assert_int_equal(sa_query_submit(parent.client,
					 sa_service('L', LATE_MS),
					 IBSA_METHOD_GET, WAIT_MS, WAIT_MS,
					 &parent.late),
			 0);
	fflush(NULL);
	*state = &parent;
	return 0;
}

/*
 * The parent works as if there were no child: the reply comes, Reports come and
 * get a response, and the registrations at the SA end only when the parent
 * closes the client.
 */
static int teardown(void **state)
{
	struct parent *parent = *state;
	const struct told *told = &parent->told;

	sa_wait(parent->client, &parent->late);
	assert_int_equal(parent->late.err, 0);
	reporter_report(&parent->sa.reporter, 64, SA_GID);
	told_await(parent->client, &told->reports, 1);
	sa_await_still(&parent->sa, "answered 64");
	sa_assert_answers(parent->client);
	assert_int_equal(told->ended + told->released, 0);
	assert_int_equal(ibsa_close(parent->client), 0);
	reporter_await(&parent->sa.reporter, "kept 0");
	sa_stop(&parent->sa);
	return 0;
}

static void child_that_closes_the_client_does_no_harm(void **state)
{
	struct parent *parent = *state;
	pid_t child = fork();

	if (!child)
		exit(ibsa_close(parent->client) || parent->late.calls ||
		     parent->told.ended || parent->told.released);
	child_end(child);
}

static void child_that_ends_does_no_harm(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child)
		exit(0);
	child_end(child);
}

static void child_that_runs_a_program_has_no_file(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child) {
		execl("/bin/sh", "sh", "-c",
		      "! ls -l /proc/self/fd 2>/dev/null | grep -q infiniband",
		      (char *)NULL);
		_exit(127);
	}
	child_end(child);
}

/*
 * Parent and child have a file of their own each, so their replies are
 * separate.
 */
static void child_has_clients_of_its_own(void **state)
{
	struct parent *parent = *state;
	pid_t child = fork();

	if (!child) {
		struct ibsa_client *mine;

		if (ibsa_close(parent->client))
			exit(1);
		mine = sa_client(&parent->sa, NULL);
		for (int i = 0; i < 20; i++)
			sa_assert_answers(mine);
		exit(ibsa_close(mine));
	}
	for (int i = 0; i < 20; i++)
		sa_assert_answers(parent->client);
	child_end(child);
}

#define WITH_A_PARENT(test) \
	cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WITH_A_PARENT(child_that_closes_the_client_does_no_harm),
		WITH_A_PARENT(child_that_ends_does_no_harm),
		WITH_A_PARENT(child_that_runs_a_program_has_no_file),
		WITH_A_PARENT(child_has_clients_of_its_own),
	};

	if (!reporter_is_named(argc, argv))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
