/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client that a forked child inherits: its use in the child and in the
 * parent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "../support/child.h"
#include "../support/inherited.h"

enum { WAIT_MS = 10000 };

static int query_submit(struct ibsa_client *client, struct told *told)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};

	return ibsa_query_start(client, &query, told_reply, told, NULL);
}

/* A client with a service, a watch, and a query in flight. */
static struct ibsa_client *busy_client(struct told *told)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct ibsa_client *client;

	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	told_watch(client, 77, told);
	assert_int_equal(query_submit(client, told), 0);
	return client;
}

/*
 * Fork with a busy client; @work runs in the child and returns whether a check
 * failed. The parent's client continues as if there were no child.
 */
static void fork_beside(bool (*work)(struct ibsa_client *client,
				     const struct told *told))
{
	struct told told = { 0 };
	struct ibsa_client *client = busy_client(&told);
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		exit(work(client, &told));
	child_end(child);
	told_await(client, &told.good, 1);
	assert_int_equal(told.answers, 1);
	assert_int_equal(told.released + told.ended, 0);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(told.released, 1);
	assert_int_equal(told.ended, 1);
}

static bool close_it(struct ibsa_client *client, const struct told *told)
{
	return ibsa_close(client) || told->answers || told->released ||
	       told->ended;
}

static void child_that_closes_it_sends_nothing(void **state)
{
	(void)state;
	fork_beside(close_it);
}

static bool leave_it(struct ibsa_client *client, const struct told *told)
{
	(void)client;
	(void)told;
	return false;
}

static void child_that_ends_with_it_does_no_harm(void **state)
{
	(void)state;
	fork_beside(leave_it);
}

/*
 * The parent has opened the topology file; a child that opens the same file
 * gets its own fabric.
 */
static bool open_its_own(struct ibsa_client *client, const struct told *told)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct told answers = { 0 };
	struct ibsa_client *mine;

	(void)told;
	if (ibsa_close(client) || ibsa_open(&options, NULL, &mine) ||
	    query_submit(mine, &answers))
		return true;
	while (!answers.answers && !ibsa_wait(mine, WAIT_MS))
		;
	return !answers.good || ibsa_close(mine);
}

static void child_opens_its_own(void **state)
{
	(void)state;
	fork_beside(open_its_own);
}

/*
 * A child of a child can use neither the client of its parent nor that of its
 * grandparent.
 */
static bool leave_it_to_a_child(struct ibsa_client *client,
				const struct told *told)
{
	pid_t grandchild = fork();
	int status = 1;

	if (!grandchild)
		exit(ibsa_close(client) || told->ended);
	return waitpid(grandchild, &status, 0) != grandchild || status ||
	       ibsa_close(client) || told->ended;
}

static void grandchild_inherits_too(void **state)
{
	(void)state;
	fork_beside(leave_it_to_a_child);
}

/* Every call by the child is refused, and does not affect the parent. */
static void child_cannot_use_it(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct inherited inherited;
	struct ibsa_client *client;
	pid_t child;

	(void)state;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	inherited_start(client, &inherited);
	fflush(NULL);
	child = fork();
	if (!child)
		exit(!inherited_is_refused(&inherited));
	child_end(child);
	inherited_finish(&inherited);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_that_closes_it_sends_nothing),
		cmocka_unit_test(child_that_ends_with_it_does_no_harm),
		cmocka_unit_test(child_opens_its_own),
		cmocka_unit_test(grandchild_inherits_too),
		cmocka_unit_test(child_cannot_use_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
