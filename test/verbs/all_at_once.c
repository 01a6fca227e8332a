/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reachability, registrations and events of one context from many threads at
 * once, while nodes come and go, and until it is closed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "test/verbs/rig.h"

enum { READERS = 2, ASKERS = 3, REGISTRARS = 2, ROUNDS = 30 };

static struct {
	struct verbs_rig rig;
	union ibv_gid gid;
	atomic_uint wrong;
	atomic_uint events;
	atomic_uint done;
} common;

static void expect(bool is_right)
{
	if (!is_right)
		atomic_fetch_add(&common.wrong, 1);
}

/* Read events until the context is closed. */
static void *read_events(void *arg)
{
	struct ibv_context *context = arg;
	struct ibsa_async_event event;

	while (!ibsa_get_async_event(context, &event)) {
		expect(event.event_type == IBV_EVENT_GID_AVAIL ||
		       event.event_type == IBV_EVENT_GID_UNAVAIL);
		/* Programs often query a GID right after its event. */
		expect(!ibv_gid_reachable(context, 1, &common.gid, 0));
		ibsa_ack_async_event(&event);
		atomic_fetch_add(&common.events, 1);
	}
	expect(errno == EBADF);
	return NULL;
}

static void *gids_reach(void *arg)
{
	union ibv_gid unknown = common.gid;

	unknown.raw[15] ^= 0x55;
	for (int i = 0; i < ROUNDS; i++) {
		expect(!ibv_gid_reachable(arg, 1u + i % 2, &common.gid, 0));
		expect(ibv_gid_reachable(arg, 0, &unknown, 0) == -1 &&
		       errno == ENXIO);
	}
	atomic_fetch_add(&common.done, 1);
	return NULL;
}

static void *register_all(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		const unsigned int kind = i % 2 ? IBV_SM_EVENT_UGID
						: IBV_SM_EVENT_UGID_ALL;
		union ibv_gid *gids = i % 2 ? &common.gid : NULL;

		expect(!ibv_register_sm_events(arg, kind, i % 2, gids));
		expect(!ibv_unregister_sm_events(arg, kind, i % 2, gids));
	}
	atomic_fetch_add(&common.done, 1);
	return NULL;
}

/*
 * Open, use and close contexts of this thread alone, while other threads use
 * the common context.
 */
static void *open_and_close(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_context *own = verbs_rig_open(&common.rig, "node2");

		expect(!ibsa_verbs_attach(own, NULL));
		expect(!ibv_register_sm_events(own, IBV_SM_EVENT_ALL, 0, NULL));
		expect(!ibv_gid_reachable(own, 0, &common.gid, 0));
		if (i % 2)
			expect(!ibsa_verbs_detach(own));
		expect(!ibsa_close_device(own));
	}
	atomic_fetch_add(&common.done, 1);
	return NULL;
}

static void calls_from_many_threads_at_once(void **state)
{
	pthread_t readers[READERS];
	pthread_t workers[ASKERS + REGISTRARS + 1];
	struct ibv_context *context;

	(void)state;
	verbs_rig_start(&common.rig, false);
	context = common.rig.context;
	common.gid = verbs_rig_gid(&common.rig, "node2", 1);
	assert_int_equal(
		ibv_register_sm_events(context, IBV_SM_EVENT_ALL, 0, NULL), 0);
	for (int i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, read_events, context);
	for (int i = 0; i < ASKERS + REGISTRARS; i++)
		pthread_create(&workers[i], NULL,
			       i < ASKERS ? gids_reach : register_all, context);
	pthread_create(&workers[ASKERS + REGISTRARS], NULL, open_and_close,
		       NULL);
	for (bool up = false; atomic_load(&common.done) <= ASKERS + REGISTRARS;
	     up = !up) {
		const unsigned int before = atomic_load(&common.events);

		verbs_rig_plug(&common.rig, "node3", 2, up);
		while (atomic_load(&common.events) == before)
			sched_yield();
	}
	for (int i = 0; i <= ASKERS + REGISTRARS; i++)
		pthread_join(workers[i], NULL);
	verbs_rig_stop(&common.rig);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	assert_int_equal(common.wrong, 0);
	assert_true(common.events > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_from_many_threads_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
