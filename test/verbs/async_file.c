/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests which file the async fd of a verbs context refers to, and how that file
 * is replaced.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/support/child.h"
#include "test/verbs/async_rig.h"

/*
 * While SM events are registered, the member async_fd is another descriptor, of
 * the device's event file, between ibsa_verbs_async_fd_get() and the put.
 */
static void file_of_the_device_is_handed_out(void **state)
{
	struct ibsa_verbs_async_fd *first;
	struct ibsa_verbs_async_fd *second;

	(void)state;
	first = ibsa_verbs_async_fd_get(&world.context);
	assert_int_equal(world.context.async_fd, world.number);
	ibsa_verbs_async_fd_put(first);
	async_add();
	assert_false(async_is_pipe(world.context.async_fd));
	first = ibsa_verbs_async_fd_get(&world.context);
	second = ibsa_verbs_async_fd_get(&world.context);
	assert_int_not_equal(world.context.async_fd, world.number);
	assert_true(async_is_pipe(world.context.async_fd));
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	assert_true(async_is_readable(PATIENCE_MS));
	ibsa_verbs_async_fd_put(first);
	assert_true(async_is_pipe(world.context.async_fd));
	ibsa_verbs_async_fd_put(second);
	assert_int_equal(world.context.async_fd, world.number);
	async_expect_device(IBV_EVENT_PORT_ERR, 1);
	async_drop();
}

/*
 * A get made while SM events are registered may be put after the last
 * registration has ended.
 */
static void get_outlasts_what_it_was_for(void **state)
{
	struct ibsa_verbs_async_fd *held;

	(void)state;
	async_add();
	held = ibsa_verbs_async_fd_get(&world.context);
	async_drop();
	assert_true(async_is_pipe(world.context.async_fd));
	assert_true(async_is_pipe(world.number));
	ibsa_verbs_async_fd_put(held);
	assert_int_equal(world.context.async_fd, world.number);
}

/* A thread that attaches, and its result. */
static struct {
	pthread_t thread;
	atomic_int id;
	int result;
} attacher;

static void *attach_with_id(void *arg)
{
	(void)arg;
	atomic_store(&attacher.id, gettid());
	attacher.result = ibsa_verbs_attach(&world.context, NULL);
	return NULL;
}

static void attacher_start(void)
{
	atomic_store(&attacher.id, 0);
	assert_int_equal(pthread_create(&attacher.thread, NULL, attach_with_id,
					NULL),
			 0);
	while (!atomic_load(&attacher.id) ||
	       !verbs_rig_is_in(atomic_load(&attacher.id), SYS_futex))
		sched_yield();
}

/*
 * Between get and put, libibverbs may use the number of the async fd that it
 * has read, so this number must refer to the device's file until the put.
 */
static void attach_waits_until_the_number_is_put(void **state)
{
	struct ibsa_verbs_async_fd *first;
	struct ibsa_verbs_async_fd *second;

	(void)state;
	first = ibsa_verbs_async_fd_get(&world.context);
	assert_non_null(first);
	assert_int_equal(world.context.async_fd, world.number);
	attacher_start();
	assert_true(async_is_pipe(world.number));
	second = ibsa_verbs_async_fd_get(&world.context);
	assert_int_not_equal(world.context.async_fd, world.number);
	assert_true(async_is_pipe(world.context.async_fd));
	ibsa_verbs_async_fd_put(first);
	assert_int_equal(pthread_join(attacher.thread, NULL), 0);
	assert_int_equal(attacher.result, 0);
	assert_false(async_is_pipe(world.number));
	assert_true(async_is_pipe(world.context.async_fd));
	ibsa_verbs_async_fd_put(second);
	assert_int_equal(world.context.async_fd, world.number);
}

/* An attach between get and put would wait for the put of its own thread. */
static void attach_between_get_and_put_is_refused(void **state)
{
	struct ibsa_verbs_async_fd *held;

	(void)state;
	held = ibsa_verbs_async_fd_get(&world.context);
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), -EBUSY);
	assert_errno(ibv_register_sm_events(&world.context,
					    IBV_SM_EVENT_UGID_ALL, 0, NULL),
		     EBUSY);
	assert_true(async_is_pipe(world.number));
	ibsa_verbs_async_fd_put(held);
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
}

/* The context was closed by libibverbs; another has the same address. */
static void next_context_at_the_place_inherits_nothing(void **state)
{
	struct ibsa_async_event event;
	int ends[2];

	(void)state;
	async_add();
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(dup2(ends[0], world.number), world.number);
	assert_errno(ibv_get_async_event(&world.context, &event), EAGAIN);
	assert_true(async_is_pipe(world.number));
	verbs_rig_plug(&world.rig, "node2", 1, false);
	assert_errno(ibv_unregister_sm_events(&world.context,
					      IBV_SM_EVENT_UGID_ALL, 0, NULL),
		     EINVAL);
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_errno(ibv_get_async_event(&world.context, &event), EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

/* Leave only @count descriptors, from the lowest free number on. */
static void descriptors_leave(int count, const struct rlimit *all)
{
	const int first = fcntl(world.number, F_DUPFD_CLOEXEC, 0);
	struct rlimit limit = *all;

	limit.rlim_cur = (rlim_t)(first + count);
	close(first);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void without_descriptors_nothing_changes(void **state)
{
	struct ibsa_async_event event;
	struct rlimit all;
	int count = 0;
	int err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	descriptors_leave(0, &all);
	assert_errno(ibsa_get_async_event(&world.context, &event), EMFILE);
	assert_errno(ibv_register_sm_events(&world.context, IBV_SM_EVENT_ALL, 0,
					    NULL),
		     EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	do {
		assert_true(async_is_pipe(world.number));
		descriptors_leave(count++, &all);
		err = ibsa_verbs_attach(&world.context, NULL);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	} while (err == -EMFILE && count < 8);
	assert_int_equal(err, 0);
	assert_in_range(count, 2, 4);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
}

/*
 * For an event of the device, the preload library needs no further descriptor,
 * as libibverbs' call needs none.
 */
static void stock_call_needs_no_descriptor(void **state)
{
	struct ibsa_async_event event;
	struct rlimit all;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	for (int count = 0; count < 3; count++) {
		async_device_event(IBV_EVENT_PORT_ERR, 1);
		descriptors_leave(count, &all);
		assert_int_equal(ibsa_stock_get_event(&world.context, &event),
				 0);
		assert_int_equal(event.event_type, IBV_EVENT_PORT_ERR);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		ibv_ack_async_event(&event);
		assert_true(async_is_pipe(world.number));
	}
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	async_expect_device(IBV_EVENT_PORT_ERR, 1);
}

/*
 * The file of this number is the parent's epoll file, which the child must not
 * replace.
 */
static void child_leaves_its_parent_s_number_alone(void **state)
{
	struct ibsa_async_event event;
	const unsigned int kind = IBV_SM_EVENT_UGID_ALL;
	struct ibv_context *context = &world.context;
	pid_t child;

	(void)state;
	async_add();
	child = fork();
	if (!child)
		_exit(ibsa_verbs_attach(context, NULL) == -EINVAL &&
				      ibv_register_sm_events(context, kind, 0,
							     NULL) == -1 &&
				      errno == EINVAL &&
				      ibsa_get_async_event(context, &event) ==
					      -1 &&
				      errno == EINVAL
			      ? 0
			      : 1);
	child_end(child);
	assert_false(fcntl(world.number, F_GETFL) & O_NONBLOCK);
	async_device_event(IBV_EVENT_PORT_ERR, 1);
	async_expect_device(IBV_EVENT_PORT_ERR, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file_of_the_device_is_handed_out),
		TEST(get_outlasts_what_it_was_for),
		TEST(attach_waits_until_the_number_is_put),
		TEST(attach_between_get_and_put_is_refused),
		TEST(next_context_at_the_place_inherits_nothing),
		TEST(without_descriptors_nothing_changes),
		TEST(stock_call_needs_no_descriptor),
		TEST(child_leaves_its_parent_s_number_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
