/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The async fd of a context that is not ours: a pipe, read by a libibverbs
 * that the test has loaded; its SA is on an embedded fabric.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ibsa/ib_sa.h>

#include "test/child.h"
#include "test/device_tree.h"
#include "test/stub_ibverbs.h"
#include "test/verbs_rig.h"

enum { PATIENCE_MS = 20000 };

static struct {
	struct tree tree;
	struct verbs_rig rig;
	struct ibv_device device;
	struct ibv_context context;
	int number;
	int writer;
	void *library;
	struct stub_seen *seen;
	struct ibsa_device_options asked; /* of the device */
	int watch_err;			  /* of every watch, as its last word */
} world;

int __real_ibsa_device_open(const struct ibsa_device_options *options,
			    struct ibsa_error *error, struct ib_device **out);
int __wrap_ibsa_device_open(const struct ibsa_device_options *options,
			    struct ibsa_error *error, struct ib_device **out);

/* The device of the context is node1 of the fabric. */
int __wrap_ibsa_device_open(const struct ibsa_device_options *options,
			    struct ibsa_error *error, struct ib_device **out)
{
	const struct ibsa_device_options on_fabric = {
		.name = "node1",
		.on = world.rig.fabric,
	};

	world.asked = *options;
	return __real_ibsa_device_open(&on_fabric, error, out);
}

int __real_ibsa_device_watch(struct ib_sa_client *client,
			     struct ib_device *device, uint8_t port_num,
			     const struct ibsa_event_options *options,
			     ibsa_event_fn happened, void *arg,
			     struct ibsa_device_watch **out);
int __wrap_ibsa_device_watch(struct ib_sa_client *client,
			     struct ib_device *device, uint8_t port_num,
			     const struct ibsa_event_options *options,
			     ibsa_event_fn happened, void *arg,
			     struct ibsa_device_watch **out);

/* What no embedded fabric says: that it cannot be. */
int __wrap_ibsa_device_watch(struct ib_sa_client *client,
			     struct ib_device *device, uint8_t port_num,
			     const struct ibsa_event_options *options,
			     ibsa_event_fn happened, void *arg,
			     struct ibsa_device_watch **out)
{
	const struct ibsa_event last = { .kind = IBSA_EVENT_ENDED,
					 .err = world.watch_err };

	if (!world.watch_err)
		return __real_ibsa_device_watch(client, device, port_num,
						options, happened, arg, out);
	*out = NULL;
	happened(&last, arg);
	return 0;
}

static int start(void **state)
{
	int ends[2];

	(void)state;
	memset(&world, 0, sizeof(world));
	tree_make(&world.tree);
	tree_add_device(&world.tree, "mlx5_0");
	verbs_rig_start(&world.rig, false);
	world.library = dlopen(STUB, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(world.library);
	world.seen = dlsym(world.library, "stub_seen");
	memset(world.seen, 0, sizeof(*world.seen));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(world.device.name, sizeof(world.device.name), "mlx5_0");
	world.context.device = &world.device;
	world.context.cmd_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	world.context.async_fd = world.number = ends[0];
	world.writer = ends[1];
	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(ibv_close_device(&world.context), 0);
	assert_int_equal(world.seen->closed, 1);
	assert_true(world.seen->closed_is_pipe);
	close(world.writer);
	dlclose(world.library);
	verbs_rig_stop(&world.rig);
	tree_remove(&world.tree);
	return 0;
}

#undef ibv_async_event
static void device_event(enum ibv_event_type type, int port)
{
	const struct ibv_async_event event = {
		.event_type = type,
		.element.port_num = port,
	};

	assert_int_equal(write(world.writer, &event, sizeof(event)),
			 sizeof(event));
}
#define ibv_async_event ibsa_async_event

static bool is_readable(int timeout_ms)
{
	struct pollfd file = { .fd = world.number, .events = POLLIN };

	return poll(&file, 1, timeout_ms) == 1;
}

static struct ibv_async_event next(void)
{
	struct ibv_async_event event = { 0 };

	assert_true(is_readable(PATIENCE_MS));
	assert_int_equal(ibv_get_async_event(&world.context, &event), 0);
	assert_int_equal(world.context.async_fd, world.number);
	return event;
}

static void expect_device(enum ibv_event_type type, int port)
{
	const int acked = world.seen->acked;
	struct ibv_async_event event = next();

	assert_int_equal(event.event_type, type);
	assert_int_equal(event.element.port_num, port);
	ibv_ack_async_event(&event);
	assert_int_equal(world.seen->acked, acked + 1);
	assert_int_equal(world.seen->acked_type, type);
}

static void expect_sm(int type)
{
	const int acked = world.seen->acked;
	struct ibv_async_event event = next();

	assert_int_equal(event.event_type, type);
	ibv_ack_async_event(&event);
	assert_int_equal(world.seen->acked, acked);
}

static void add(void)
{
	assert_int_equal(ibv_register_sm_events(&world.context,
						IBV_SM_EVENT_UGID_ALL, 0, NULL),
			 0);
}

static void drop(void)
{
	assert_int_equal(ibv_unregister_sm_events(&world.context,
						  IBV_SM_EVENT_UGID_ALL, 0,
						  NULL),
			 0);
}

static bool is_pipe(int fd)
{
	struct stat file;

	assert_int_equal(fstat(fd, &file), 0);
	return S_ISFIFO(file.st_mode);
}

static void events_come_side_by_side(void **state)
{
	(void)state;
	device_event(IBV_EVENT_PORT_ACTIVE, 1);
	expect_device(IBV_EVENT_PORT_ACTIVE, 1);
	add();
	assert_false(is_pipe(world.number));
	device_event(IBV_EVENT_PORT_ERR, 2);
	expect_device(IBV_EVENT_PORT_ERR, 2);
	verbs_rig_plug(&world.rig, "node2", 1, false);
	expect_sm(IBV_EVENT_GID_UNAVAIL);
	device_event(IBV_EVENT_SM_CHANGE, 1);
	expect_device(IBV_EVENT_SM_CHANGE, 1);
	verbs_rig_plug(&world.rig, "node2", 1, true);
	expect_sm(IBV_EVENT_GID_AVAIL);
	drop();
	assert_true(is_pipe(world.number));
	device_event(IBV_EVENT_LID_CHANGE, 1);
	expect_device(IBV_EVENT_LID_CHANGE, 1);
}

static int bytes_waiting(int fd)
{
	int bytes = -1;

	assert_int_equal(ioctl(fd, FIONREAD, &bytes), 0);
	return bytes;
}

static void nothing_is_read_ahead(void **state)
{
	(void)state;
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	device_event(IBV_EVENT_PORT_ERR, 1);
	device_event(IBV_EVENT_PORT_ACTIVE, 1);
	add();
	expect_device(IBV_EVENT_PORT_ERR, 1);
	assert_int_equal(world.seen->got, 1);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_true(is_pipe(world.number));
	assert_true(bytes_waiting(world.number) > 0);
	expect_device(IBV_EVENT_PORT_ACTIVE, 1);
	assert_int_equal(bytes_waiting(world.number), 0);
	assert_false(is_readable(0));
}

static bool has_nonblock(void)
{
	return fcntl(world.number, F_GETFL) & O_NONBLOCK;
}

static void nonblock_set(bool on)
{
	const int flags = fcntl(world.number, F_GETFL) & ~O_NONBLOCK;

	assert_int_equal(
		fcntl(world.number, F_SETFL, flags | (on ? O_NONBLOCK : 0)), 0);
}

static void flags_of_the_number_move_along(void **state)
{
	struct ibv_async_event event;

	(void)state;
	nonblock_set(true);
	assert_errno(ibv_get_async_event(&world.context, &event), EAGAIN);
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_true(has_nonblock());
	assert_int_equal(fcntl(world.number, F_GETFD), FD_CLOEXEC);
	assert_errno(ibv_get_async_event(&world.context, &event), EAGAIN);
	nonblock_set(false);
	assert_int_equal(fcntl(world.number, F_SETFD, 0), 0);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_false(has_nonblock());
	assert_int_equal(fcntl(world.number, F_GETFD), 0);
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_false(has_nonblock());
	nonblock_set(true);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_true(has_nonblock());
}

static void neither_source_starves_the_other(void **state)
{
	int device_events = 0;
	int sm_events = 0;

	(void)state;
	add();
	verbs_rig_plug(&world.rig, "node2", 1, false);
	verbs_rig_plug(&world.rig, "node2", 1, true);
	for (int i = 0; i < 100; i++)
		device_event(IBV_EVENT_PORT_ACTIVE, 1);
	/* Two that have come, or soon will, among a hundred. */
	while (sm_events < 2) {
		if (next().event_type == IBV_EVENT_PORT_ACTIVE)
			device_events++;
		else
			sm_events++;
	}
	while (device_events++ < 100)
		expect_device(IBV_EVENT_PORT_ACTIVE, 1);
}

static void *read_one(void *arg)
{
	(void)!ibsa_get_async_event(&world.context, arg);
	return NULL;
}

static void reader_waits_for_both(void **state)
{
	struct ibsa_async_event event = { 0 };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_one, &event), 0);
	add();
	verbs_rig_plug(&world.rig, "node2", 1, false);
	pthread_join(thread, NULL);
	assert_int_equal(event.event_type, IBV_EVENT_GID_UNAVAIL);
	assert_int_equal(pthread_create(&thread, NULL, read_one, &event), 0);
	drop();
	device_event(IBV_EVENT_PORT_ERR, 1);
	pthread_join(thread, NULL);
	assert_int_equal(event.event_type, IBV_EVENT_PORT_ERR);
}

/* Two readers: one has seen nothing and looks whether it may wait, the other
 * begins to read meanwhile. */
static struct {
	bool armed;
	pthread_t other;
	atomic_int id; /* of its thread */
	atomic_bool is_reading;
	sem_t looked;
	int errors[2];
} race;

/* Flags cannot be set the time after so many; -1: they can. */
static int sets_left = -1;

/* Either may get the first event; then there is one for the other. */
static int read_and_pass_on(void)
{
	struct ibsa_async_event event;

	if (ibsa_get_async_event(&world.context, &event))
		return errno;
	device_event(IBV_EVENT_PORT_ERR, 1);
	return 0;
}

static void *read_beside(void *arg)
{
	atomic_store(&race.id, gettid());
	*(int *)arg = read_and_pass_on();
	return NULL;
}

static void let_other_begin(void)
{
	device_event(IBV_EVENT_PORT_ERR, 1);
	pthread_create(&race.other, NULL, read_beside, &race.errors[1]);
	while (!atomic_load(&race.is_reading) &&
	       !(race.id && verbs_rig_is_in(race.id, SYS_futex)))
		sched_yield();
}

int __real_fcntl(int fd, int command, long value);
int __wrap_fcntl(int fd, int command, long value);

int __wrap_fcntl(int fd, int command, long value)
{
	const bool looks = race.armed && command == F_GETFL &&
			   fd == world.number;
	int result;

	if (looks) {
		race.armed = false;
		let_other_begin();
	}
	if (command == F_SETFL && sets_left >= 0 && !sets_left--) {
		errno = EPERM;
		return -1;
	}
	if (command == F_SETFL && race.id == gettid()) {
		if (!atomic_exchange(&race.is_reading, true))
			return __real_fcntl(fd, command, value);
		sem_wait(&race.looked);
	}
	result = __real_fcntl(fd, command, value);
	if (looks)
		sem_post(&race.looked);
	return result;
}

static void readers_do_not_disturb_each_other(void **state)
{
	(void)state;
	memset(&race, 0, sizeof(race));
	sem_init(&race.looked, 0, 0);
	race.armed = true;
	race.errors[0] = read_and_pass_on();
	pthread_join(race.other, NULL);
	sem_destroy(&race.looked);
	assert_int_equal(race.errors[0], 0);
	assert_int_equal(race.errors[1], 0);
}

static void epoll_sees_both(void **state)
{
	const int set = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };

	(void)state;
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_int_equal(epoll_ctl(set, EPOLL_CTL_ADD, world.number, &event),
			 0);
	add();
	verbs_rig_plug(&world.rig, "node2", 1, false);
	assert_int_equal(epoll_wait(set, &event, 1, PATIENCE_MS), 1);
	expect_sm(IBV_EVENT_GID_UNAVAIL);
	assert_int_equal(epoll_wait(set, &event, 1, 0), 0);
	device_event(IBV_EVENT_PORT_ERR, 1);
	assert_int_equal(epoll_wait(set, &event, 1, PATIENCE_MS), 1);
	expect_device(IBV_EVENT_PORT_ERR, 1);
	drop();
	assert_false(is_pipe(world.number));
	close(set);
}

static void device_that_is_gone_is_an_error(void **state)
{
	struct ibv_async_event event;

	(void)state;
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	close(world.writer);
	world.writer = -1;
	assert_errno(ibv_get_async_event(&world.context, &event), EIO);
	assert_int_equal(world.context.async_fd, world.number);
}

static void device_is_of_this_machine(void **state)
{
	(void)state;
	setenv("IBSA_FABRIC", "/nosuch.net", 1);
	add();
	unsetenv("IBSA_FABRIC");
	assert_string_equal(world.asked.fabric, "");
	assert_string_equal(world.asked.name, "mlx5_0");
	assert_ptr_equal(world.asked.context, &world.context);
	assert_null(world.asked.sa);
}

static int add_errno(void)
{
	assert_int_equal(ibv_register_sm_events(&world.context,
						IBV_SM_EVENT_ALL, 0, NULL),
			 -1);
	assert_true(is_pipe(world.number));
	return errno;
}

static void why_it_cannot_be_registered_is_said(void **state)
{
	static const struct {
		int err;
		int says;
	} rows[] = {
		{ -EBUSY, EBUSY },   { -EOPNOTSUPP, ENODEV },
		{ -ENOMEM, ENOMEM }, { -EAGAIN, EAGAIN },
		{ -ECANCELED, EIO }, { -ETIMEDOUT, EIO },
		{ -EACCES, EIO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world.watch_err = rows[i].err;
		assert_int_equal(add_errno(), rows[i].says);
	}
	world.watch_err = 0;
	add();
}

static void ethernet_needs_an_address(void **state)
{
	const struct ibsa_address sa = { .lid = 1, .qpn = 1 };
	const struct ibsa_verbs_options options = { .sa = &sa, .sm_key = 5 };
	union ibv_gid gid = verbs_rig_gid(&world.rig, "node1", 1);

	(void)state;
	tree_set_port(&world.tree, "mlx5_0", 1, "link_layer", "Ethernet\n");
	assert_int_equal(add_errno(), ENODEV);
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), 0);
	add();
	assert_int_equal(world.asked.sa->lid, 1);
	assert_int_equal(world.asked.sm_key, 5);
	assert_errno(ibv_gid_reachable(&world.context, 2, &gid, 0), EINVAL);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_true(is_pipe(world.number));
	assert_int_equal(add_errno(), ENODEV);
}

/* It stays what a context is asked through, until that is detached. */
static void address_comes_before_all_questions(void **state)
{
	const struct ibsa_address sa = { .lid = 1, .qpn = 1 };
	const struct ibsa_verbs_options options = { .sa = &sa };

	(void)state;
	add();
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), -EBUSY);
	drop();
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), -EBUSY);
	assert_true(is_pipe(world.number));
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
	assert_int_equal(ibsa_verbs_attach(&world.context, &options), 0);
	add();
	assert_int_equal(world.asked.sa->lid, 1);
}

/* While one is out, the member is another number of the device's file. */
static void file_of_the_device_is_lent(void **state)
{
	struct ibsa_verbs_loan *first;
	struct ibsa_verbs_loan *second;

	(void)state;
	assert_null(ibsa_verbs_lend(&world.context));
	add();
	assert_false(is_pipe(world.context.async_fd));
	first = ibsa_verbs_lend(&world.context);
	second = ibsa_verbs_lend(&world.context);
	assert_int_not_equal(world.context.async_fd, world.number);
	assert_true(is_pipe(world.context.async_fd));
	device_event(IBV_EVENT_PORT_ERR, 1);
	assert_true(is_readable(PATIENCE_MS));
	ibsa_verbs_return(first);
	assert_true(is_pipe(world.context.async_fd));
	ibsa_verbs_return(second);
	assert_int_equal(world.context.async_fd, world.number);
	expect_device(IBV_EVENT_PORT_ERR, 1);
	drop();
	assert_null(ibsa_verbs_lend(&world.context));
}

/* A loan that is out when all has ended is returned to nothing. */
static void loan_outlasts_what_it_was_for(void **state)
{
	struct ibsa_verbs_loan *loan;

	(void)state;
	add();
	loan = ibsa_verbs_lend(&world.context);
	drop();
	assert_int_equal(world.context.async_fd, world.number);
	assert_true(is_pipe(world.number));
	ibsa_verbs_return(loan);
	assert_int_equal(world.context.async_fd, world.number);
}

/* So many descriptors are left, from the lowest number that is free. */
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
		assert_true(is_pipe(world.number));
		descriptors_leave(count++, &all);
		err = ibsa_verbs_attach(&world.context, NULL);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	} while (err == -EMFILE && count < 8);
	assert_int_equal(err, 0);
	assert_in_range(count, 2, 4);
	assert_int_equal(ibsa_verbs_detach(&world.context), 0);
}

/* Its file is the parent's epoll file, which is not to be changed. */
static void child_leaves_its_parent_s_number_alone(void **state)
{
	struct ibsa_async_event event;
	const unsigned int kind = IBV_SM_EVENT_UGID_ALL;
	struct ibv_context *context = &world.context;
	pid_t child;

	(void)state;
	add();
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
	device_event(IBV_EVENT_PORT_ERR, 1);
	expect_device(IBV_EVENT_PORT_ERR, 1);
}

static void number_that_cannot_be_changed_stays(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		sets_left = i;
		assert_int_equal(ibsa_verbs_attach(&world.context, NULL),
				 -EPERM);
		assert_true(is_pipe(world.number));
	}
	assert_int_equal(ibsa_verbs_attach(&world.context, NULL), 0);
}

static void without_libibverbs_there_are_no_device_events(void **state)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ERR };
	int ends[2];

	(void)state;
	memset(&world, 0, sizeof(world));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(world.device.name, sizeof(world.device.name), "mlx5_0");
	world.context.device = &world.device;
	world.context.async_fd = world.number = ends[0];
	world.context.cmd_fd = world.writer = ends[1];
	device_event(IBV_EVENT_PORT_ERR, 1);
	assert_errno(ibv_get_async_event(&world.context, &event), ENOSYS);
	assert_string_equal(ibv_event_type_str(IBV_EVENT_PORT_ERR), "unknown");
	ibv_ack_async_event(&event);
	assert_errno(ibv_close_device(&world.context), ENOSYS);
	close(ends[0]);
	close(ends[1]);
}

static void names_of_device_events_are_libibverbs(void **state)
{
	(void)state;
	assert_string_equal(ibv_event_type_str(IBV_EVENT_PORT_ERR),
			    "a port of the stub");
	assert_string_equal(ibv_event_type_str(IBV_EVENT_GID_AVAIL),
			    "GID available");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_libibverbs_there_are_no_device_events),
		TEST(events_come_side_by_side),
		TEST(nothing_is_read_ahead),
		TEST(flags_of_the_number_move_along),
		TEST(neither_source_starves_the_other),
		TEST(reader_waits_for_both),
		TEST(readers_do_not_disturb_each_other),
		TEST(epoll_sees_both),
		TEST(device_that_is_gone_is_an_error),
		TEST(device_is_of_this_machine),
		TEST(why_it_cannot_be_registered_is_said),
		TEST(ethernet_needs_an_address),
		TEST(address_comes_before_all_questions),
		TEST(file_of_the_device_is_lent),
		TEST(loan_outlasts_what_it_was_for),
		TEST(without_descriptors_nothing_changes),
		TEST(child_leaves_its_parent_s_number_alone),
		TEST(number_that_cannot_be_changed_stays),
		TEST(names_of_device_events_are_libibverbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
