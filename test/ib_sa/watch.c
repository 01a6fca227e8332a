/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches for events by <ibsa/ib_sa.h>: from any thread, until they end. */
#include <pthread.h>

#include "test/ib_sa/rig.h"

enum { SEEN = 64, NODE2_PORT1 = 0x100004 };

/*
 * The events of a watch; locked, since a worker reports them in its own thread.
 */
struct diary {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int count;
	struct ibsa_event events[SEEN];
};

static void note(const struct ibsa_event *event, void *arg)
{
	struct diary *diary = arg;

	pthread_mutex_lock(&diary->lock);
	assert_in_range(diary->count, 0, SEEN - 1);
	diary->events[diary->count++] = *event;
	pthread_cond_broadcast(&diary->more);
	pthread_mutex_unlock(&diary->lock);
}

static const struct diary empty = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.more = PTHREAD_COND_INITIALIZER,
};

static struct rig rig;

static int start(void **state)
{
	(void)state;
	rig_start(&rig);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	rig_stop(&rig);
	return 0;
}

static struct ibsa_device_watch *watch(struct diary *diary)
{
	struct ibsa_device_watch *out = NULL;

	assert_int_equal(ibsa_device_watch_start(&rig.client, rig.device, 1,
						 NULL, note, diary, &out),
			 0);
	assert_non_null(out);
	return out;
}

static void run_until(const struct diary *diary, int count)
{
	while (diary->count < count)
		assert_int_equal(ibsa_ib_device_wait(rig.device, -1), 0);
}

static const struct ibsa_event *expect(const struct diary *diary, int n,
				       enum ibsa_event_kind kind)
{
	assert_true(n < diary->count);
	assert_string_equal(ibsa_event_name(diary->events[n].kind),
			    ibsa_event_name(kind));
	assert_null(diary->events[n].watch);
	return &diary->events[n];
}

static void plug(const char *node, bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	assert_int_equal(ibsa_fabric_port_set(rig.fabric, node, 1, &change), 0);
}

static void host_that_leaves_is_told(void **state)
{
	struct diary diary = empty;
	struct ibsa_device_watch *handle = watch(&diary);
	const struct ibsa_event *event;

	(void)state;
	assert_int_equal(diary.count, 0);
	run_until(&diary, 1);
	expect(&diary, 0, IBSA_EVENT_SUBSCRIBED);
	plug("node2", false);
	run_until(&diary, 2);
	event = expect(&diary, 1, IBSA_EVENT_GID_OUT);
	assert_int_equal(ibsa_be64(event->gid.raw + 8), NODE2_PORT1);
	assert_int_equal(event->port_num, 1);
	ibsa_device_watch_stop(handle);
	ibsa_device_watch_stop(handle);
	assert_int_equal(diary.count, 2);
	run_until(&diary, 3);
	assert_int_equal(expect(&diary, 2, IBSA_EVENT_ENDED)->err, 0);
	ibsa_device_watch_stop(handle);
	ibsa_device_watch_stop(NULL);
	plug("node2", true);
	assert_int_equal(ibsa_ib_device_wait(rig.device, RIG_TIMEOUT_MS), 0);
	assert_int_equal(diary.count, 3);
}

static void filter_is_copied(void **state)
{
	struct ibsa_gid gid = { { 0xfe, 0x80 } };
	const struct ibsa_event_options options = {
		.kinds = IBSA_EVENT_GID_OUT,
		.gids = &gid,
		.gid_count = 1,
	};
	struct ibsa_device_watch *handle;
	struct diary diary = empty;

	(void)state;
	ibsa_put_be64(gid.raw + 8, NODE2_PORT1);
	assert_int_equal(ibsa_device_watch_start(&rig.client, rig.device, 1,
						 &options, note, &diary,
						 &handle),
			 0);
	memset(&gid, 0, sizeof(gid));
	run_until(&diary, 1);
	plug("node2", false);
	run_until(&diary, 2);
	expect(&diary, 1, IBSA_EVENT_GID_OUT);
	ib_sa_unregister_client(&rig.client);
	assert_int_equal(diary.count, 3);
}

static void wrong_watches_are_refused(void **state)
{
	const struct ibsa_event_options no_kind = { .kinds = 1 << 16 };
	const struct ibsa_event_options no_gids = { .gid_count = 1 };
	struct ibsa_device_watch *handle = NULL;
	struct ib_sa_client stranger = { 0 };
	struct diary diary = empty;

	(void)state;
#define REFUSED(client, port, options, fn, err)                            \
	assert_int_equal(ibsa_device_watch_start(client, rig.device, port, \
						 options, fn, &diary,      \
						 &handle),                 \
			 err)
	REFUSED(&stranger, 1, NULL, note, -EINVAL);
	REFUSED(&rig.client, 1, NULL, NULL, -EINVAL);
	REFUSED(&rig.client, 1, &no_kind, note, -EINVAL);
	REFUSED(&rig.client, 1, &no_gids, note, -EINVAL);
	REFUSED(&rig.client, 0, NULL, note, -ENODEV);
	REFUSED(&rig.client, 3, NULL, note, -ENODEV);
#undef REFUSED
	assert_null(handle);
	assert_int_equal(rig.client.users, 1);
	assert_int_equal(diary.count, 0);
}

/*
 * A second device of the same port counts as another program, which cannot
 * receive the Reports: its watch ends with -EBUSY.
 */
static void reports_go_to_one_program_only(void **state)
{
	struct ib_device *first = rig.device;
	struct diary one = empty;
	struct diary two = empty;

	(void)state;
	watch(&one);
	run_until(&one, 1);
	rig.device = rig_open(rig.fabric, "node1", true);
	watch(&two);
	run_until(&two, 1);
	assert_int_equal(expect(&two, 0, IBSA_EVENT_ENDED)->err, -EBUSY);
	ibsa_ib_device_put(rig.device);
	rig.device = first;
	ib_sa_unregister_client(&rig.client);
	assert_int_equal(expect(&one, 1, IBSA_EVENT_ENDED)->err, 0);
}

static void put_ends_watches(void **state)
{
	struct diary begun = empty;
	struct diary new = empty;

	(void)state;
	watch(&begun);
	run_until(&begun, 1);
	watch(&new);
	ibsa_ib_device_put(rig.device);
	rig.device = NULL;
	expect(&begun, 1, IBSA_EVENT_ENDED);
	assert_int_equal(begun.count, 2);
	assert_int_equal(expect(&new, 0, IBSA_EVENT_ENDED)->err, -ECANCELED);
	assert_int_equal(new.count, 1);
}

static void await(struct diary *diary, int count)
{
	pthread_mutex_lock(&diary->lock);
	while (diary->count < count)
		pthread_cond_wait(&diary->more, &diary->lock);
	pthread_mutex_unlock(&diary->lock);
}

/* With a worker, a watch works although the program does not dispatch. */
static void worker_watches(void **state)
{
	struct diary diary = empty;
	struct ibsa_device_watch *handle;

	(void)state;
	rig = (struct rig){ .fabric = rig_fabric(false) };
	rig.device = rig_open(rig.fabric, "node1", false);
	ib_sa_register_client(&rig.client);
	handle = watch(&diary);
	await(&diary, 1);
	plug("node2", false);
	await(&diary, 2);
	expect(&diary, 1, IBSA_EVENT_GID_OUT);
	ibsa_device_watch_stop(handle);
	await(&diary, 3);
	expect(&diary, 2, IBSA_EVENT_ENDED);
	rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(host_that_leaves_is_told, start,
						stop),
		cmocka_unit_test_setup_teardown(filter_is_copied, start, stop),
		cmocka_unit_test_setup_teardown(wrong_watches_are_refused,
						start, stop),
		cmocka_unit_test_setup_teardown(reports_go_to_one_program_only,
						start, stop),
		cmocka_unit_test_setup_teardown(put_ends_watches, start, stop),
		cmocka_unit_test(worker_watches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
