/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibv_gid_reachable(): every row of its table of errors. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test/support/child.h"
#include "test/support/device_tree.h"
#include "test/verbs/rig.h"

static struct verbs_rig rig;

static void gids_with_a_path_are_reachable(void **state)
{
	union ibv_gid other = verbs_rig_gid(&rig, "node2", 1);
	union ibv_gid own = verbs_rig_gid(&rig, "node1", 1);

	(void)state;
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &other, 0), 0);
	assert_int_equal(ibv_gid_reachable(rig.context, 2, &other, 0), 0);
	assert_int_equal(ibv_gid_reachable(rig.context, 0, &other, 0), 0);
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &own, 0), 0);
}

static void gids_without_a_path_are_not(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);
	union ibv_gid unknown = gid;
	union ibv_gid elsewhere = gid;

	(void)state;
	unknown.raw[15] ^= 0xff;
	elsewhere.raw[0] = 0x20;
	assert_errno(ibv_gid_reachable(rig.context, 1, &unknown, 0), ENXIO);
	assert_errno(ibv_gid_reachable(rig.context, 1, &elsewhere, 0), ENXIO);
	verbs_rig_plug(&rig, "node2", 1, false);
	assert_errno(ibv_gid_reachable(rig.context, 1, &gid, 0), ENXIO);
	verbs_rig_plug(&rig, "node2", 1, true);
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &gid, 0), 0);
}

/* As in OpenSM, a group exists while it has a member. */
static void group_is_reachable_while_it_exists(void **state)
{
	union ibv_gid group = verbs_rig_group(1);

	(void)state;
	assert_errno(ibv_gid_reachable(rig.context, 1, &group, 0), ENXIO);
	verbs_rig_join(&rig, "node1", &group, true);
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &group, 0), 0);
	verbs_rig_join(&rig, "node1", &group, false);
	assert_errno(ibv_gid_reachable(rig.context, 1, &group, 0), ENXIO);
}

static void timeout_does_not_matter(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);

	(void)state;
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &gid, 1), 0);
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &gid, -1), 0);
}

static void wrong_arguments_are_invalid(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);
	union ibv_gid zero = { { 0 } };

	(void)state;
	assert_errno(ibv_gid_reachable(NULL, 1, &gid, 0), EINVAL);
	assert_errno(ibv_gid_reachable(rig.context, 1, NULL, 0), EINVAL);
	assert_errno(ibv_gid_reachable(rig.context, 1, &zero, 0), EINVAL);
	assert_errno(ibv_gid_reachable(rig.context, 3, &gid, 0), EINVAL);
	assert_errno(ibv_gid_reachable(rig.context, 257, &gid, 0), EINVAL);
}

static void port_without_an_sa_is_invalid(void **state)
{
	const struct ibsa_options options = { .device = "rxe0", .fabric = "" };
	union ibv_gid gid = { { 0xfe, 0x80, [15] = 1 } };
	struct ibv_context *context;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "rxe0");
	tree_set_port(&tree, "rxe0", 1, "link_layer", "Ethernet\n");
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	assert_errno(ibv_gid_reachable(context, 1, &gid, 0), EINVAL);
	assert_errno(ibv_gid_reachable(context, 0, &gid, 0), EIO);
	assert_errno(ibv_gid_reachable(context, 2, &gid, 0), EINVAL);
	assert_int_equal(ibsa_verbs_close(context), 0);
	tree_remove(&tree);
}

static void child_has_no_contexts(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);
	pid_t child;

	(void)state;
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &gid, 0), 0);
	child = fork();
	if (!child)
		_exit(ibv_gid_reachable(rig.context, 1, &gid, 0) == -1 &&
				      errno == EINVAL
			      ? 0
			      : 1);
	child_end(child);
}

static void first_active_port_is_chosen(void **state)
{
	struct ibv_context *context = verbs_rig_open(&rig, "node3");
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);

	(void)state;
	assert_errno(ibv_gid_reachable(context, 1, &gid, 0), EIO);
	assert_int_equal(ibv_gid_reachable(context, 0, &gid, 0), 0);
	gid.raw[0] = 0x20;
	assert_errno(ibv_gid_reachable(context, 0, &gid, 0), ENXIO);
	assert_int_equal(ibsa_close_device(context), 0);
	gid = verbs_rig_gid(&rig, "node3", 2);
	verbs_rig_plug(&rig, "node1", 1, false);
	assert_errno(ibv_gid_reachable(rig.context, 1, &gid, 0), EIO);
}

static void without_a_port_there_is_an_error(void **state)
{
	struct ibv_context *context = verbs_rig_open(&rig, "node3");
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);

	(void)state;
	verbs_rig_plug(&rig, "node3", 2, false);
	assert_errno(ibv_gid_reachable(context, 0, &gid, 0), EIO);
	assert_errno(ibv_gid_reachable(context, 2, &gid, 0), EIO);
	verbs_rig_plug(&rig, "node3", 2, true);
	assert_int_equal(ibv_gid_reachable(context, 0, &gid, 0), 0);
	verbs_rig_plug(&rig, "node3", 2, false);
	assert_errno(ibv_gid_reachable(context, 2, &gid, 0), EIO);
	verbs_rig_plug(&rig, "node3", 2, true);
	assert_int_equal(ibv_gid_reachable(context, 2, &gid, 0), 0);
	assert_int_equal(ibsa_close_device(context), 0);
}

static void without_an_sm_there_is_an_error(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);

	(void)state;
	ibsa_fabric_sa_set(rig.fabric, false);
	assert_errno(ibv_gid_reachable(rig.context, 1, &gid, 0), EIO);
	ibsa_fabric_sa_set(rig.fabric, true);
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &gid, 0), 0);
}

static void silence_and_refusal_are_errors(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);

	(void)state;
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, true);
	assert_errno(ibv_gid_reachable(rig.context, 1, &gid, 0), EIO);
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, false);
	verbs_rig_fault(&rig, IBSA_FAULT_BUSY, true);
	assert_errno(ibv_gid_reachable(rig.context, 1, &gid, 0), EIO);
	verbs_rig_fault(&rig, IBSA_FAULT_BUSY, false);
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &gid, 0), 0);
}

/* A thread in a call, and the signals that it received. */
static struct {
	pthread_t thread;
	union ibv_gid gid;
	atomic_int handled;
	atomic_bool has_returned;
	int result;
	int error;
} asker;

static void handle(int signal)
{
	(void)signal;
	atomic_fetch_add(&asker.handled, 1);
}

static void *reach_call(void *arg)
{
	(void)arg;
	asker.result = ibv_gid_reachable(rig.context, 1, &asker.gid, 0);
	asker.error = errno;
	atomic_store(&asker.has_returned, true);
	return NULL;
}

static uint64_t requests(void)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(rig.fabric, &stats);
	return stats.requests;
}

/*
 * Call ibv_gid_reachable() in another thread, and wait until its query is sent:
 * the thread then waits for the reply, or soon will.
 */
static void reach_in_thread(int flags)
{
	const struct sigaction action = { .sa_handler = handle,
					  .sa_flags = flags };
	const uint64_t before = requests();

	asker.gid = verbs_rig_gid(&rig, "node2", 1);
	atomic_store(&asker.handled, 0);
	atomic_store(&asker.has_returned, false);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pthread_create(&asker.thread, NULL, reach_call, NULL),
			 0);
	while (requests() == before)
		sched_yield();
}

static void signal_ends_the_call(void **state)
{
	(void)state;
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, true);
	reach_in_thread(0);
	while (!atomic_load(&asker.has_returned)) {
		pthread_kill(asker.thread, SIGUSR1);
		sched_yield();
	}
	pthread_join(asker.thread, NULL);
	assert_int_equal(asker.result, -1);
	assert_int_equal(asker.error, EINTR);
}

static void signal_that_restarts_does_not(void **state)
{
	(void)state;
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, true);
	reach_in_thread(SA_RESTART);
	while (atomic_load(&asker.handled) < 100) {
		pthread_kill(asker.thread, SIGUSR1);
		sched_yield();
	}
	assert_false(atomic_load(&asker.has_returned));
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, false);
	pthread_join(asker.thread, NULL);
	assert_int_equal(asker.result, 0);
}

static void close_ends_the_call(void **state)
{
	(void)state;
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, true);
	reach_in_thread(0);
	assert_int_equal(ibsa_close_device(rig.context), 0);
	pthread_join(asker.thread, NULL);
	assert_int_equal(asker.result, -1);
	assert_int_equal(asker.error, EIO);
	verbs_rig_fault(&rig, IBSA_FAULT_SILENCE, false);
	rig.context = verbs_rig_open(&rig, "node1");
}

/* The call of one context ends at once, the device of both stays open. */
static void close_leaves_the_other_context(void **state)
{
	struct ibv_context *other = verbs_rig_open(&rig, "node1");
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);
	struct timespec start, end;

	(void)state;
	assert_int_equal(ibv_gid_reachable(other, 1, &gid, 0), 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	close_ends_the_call(NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_in_range(end.tv_sec - start.tv_sec, 0, 5);
	assert_int_equal(ibv_gid_reachable(other, 1, &gid, 0), 0);
	assert_int_equal(ibsa_close_device(other), 0);
	assert_int_equal(ibv_gid_reachable(rig.context, 1, &gid, 0), 0);
}

#define TEST(name) VERBS_TEST(name, &rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gids_with_a_path_are_reachable),
		TEST(gids_without_a_path_are_not),
		TEST(group_is_reachable_while_it_exists),
		TEST(timeout_does_not_matter),
		TEST(wrong_arguments_are_invalid),
		cmocka_unit_test(port_without_an_sa_is_invalid),
		TEST(child_has_no_contexts),
		TEST(first_active_port_is_chosen),
		TEST(without_a_port_there_is_an_error),
		TEST(without_an_sm_there_is_an_error),
		VERBS_VIRTUAL_TEST(silence_and_refusal_are_errors, &rig),
		TEST(signal_ends_the_call),
		TEST(signal_that_restarts_does_not),
		TEST(close_ends_the_call),
		TEST(close_leaves_the_other_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
