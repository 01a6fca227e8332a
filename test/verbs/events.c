/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SM events under the verbs names: registrations and events. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ibsa/ib_sa.h>

#include "test/support/child.h"
#include "test/verbs/rig.h"

enum { PATIENCE_MS = 20000 };

static struct verbs_rig rig;

static void add(unsigned int kinds)
{
	assert_int_equal(ibv_register_sm_events(rig.context, kinds, 0, NULL),
			 0);
}

static void drop(unsigned int kinds)
{
	assert_int_equal(ibv_unregister_sm_events(rig.context, kinds, 0, NULL),
			 0);
}

static bool is_readable(int timeout_ms)
{
	struct pollfd file = { .fd = rig.context->async_fd, .events = POLLIN };

	return poll(&file, 1, timeout_ms) == 1;
}

/* The next event is this one. */
static void expect(int type, const union ibv_gid *gid)
{
	struct ibv_async_event event;

	assert_true(is_readable(PATIENCE_MS));
	assert_int_equal(ibv_get_async_event(rig.context, &event), 0);
	assert_string_equal(ibv_event_type_str(event.event_type),
			    ibv_event_type_str(type));
	assert_memory_equal(&event.element.gid, gid, sizeof(*gid));
	ibv_ack_async_event(&event);
}

/* A node goes and comes back. */
static void expect_blink(const char *node, unsigned int port)
{
	union ibv_gid gid = verbs_rig_gid(&rig, node, port);

	verbs_rig_plug(&rig, node, port, false);
	expect(IBV_EVENT_GID_UNAVAIL, &gid);
	verbs_rig_plug(&rig, node, port, true);
	expect(IBV_EVENT_GID_AVAIL, &gid);
}

static void node_that_goes_and_comes_is_told(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);

	(void)state;
	assert_false(is_readable(0));
	add(IBV_SM_EVENT_UGID_ALL);
	verbs_rig_plug(&rig, "node2", 1, false);
	expect(IBV_EVENT_GID_UNAVAIL, &gid);
	assert_errno(ibv_gid_reachable(rig.context, 0, &gid, 0), ENXIO);
	verbs_rig_plug(&rig, "node2", 1, true);
	expect(IBV_EVENT_GID_AVAIL, &gid);
	assert_int_equal(ibv_gid_reachable(rig.context, 0, &gid, 0), 0);
	drop(IBV_SM_EVENT_UGID_ALL);
}

/* Two ports report the change, and the event comes once. */
static void group_that_comes_and_goes_is_told(void **state)
{
	union ibv_gid group = verbs_rig_group(1);

	(void)state;
	add(IBV_SM_EVENT_MGID_ALL);
	for (int i = 0; i < 10; i++) {
		verbs_rig_join(&rig, "node2", &group, true);
		expect(IBV_EVENT_MCG_CREATED, &group);
		verbs_rig_join(&rig, "node2", &group, false);
		expect(IBV_EVENT_MCG_DELETED, &group);
	}
	drop(IBV_SM_EVENT_MGID_ALL);
}

static void kinds_are_apart(void **state)
{
	union ibv_gid group = verbs_rig_group(1);
	union ibv_gid gid = verbs_rig_gid(&rig, "node3", 2);

	(void)state;
	add(IBV_SM_EVENT_UGID_ALL);
	verbs_rig_join(&rig, "node2", &group, true);
	verbs_rig_plug(&rig, "node3", 2, false);
	expect(IBV_EVENT_GID_UNAVAIL, &gid);
	drop(IBV_SM_EVENT_UGID_ALL);
	add(IBV_SM_EVENT_MGID_ALL);
	verbs_rig_plug(&rig, "node3", 2, true);
	verbs_rig_join(&rig, "node2", &group, false);
	expect(IBV_EVENT_MCG_DELETED, &group);
	add(IBV_SM_EVENT_ALL);
	verbs_rig_join(&rig, "node2", &group, true);
	expect(IBV_EVENT_MCG_CREATED, &group);
	expect_blink("node3", 2);
}

static void only_listed_gids_are_told(void **state)
{
	union ibv_gid listed[] = { verbs_rig_gid(&rig, "node2", 1),
				   verbs_rig_group(2) };
	union ibv_gid other = verbs_rig_group(1);
	const unsigned int both = IBV_SM_EVENT_UGID | IBV_SM_EVENT_MGID;

	(void)state;
	assert_int_equal(ibv_register_sm_events(rig.context, both, 2, listed),
			 0);
	verbs_rig_join(&rig, "node2", &other, true);
	verbs_rig_join(&rig, "node2", &listed[1], true);
	expect(IBV_EVENT_MCG_CREATED, &listed[1]);
	verbs_rig_join(&rig, "node2", &other, false);
	verbs_rig_plug(&rig, "node3", 2, false);
	verbs_rig_plug(&rig, "node3", 2, true);
	verbs_rig_join(&rig, "node2", &listed[1], false);
	expect(IBV_EVENT_MCG_DELETED, &listed[1]);
	expect_blink("node2", 1);
	assert_int_equal(ibv_unregister_sm_events(
				 rig.context, IBV_SM_EVENT_MGID, 1, &listed[1]),
			 0);
	verbs_rig_join(&rig, "node2", &listed[1], true);
	expect_blink("node2", 1);
}

static void registrations_are_counted(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);
	union ibv_gid twice[] = { gid, gid };
	const unsigned int kind = IBV_SM_EVENT_UGID;

	(void)state;
	assert_int_equal(ibv_register_sm_events(rig.context, kind, 1, &gid), 0);
	assert_int_equal(ibv_register_sm_events(rig.context, kind, 2, twice),
			 0);
	add(IBV_SM_EVENT_UGID_ALL);
	expect_blink("node2", 1);
	drop(IBV_SM_EVENT_UGID_ALL);
	assert_int_equal(ibv_unregister_sm_events(rig.context, kind, 2, twice),
			 0);
	expect_blink("node2", 1);
	assert_errno(ibv_unregister_sm_events(rig.context, kind, 2, twice),
		     EINVAL);
	expect_blink("node2", 1);
	assert_int_equal(ibv_unregister_sm_events(rig.context, kind, 1, &gid),
			 0);
	assert_errno(ibv_unregister_sm_events(rig.context, kind, 1, &gid),
		     EINVAL);
}

static void unregistering_without_registration_is_invalid(void **state)
{
	union ibv_gid gids[] = { verbs_rig_gid(&rig, "node2", 1),
				 verbs_rig_gid(&rig, "node3", 2) };
	const unsigned int kind = IBV_SM_EVENT_UGID;

	(void)state;
	assert_errno(ibv_unregister_sm_events(rig.context, kind, 2, gids),
		     EINVAL);
	assert_int_equal(ibv_register_sm_events(rig.context, kind, 1, gids), 0);
	assert_errno(ibv_unregister_sm_events(rig.context, kind, 2, gids),
		     EINVAL);
	assert_errno(ibv_unregister_sm_events(rig.context,
					      IBV_SM_EVENT_UGID_ALL, 0, NULL),
		     EINVAL);
	expect_blink("node2", 1);
	add(IBV_SM_EVENT_UGID_ALL | IBV_SM_EVENT_MGID_ALL);
	assert_errno(ibv_unregister_sm_events(
			     rig.context,
			     IBV_SM_EVENT_UGID_ALL | IBV_SM_EVENT_ALL, 0, NULL),
		     EINVAL);
	drop(IBV_SM_EVENT_UGID_ALL);
	drop(IBV_SM_EVENT_MGID_ALL);
}

static void all_ways_to_wait_see_events(void **state)
{
	const int fd = rig.context->async_fd;
	struct epoll_event event = { .events = EPOLLIN };
	struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	const int set = epoll_create1(EPOLL_CLOEXEC);
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);
	fd_set files;

	(void)state;
	assert_int_equal(ibsa_verbs_attach(rig.context, NULL), 0);
	assert_int_equal(ibsa_verbs_attach(rig.context, NULL), -EALREADY);
	assert_int_equal(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event), 0);
	add(IBV_SM_EVENT_UGID_ALL);
	assert_int_equal(rig.context->async_fd, fd);
	verbs_rig_plug(&rig, "node2", 1, false);
	assert_int_equal(epoll_wait(set, &event, 1, PATIENCE_MS), 1);
	FD_ZERO(&files);
	FD_SET(fd, &files);
	assert_int_equal(select(fd + 1, &files, NULL, NULL, &patience), 1);
	verbs_rig_plug(&rig, "node2", 1, true);
	expect(IBV_EVENT_GID_UNAVAIL, &gid);
	expect(IBV_EVENT_GID_AVAIL, &gid);
	expect_blink("node3", 2);
	close(set);
	assert_int_equal(ibsa_verbs_detach(rig.context), 0);
	assert_int_equal(ibsa_verbs_detach(rig.context), -EINVAL);
}

static void without_waiting_there_is_none_yet(void **state)
{
	const int flags = fcntl(rig.context->async_fd, F_GETFL);
	struct ibv_async_event event;

	(void)state;
	assert_int_equal(
		fcntl(rig.context->async_fd, F_SETFL, flags | O_NONBLOCK), 0);
	assert_errno(ibv_get_async_event(rig.context, &event), EAGAIN);
	add(IBV_SM_EVENT_ALL);
	assert_errno(ibv_get_async_event(rig.context, &event), EAGAIN);
	expect_blink("node2", 1);
	assert_errno(ibv_get_async_event(rig.context, &event), EAGAIN);
	assert_errno(ibv_get_async_event(NULL, &event), EINVAL);
	assert_errno(ibv_get_async_event(rig.context, NULL), EINVAL);
}

/* A thread that waits for one event. */
static struct {
	pthread_t thread;
	struct ibsa_async_event event;
	int result;
	int error;
} reader;

static void *read_one(void *arg)
{
	(void)arg;
	reader.result = ibsa_get_async_event(rig.context, &reader.event);
	reader.error = errno;
	return NULL;
}

static void reader_that_waits_already_is_told(void **state)
{
	union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);

	(void)state;
	assert_int_equal(pthread_create(&reader.thread, NULL, read_one, NULL),
			 0);
	add(IBV_SM_EVENT_UGID_ALL);
	verbs_rig_plug(&rig, "node2", 1, false);
	assert_int_equal(pthread_join(reader.thread, NULL), 0);
	assert_int_equal(reader.result, 0);
	assert_int_equal(reader.event.event_type, IBV_EVENT_GID_UNAVAIL);
	assert_memory_equal(&reader.event.element.gid, &gid, sizeof(gid));
}

static void *read_with_id(void *arg)
{
	atomic_store((atomic_int *)arg, gettid());
	return read_one(NULL);
}

static void close_ends_the_wait(void **state)
{
	atomic_int id = 0;

	(void)state;
	add(IBV_SM_EVENT_ALL);
	assert_int_equal(
		pthread_create(&reader.thread, NULL, read_with_id, &id), 0);
	while (!atomic_load(&id) ||
	       !verbs_rig_is_in(atomic_load(&id), SYS_ppoll))
		sched_yield();
	assert_int_equal(ibv_close_device(rig.context), 0);
	assert_int_equal(pthread_join(reader.thread, NULL), 0);
	assert_int_equal(reader.result, -1);
	assert_int_equal(reader.error, EBADF);
	rig.context = verbs_rig_open(&rig, "node1");
}

static void close_inside(int status, struct sa_path_rec *rec, void *arg)
{
	(void)status;
	(void)rec;
	reader.result = ibsa_close_device(rig.context);
	sem_post(arg);
}

/*
 * The context is closed in a callback of another device, for whose thread no
 * call of the context waits.
 */
static void close_in_a_callback_ends_all(void **state)
{
	const struct ibsa_ib_device_options options = { .name = "node2",
							.on = rig.fabric };
	struct sa_path_rec wanted = { .reversible = 1 };
	struct ib_sa_client client;
	struct ib_device *device;
	sem_t closed;

	(void)state;
	add(IBV_SM_EVENT_ALL);
	sem_init(&closed, 0, 0);
	ib_sa_register_client(&client);
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	assert_true(ib_sa_path_rec_get(&client, device, 1, &wanted, 0, 1000, 0,
				       close_inside, &closed, NULL) >= 0);
	sem_wait(&closed);
	assert_int_equal(reader.result, 0);
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
	sem_destroy(&closed);
	rig.context = verbs_rig_open(&rig, "node1");
}

/* If more events arrive than the queue holds, a gap is reported. */
static void queue_that_is_full_has_a_gap(void **state)
{
	const struct ibsa_verbs_options options = { .max_events = 1,
						    .gaps = true };
	struct ibv_async_event event = { 0 };

	(void)state;
	assert_int_equal(ibsa_verbs_attach(rig.context, &options), 0);
	add(IBV_SM_EVENT_UGID_ALL);
	while (event.event_type != IBV_EVENT_SM_GAP) {
		for (int i = 0; i < 8; i++)
			verbs_rig_plug(&rig, "node2", 1, i % 2);
		assert_int_equal(ibv_get_async_event(rig.context, &event), 0);
	}
	assert_int_equal(event.element.port_num, 0);
}

static void restart_of_the_sm_is_a_gap(void **state)
{
	const struct ibsa_verbs_options options = { .gaps = true,
						    .audit_ms = 100 };
	struct ibv_async_event event = { 0 };

	(void)state;
	assert_int_equal(ibsa_verbs_attach(rig.context, &options), 0);
	add(IBV_SM_EVENT_MGID_ALL);
	ibsa_fabric_sa_set(rig.fabric, false);
	ibsa_fabric_sa_set(rig.fabric, true);
	assert_true(is_readable(PATIENCE_MS));
	assert_int_equal(ibv_get_async_event(rig.context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SM_GAP);
	assert_in_range(event.element.port_num, 0, 2);
}

static uint64_t reports(void)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(rig.fabric, &stats);
	return stats.reports;
}

static uint64_t reports_of_blink(void)
{
	const uint64_t before = reports();

	expect_blink("node2", 1);
	return reports() - before;
}

static void port_that_was_down_is_a_gap(void **state)
{
	const struct ibsa_verbs_options options = { .gaps = true };
	union ibv_gid own = verbs_rig_gid(&rig, "node1", 2);
	struct ibv_async_event event = { 0 };

	(void)state;
	assert_int_equal(ibsa_verbs_attach(rig.context, &options), 0);
	add(IBV_SM_EVENT_UGID_ALL);
	while (reports_of_blink() != 4)
		/*
		 * until both ports are subscribed: two events, each reported to
		 * two ports
		 */
		;
	verbs_rig_plug(&rig, "node1", 2, false);
	expect(IBV_EVENT_GID_UNAVAIL, &own);
	expect_blink("node2", 1);
	verbs_rig_plug(&rig, "node1", 2, true);
	expect(IBV_EVENT_GID_AVAIL, &own);
	assert_true(is_readable(PATIENCE_MS));
	assert_int_equal(ibv_get_async_event(rig.context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SM_GAP);
	assert_int_equal(event.element.port_num, 2);
}

/* The context has SM events only, and errno does not change. */
static void context_of_our_own_has_no_device_file(void **state)
{
	const int number = rig.context->async_fd;

	(void)state;
	add(IBV_SM_EVENT_ALL);
	errno = ENOTTY;
	assert_null(ibsa_verbs_async_fd_get(rig.context));
	assert_null(ibsa_verbs_async_fd_get(NULL));
	ibsa_verbs_async_fd_put(NULL);
	assert_int_equal(errno, ENOTTY);
	assert_int_equal(rig.context->async_fd, number);
}

static void child_has_no_registrations(void **state)
{
	pid_t child;

	(void)state;
	add(IBV_SM_EVENT_ALL);
	child = fork();
	if (!child)
		_exit(ibv_unregister_sm_events(rig.context, IBV_SM_EVENT_ALL, 0,
					       NULL) == -1 &&
				      errno == EINVAL &&
				      ibsa_verbs_detach(rig.context) == -EINVAL
			      ? 0
			      : 1);
	child_end(child);
	expect_blink("node2", 1);
}

/* Two contexts of one device share the subscription, not the registrations. */
static void two_contexts_receive_events(void **state)
{
	struct ibv_context *const first = rig.context;
	struct ibv_context *const second = verbs_rig_open(&rig, "node1");
	const union ibv_gid gid = verbs_rig_gid(&rig, "node2", 1);

	(void)state;
	add(IBV_SM_EVENT_UGID_ALL);
	rig.context = second;
	add(IBV_SM_EVENT_UGID_ALL);
	verbs_rig_plug(&rig, "node2", 1, false);
	expect(IBV_EVENT_GID_UNAVAIL, &gid);
	rig.context = first;
	expect(IBV_EVENT_GID_UNAVAIL, &gid);
	drop(IBV_SM_EVENT_UGID_ALL);
	verbs_rig_plug(&rig, "node2", 1, true);
	rig.context = second;
	expect(IBV_EVENT_GID_AVAIL, &gid);
	rig.context = first;
	assert_false(is_readable(0));
	add(IBV_SM_EVENT_UGID_ALL);
	rig.context = second;
	drop(IBV_SM_EVENT_UGID_ALL);
	rig.context = first;
	expect_blink("node2", 1);
	rig.context = second;
	assert_false(is_readable(0));
	add(IBV_SM_EVENT_UGID_ALL);
	assert_int_equal(ibsa_close_device(first), 0);
	expect_blink("node2", 1);
}

static void events_have_names(void **state)
{
	(void)state;
	assert_string_equal(ibsa_event_type_text(IBV_EVENT_MCG_CREATED),
			    "MCG created");
	assert_string_equal(ibsa_event_type_text(IBV_EVENT_MCG_DELETED),
			    "MCG deleted");
	assert_string_equal(ibsa_event_type_text(IBV_EVENT_GID_AVAIL),
			    "GID available");
	assert_string_equal(ibsa_event_type_text(IBV_EVENT_GID_UNAVAIL),
			    "GID unavailable");
	assert_non_null(
		strstr(ibsa_event_type_text(IBV_EVENT_SM_GAP), "missed"));
	assert_string_equal(ibsa_event_type_text(IBV_EVENT_PORT_ERR),
			    "unknown");
}

#define TEST(name) VERBS_TEST(name, &rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(node_that_goes_and_comes_is_told),
		TEST(group_that_comes_and_goes_is_told),
		TEST(kinds_are_apart),
		TEST(only_listed_gids_are_told),
		TEST(registrations_are_counted),
		TEST(unregistering_without_registration_is_invalid),
		TEST(all_ways_to_wait_see_events),
		TEST(without_waiting_there_is_none_yet),
		TEST(reader_that_waits_already_is_told),
		TEST(close_ends_the_wait),
		TEST(close_in_a_callback_ends_all),
		TEST(queue_that_is_full_has_a_gap),
		TEST(restart_of_the_sm_is_a_gap),
		TEST(port_that_was_down_is_a_gap),
		TEST(context_of_our_own_has_no_device_file),
		TEST(child_has_no_registrations),
		TEST(two_contexts_receive_events),
		cmocka_unit_test(events_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
