/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device that is removed from the kernel while it is in use, and added again,
 * perhaps with another name or another file.
 *
 * usage: vm-plug REPORTER
 */
#include <endian.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <ibsa/ib_sa.h>
#include <ibsa/verbs.h>

#include "test/support/told.h"
#include "test/vm/sa_rig.h"

enum { SLICE_MS = 50, REPORT_MS = 1000, SOON_MS = 3000, LONG_MS = 20000 };

#define OUT "rdma link delete rxe0"
#define IN "rdma link add rxe0 type rxe netdev eth0"

/* Restore rxe0 on eth0 for the next test, whatever state a test has left. */
static int teardown(void **state)
{
	sa_teardown(state);
	vm_shell("for name in rxe0 rxe7 rxe8 rxe9; do"
		 "	rdma link delete $name 2>/dev/null || true;"
		 "done; " IN);
	return 0;
}

/* Send queries until the device exists again and the SA has answered one. */
static void answers_again(struct ibsa_client *client)
{
	const uint64_t end_ms = sa_now_ms() + LONG_MS;
	struct sa_seen seen;
	int err;

	do {
		(void)!ibsa_wait(client, SLICE_MS);
		err = sa_query_submit(client, sa_service('A', 0),
				      IBSA_METHOD_GET, 5000, 200, &seen);
		assert_true(sa_now_ms() < end_ms);
	} while (err == -ENODEV);
	assert_int_equal(err, 0);
	sa_wait(client, &seen);
	assert_int_equal(seen.err, 0);
}

/* The wait has no timeout, and the query a long timeout; both end. */
static void wait_and_query_end_with_the_device(void **state)
{
	const struct sa *sa = *state;
	struct ibsa_client *client = sa_client(sa, NULL);
	const int fd = ibsa_fd(client);
	const uint64_t start_ms = sa_now_ms();
	struct sa_seen seen, refused;
	int err;

	sa_assert_answers(client);
	assert_int_equal(sa_query_submit(client, sa_service('S', 0),
					 IBSA_METHOD_GET, LONG_MS, LONG_MS,
					 &seen),
			 0);
	vm_shell(OUT " &");
	do
		err = ibsa_wait(client, -1);
	while (!err || err == -EINTR);
	assert_int_equal(err, -ENODEV);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ENODEV);
	assert_true(sa_now_ms() - start_ms < SOON_MS);
	assert_int_equal(ibsa_dispatch(client), 0);
	assert_int_equal(sa_query_submit(client, sa_service('A', 0),
					 IBSA_METHOD_GET, 0, 0, &refused),
			 -ENODEV);
	assert_int_equal(refused.calls, 0);

	vm_shell(IN);
	answers_again(client);
	assert_int_equal(ibsa_fd(client), fd);
	assert_int_equal(ibsa_close(client), 0);
}

static void client_closes_without_its_device(void **state)
{
	struct ibsa_client *client = sa_client(*state, NULL);
	struct sa_seen seen;

	assert_int_equal(sa_query_submit(client, sa_service('S', 0),
					 IBSA_METHOD_GET, LONG_MS, LONG_MS,
					 &seen),
			 0);
	vm_shell(OUT);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ECANCELED);
}

/* A device that comes back under another name is found by its node GUID. */
static void device_comes_back_under_another_name(void **state)
{
	struct ibsa_client *client = sa_client(*state, NULL);
	struct ibsa_port_state port;

	vm_shell(OUT "; rdma link add rxe9 type rxe netdev eth0");
	answers_again(client);
	assert_int_equal(ibsa_port_get(client, true, &port), 0);
	assert_int_equal(port.port_state, 4);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * Another device has got the umad file that the first device had: the first
 * device is found with its new file.
 */
static void device_comes_back_with_another_file(void **state)
{
	struct ibsa_client *client = sa_client(*state, NULL);

	vm_shell("ip link add plug0 type dummy && ip link set plug0 up");
	vm_shell(OUT "; rdma link add rxe8 type rxe netdev plug0; " IN);
	vm_shell("grep -q rxe8 /sys/class/infiniband_mad/umad0/ibdev");
	answers_again(client);
	assert_int_equal(ibsa_close(client), 0);
}

static void device_is_renamed_in_use(void **state)
{
	struct ibsa_client *client = sa_client(*state, NULL);
	struct ibsa_port_state port;

	vm_shell("rdma dev set rxe0 name rxe7");
	assert_int_equal(ibsa_port_get(client, true, &port), 0);
	assert_int_equal(port.reregisters, 0);
	sa_assert_answers(client);
	assert_int_equal(ibsa_close(client), 0);
}

/* The reported changes of the port. */
struct port_told {
	int down, again;
};

static void note_port(unsigned int changes, const struct ibsa_port_state *now,
		      void *arg)
{
	struct port_told *told = arg;

	told->down += now->port_state == 1;
	told->again += !!(changes & IBSA_PORT_CHANGE_REREGISTER);
}

/*
 * Dispatch, with or without the device, until this number of reports has come.
 */
static void await(struct ibsa_client *client, const int *what, int times)
{
	const uint64_t end_ms = sa_now_ms() + LONG_MS;

	while (*what < times) {
		int err = ibsa_wait(client, SLICE_MS);

		if (err != -EINTR && err != -ENODEV)
			assert_int_equal(err, 0);
		assert_true(sa_now_ms() < end_ms);
	}
}

static void watch_all(struct ibsa_client *client, struct told *told,
		      struct port_told *port_told)
{
	struct ibsa_port_watch *port;

	told_watch(client, sa_service('K', 1), told);
	assert_int_equal(ibsa_port_watch_start(client, 0, note_port, port_told,
					       &port),
			 0);
}

static void report_is_told(struct sa *sa, struct ibsa_client *client,
			   struct told *told)
{
	const int before = told->reports;

	reporter_report(&sa->reporter, 64, SA_GID);
	await(client, &told->reports, before + 1);
	reporter_await(&sa->reporter, "answered 64");
}

/* All registrations are made again, and possible losses are reported. */
static void watches_and_services_recover(void **state)
{
	struct sa *sa = *state;
	struct ibsa_client *client = sa_client(sa, NULL);
	struct port_told port = { 0 };
	struct told told = { 0 };

	watch_all(client, &told, &port);
	reporter_await(&sa->reporter, "subscribed 4");
	report_is_told(sa, client, &told);
	assert_int_equal(told.gaps, 0);

	vm_shell(OUT);
	await(client, &told.lost, 1);
	assert_int_equal(port.down, 1);
	sa_forget(sa);
	vm_shell(IN);
	await(client, &told.subscribed, 2);
	await(client, &told.gaps, 1);
	await(client, &told.registered, 2);
	assert_int_equal(told.missing, 1);
	assert_int_equal(port.again, 1);
	report_is_told(sa, client, &told);
	assert_int_equal(told.gaps, 1);
	assert_int_equal(ibsa_close(client), 0);
	reporter_await(&sa->reporter, "kept 0");
}

/* The port was never seen down. */
static void device_that_is_back_at_once_was_away(void **state)
{
	struct sa *sa = *state;
	struct ibsa_client *client = sa_client(sa, NULL);
	struct port_told port = { 0 };
	struct told told = { 0 };

	watch_all(client, &told, &port);
	sa_forget(sa);
	vm_shell(OUT "; " IN);
	await(client, &told.gaps, 1);
	await(client, &told.registered, 2);
	assert_int_equal(port.again, 1);
	report_is_told(sa, client, &told);
	assert_int_equal(ibsa_close(client), 0);
}

/* The callbacks of the kernel's calls, from another thread. */
struct answers {
	atomic_int good, ended, subscribed, gaps, lost;
};

static void note_service(int status, struct ib_sa_service_rec *resp, void *arg)
{
	struct answers *answers = arg;

	(void)resp;
	atomic_fetch_add(status ? &answers->ended : &answers->good, 1);
}

static void note_device_event(const struct ibsa_event *event, void *arg)
{
	struct answers *answers = arg;

	if (event->kind == IBSA_EVENT_SUBSCRIBED)
		atomic_fetch_add(&answers->subscribed, 1);
	if (event->kind == IBSA_EVENT_GAP)
		atomic_fetch_add(&answers->gaps, 1);
	if (event->kind == IBSA_EVENT_LOST)
		atomic_fetch_add(&answers->lost, 1);
}

static void answers_await(atomic_int *what, int times)
{
	const uint64_t end_ms = sa_now_ms() + LONG_MS;

	while (atomic_load(what) < times) {
		usleep(SLICE_MS * 1000);
		assert_true(sa_now_ms() < end_ms);
	}
}

static int device_query(struct ib_sa_client *client, struct ib_device *device,
			char how, struct answers *answers)
{
	struct ib_sa_service_rec rec = { .id = htobe64(sa_service(how, 0)) };
	struct ib_sa_query *query;

	return ib_sa_service_rec_query(client, device, 1, IBSA_METHOD_GET, &rec,
				       IB_SA_SERVICE_REC_SERVICE_ID, LONG_MS, 0,
				       note_service, answers, &query);
}

/*
 * The worker detects the removal, and the callbacks get the error of the
 * kernel: -EINTR.
 */
static void worker_goes_on_with_the_device(void **state)
{
	const struct sa *sa = *state;
	const struct ibsa_ib_device_options options = {
		.name = "rxe0", .access.sa = &sa->address
	};
	struct answers answers = { 0 };
	struct ibsa_device_watch *watch;
	struct ib_sa_client client;
	struct ib_device *device;

	ib_sa_register_client(&client);
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	assert_int_equal(ibsa_device_watch_start(&client, device, 1, NULL,
						 note_device_event, &answers,
						 &watch),
			 0);
	assert_true(device_query(&client, device, 'A', &answers) >= 0);
	answers_await(&answers.good, 1);
	answers_await(&answers.subscribed, 1);
	assert_true(device_query(&client, device, 'S', &answers) >= 0);
	vm_shell(OUT);
	answers_await(&answers.ended, 1);
	answers_await(&answers.lost, 1);
	vm_shell(IN);
	answers_await(&answers.gaps, 1);
	assert_int_equal(atomic_load(&answers.subscribed), 2);
	assert_true(device_query(&client, device, 'A', &answers) >= 0);
	answers_await(&answers.good, 2);
	ibsa_device_watch_stop(watch);
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
}

/*
 * Let the SA send a Report again and again, until the port exists again and
 * the event arrives.
 */
static void report_arrives(struct sa *sa, struct ibv_context *context)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
	const uint64_t end_ms = sa_now_ms() + LONG_MS;
	struct ibsa_async_event event;

	do {
		reporter_report(&sa->reporter, 64, SA_GID);
		assert_true(sa_now_ms() < end_ms);
	} while (!poll(&fd, 1, REPORT_MS));
	assert_int_equal(ibsa_get_async_event(context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_GID_AVAIL);
	ibsa_ack_async_event(&event);
}

/* A registration outlives the device on which it was made. */
static void registered_events_go_on_with_the_device(void **state)
{
	struct sa *sa = *state;
	const struct ibsa_options options = { .device = "rxe0",
					      .access.sa = &sa->address };
	struct ibv_context *context;

	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	assert_int_equal(
		ibv_register_sm_events(context, IBV_SM_EVENT_ALL, 0, NULL), 0);
	reporter_await(&sa->reporter, "subscribed 4");
	report_arrives(sa, context);
	vm_shell(OUT);
	vm_shell(IN);
	report_arrives(sa, context);
	ibsa_verbs_close(context);
}

#define WITH_AN_SA(test) \
	cmocka_unit_test_setup_teardown(test, sa_setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WITH_AN_SA(wait_and_query_end_with_the_device),
		WITH_AN_SA(client_closes_without_its_device),
		WITH_AN_SA(device_comes_back_under_another_name),
		WITH_AN_SA(device_comes_back_with_another_file),
		WITH_AN_SA(device_is_renamed_in_use),
		WITH_AN_SA(watches_and_services_recover),
		WITH_AN_SA(device_that_is_back_at_once_was_away),
		WITH_AN_SA(worker_goes_on_with_the_device),
		WITH_AN_SA(registered_events_go_on_with_the_device),
	};

	if (!reporter_is_named(argc, argv))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
