/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a client that a forked child inherits is there, and in its parent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/event.h>
#include <ibsa/service.h>

enum { WAIT_MS = 10000 };

/* What the callbacks of one client were told. */
struct told {
	int answers, good;
	int registered, released;
	int subscribed, ended;
};

static void note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct told *told = arg;

	told->answers++;
	told->good += ibsa_outcome(reply) == IBSA_OUTCOME_OK;
}

static void note_kept(const struct ibsa_kept_report *report, void *arg)
{
	struct told *told = arg;

	told->registered += report->event == IBSA_KEPT_REGISTERED;
	told->released += report->event == IBSA_KEPT_RELEASED;
}

static void note_event(const struct ibsa_event *event, void *arg)
{
	struct told *told = arg;

	told->subscribed += event->kind == IBSA_EVENT_SUBSCRIBED;
	told->ended += event->kind == IBSA_EVENT_ENDED;
}

static int ask(struct ibsa_client *client, struct told *told)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};

	return ibsa_query(client, &query, note_reply, told, NULL);
}

static void await(struct ibsa_client *client, const int *what, int times)
{
	while (*what < times)
		assert_int_equal(ibsa_wait(client, WAIT_MS), 0);
}

/* A client with a service, a watch, and a query under way. */
static struct ibsa_client *busy_client(struct told *told)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	const struct ibsa_service service = { .service_id = 77 };
	const struct ibsa_service_keep keep = {
		.service = &service,
		.mask = IBSA_SERVICE_CM(service_id),
	};
	struct ibsa_event_watch *watch;
	struct ibsa_client *client;
	struct ibsa_kept *kept;

	*told = (struct told){ 0 };
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(
		ibsa_service_keep(client, &keep, note_kept, told, &kept), 0);
	assert_int_equal(ibsa_event_watch(client, NULL, note_event, told, NULL,
					  &watch),
			 0);
	await(client, &told->registered, 1);
	await(client, &told->subscribed, 1);
	assert_int_equal(ask(client, told), 0);
	return client;
}

/* The parent's goes on as if there were no child. */
static void finish(struct ibsa_client *client, struct told *told, pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	await(client, &told->good, 1);
	assert_int_equal(told->answers, 1);
	assert_int_equal(told->released + told->ended, 0);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(told->released, 1);
	assert_int_equal(told->ended, 1);
}

static void child_that_closes_it_tells_nobody(void **state)
{
	struct told told;
	struct ibsa_client *client = busy_client(&told);
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	if (!child) {
		int err = ibsa_close(client);

		exit(err || told.answers || told.released || told.ended);
	}
	finish(client, &told, child);
}

static void child_that_ends_with_it_disturbs_nobody(void **state)
{
	struct told told;
	struct ibsa_client *client = busy_client(&told);
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	if (!child)
		exit(0);
	finish(client, &told, child);
}

/* Even from its parent's fabric's file: the child has a fabric of its own. */
static void child_opens_its_own(void **state)
{
	struct told told;
	struct ibsa_client *client = busy_client(&told);
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	if (!child) {
		const struct ibsa_options options = { .fabric = FABRIC };
		struct ibsa_client *mine;
		struct told answers = { 0 };

		if (ibsa_close(client) || ibsa_open(&options, NULL, &mine) ||
		    ask(mine, &answers))
			exit(1);
		while (!answers.answers && !ibsa_wait(mine, WAIT_MS))
			;
		exit(!answers.good || ibsa_close(mine));
	}
	finish(client, &told, child);
}

/* A child's child has no more right to it, nor to its parent's. */
static void grandchild_inherits_too(void **state)
{
	struct told told;
	struct ibsa_client *client = busy_client(&told);
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	if (!child) {
		int status = 1;
		pid_t grandchild = fork();

		if (!grandchild)
			exit(ibsa_close(client) || told.ended);
		if (waitpid(grandchild, &status, 0) != grandchild)
			exit(1);
		exit(status || ibsa_close(client) || told.ended);
	}
	finish(client, &told, child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_that_closes_it_tells_nobody),
		cmocka_unit_test(child_that_ends_with_it_disturbs_nobody),
		cmocka_unit_test(child_opens_its_own),
		cmocka_unit_test(grandchild_inherits_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
