/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a fork leaves a child of a client at a port of the kernel's, and its
 * parent: they share one open file.
 *
 * usage: vm-fork REPORTER
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/event.h>
#include <ibsa/service.h>

#include "test/vm/sa_rig.h"

enum { TEST_S = 60, WAIT_MS = 5000, LATE_MS = 400 };

#define GID "fe800000000000000000000000000077"

static const char *reporter;

/* A client with a service, a watch, and a query that is answered late. */
struct parent {
	struct sa sa;
	struct ibsa_client *client;
	struct sa_seen late;
	int subscribed, reports, ended;
	int registered, released;
};

static void note_event(const struct ibsa_event *event, void *arg)
{
	struct parent *parent = arg;

	parent->subscribed += event->kind == IBSA_EVENT_SUBSCRIBED;
	parent->reports += event->kind == IBSA_EVENT_GID_IN;
	parent->ended += event->kind == IBSA_EVENT_ENDED;
}

static void note_kept(const struct ibsa_kept_report *report, void *arg)
{
	struct parent *parent = arg;

	parent->registered += report->event == IBSA_KEPT_REGISTERED;
	parent->released += report->event == IBSA_KEPT_RELEASED;
}

static void await(struct parent *parent, const int *what)
{
	while (!*what)
		assert_int_equal(ibsa_wait(parent->client, WAIT_MS), 0);
}

static int setup(void **state)
{
	static struct parent parent;
	const struct ibsa_service service = { .service_id = sa_service('K',
								       1) };
	const struct ibsa_service_keep keep = {
		.service = &service,
		.mask = IBSA_SERVICE_CM(service_id),
	};
	struct ibsa_event_watch *watch;
	struct ibsa_kept *kept;

	alarm(TEST_S);
	parent = (struct parent){ 0 };
	sa_start(&parent.sa, reporter);
	parent.client = sa_client(&parent.sa, NULL);
	assert_int_equal(ibsa_event_watch(parent.client, NULL, note_event,
					  &parent, NULL, &watch),
			 0);
	await(&parent, &parent.subscribed);
	assert_int_equal(ibsa_service_keep(parent.client, &keep, note_kept,
					   &parent, &kept),
			 0);
	await(&parent, &parent.registered);
	sa_await(&parent.sa, "subscribed 4");
	sa_await(&parent.sa, "kept 1");
	assert_int_equal(sa_ask(parent.client, sa_service('L', LATE_MS),
				IBSA_METHOD_GET, WAIT_MS, WAIT_MS,
				&parent.late),
			 0);
	fflush(NULL);
	*state = &parent;
	return 0;
}

/* As if there were no child: the answer comes, reports come and are answered,
 * and only now does what the SA has of it end. */
static int teardown(void **state)
{
	struct parent *parent = *state;

	sa_wait(parent->client, &parent->late);
	assert_int_equal(parent->late.err, 0);
	sa_report(&parent->sa, 64, GID);
	await(parent, &parent->reports);
	sa_await_still(&parent->sa, "answered 64");
	sa_assert_answers(parent->client);
	assert_int_equal(parent->ended + parent->released, 0);
	assert_int_equal(ibsa_close(parent->client), 0);
	sa_await(&parent->sa, "kept 0");
	sa_stop(&parent->sa);
	return 0;
}

static void child_end(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void child_that_closes_the_client_disturbs_nobody(void **state)
{
	struct parent *parent = *state;
	pid_t child = fork();

	if (!child)
		exit(ibsa_close(parent->client) || parent->late.calls ||
		     parent->ended || parent->released);
	child_end(child);
}

static void child_that_ends_disturbs_nobody(void **state)
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

/* Their answers are apart: each has a file of its own. */
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
		WITH_A_PARENT(child_that_closes_the_client_disturbs_nobody),
		WITH_A_PARENT(child_that_ends_disturbs_nobody),
		WITH_A_PARENT(child_that_runs_a_program_has_no_file),
		WITH_A_PARENT(child_has_clients_of_its_own),
	};

	if (argc != 2)
		return 2;
	reporter = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
