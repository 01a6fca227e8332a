/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of a device and of its SM on one context, which libibverbs has opened
 * on the real kernel; and libibverbs' own calls before and after.
 *
 * usage: vm-events REPORTER
 */
#include "events_rig.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

enum { PATH_ROOM = 64, CONTEXTS = 8 };

static void set_nonblocking(int fd, bool on)
{
	const int flags = fcntl(fd, F_GETFL);

	assert_true(flags >= 0);
	assert_int_equal(fcntl(fd, F_SETFL,
			       on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK),
			 0);
}

/* Take events of the device up to the next one of type @type. */
static void take_device_event(struct rig *rig, int type)
{
	struct ibsa_async_event event;

	do {
		assert_int_equal(ibsa_get_async_event(rig->context, &event), 0);
		assert_true(event.event_type < IBV_EVENT_MCG_CREATED);
		if (event.event_type == type)
			assert_int_equal(event.element.port_num, 1);
		ibsa_ack_async_event(&event);
	} while (event.event_type != type);
}

/* Take the next SM event; events of the device may come first. */
static void take_sm_event(struct rig *rig, struct ibsa_async_event *out)
{
	do {
		assert_int_equal(ibsa_get_async_event(rig->context, out), 0);
		ibsa_ack_async_event(out);
	} while (out->event_type < IBV_EVENT_MCG_CREATED);
}

static void expect_sm_event(struct rig *rig, int type, uint8_t first)
{
	struct ibsa_async_event event;

	take_sm_event(rig, &event);
	assert_int_equal(event.event_type, type);
	assert_int_equal(event.element.gid.raw[0], first);
	assert_int_equal(event.element.gid.raw[15], RIG_LAST);
}

/* Take all events; then the call reports that there is none. */
static void drain(struct rig *rig)
{
	struct ibsa_async_event event;

	set_nonblocking(rig->context->async_fd, true);
	while (!ibsa_get_async_event(rig->context, &event))
		ibsa_ack_async_event(&event);
	assert_int_equal(errno, EAGAIN);
	set_nonblocking(rig->context->async_fd, false);
}

static bool by_poll(struct rig *rig)
{
	return rig_poll(rig->context->async_fd, RIG_WAIT_MS);
}

static bool by_select(struct rig *rig)
{
	struct timeval wait = { .tv_sec = RIG_WAIT_MS / 1000 };
	const int fd = rig->context->async_fd;
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(fd, &fds);
	return select(fd + 1, &fds, NULL, NULL, &wait) == 1 &&
	       FD_ISSET(fd, &fds);
}

/*
 * Each kind of event alone makes async_fd readable, and both events are
 * returned in full.
 */
static void see_both(struct rig *rig, bool (*readable)(struct rig *rig))
{
	drain(rig);
	reporter_report(&rig->reporter, 65, RIG_GID);
	assert_true(readable(rig));
	expect_sm_event(rig, IBV_EVENT_GID_UNAVAIL, 0xfe);
	drain(rig);
	rig_change_gids();
	assert_true(readable(rig));
	take_device_event(rig, IBV_EVENT_GID_CHANGE);

	/* In either order. */
	reporter_report(&rig->reporter, 66, RIG_GROUP);
	rig_change_gids();
	reporter_report(&rig->reporter, 67, RIG_GROUP);
	reporter_report(&rig->reporter, 64, RIG_GID);
	assert_true(readable(rig));
	expect_sm_event(rig, IBV_EVENT_MCG_CREATED, 0xff);
	expect_sm_event(rig, IBV_EVENT_MCG_DELETED, 0xff);
	expect_sm_event(rig, IBV_EVENT_GID_AVAIL, 0xfe);
	drain(rig);
}

static void both_are_seen_by_poll(void **state)
{
	struct rig *rig = *state;

	rig_subscribe(rig, NULL);
	see_both(rig, by_poll);
	rig_close_subscribed(rig, ibsa_close_device);
}

static void both_are_seen_by_select(void **state)
{
	struct rig *rig = *state;

	rig_subscribe(rig, NULL);
	see_both(rig, by_select);
	rig_close_subscribed(rig, ibsa_close_device);
}

/*
 * The epoll set contains the file that the number referred to when it was
 * added.
 */
static int set_of_epoll = -1;

static bool by_epoll(struct rig *rig)
{
	struct epoll_event event;

	return epoll_wait(set_of_epoll, &event, 1, RIG_WAIT_MS) == 1 &&
	       event.data.fd == rig->context->async_fd;
}

static void both_are_seen_by_epoll_after_attach(void **state)
{
	struct rig *rig = *state;
	const struct ibsa_verbs_options options = { .access.sa = &rig->sa };
	struct epoll_event event = { .events = EPOLLIN };

	assert_int_equal(ibsa_verbs_attach(rig->context, &options), 0);
	event.data.fd = rig->context->async_fd;
	set_of_epoll = epoll_create1(EPOLL_CLOEXEC);
	assert_true(set_of_epoll >= 0);
	assert_int_equal(epoll_ctl(set_of_epoll, EPOLL_CTL_ADD,
				   rig->context->async_fd, &event),
			 0);
	assert_int_equal(ibv_register_sm_events(rig->context, IBV_SM_EVENT_ALL,
						0, NULL),
			 0);
	reporter_await(&rig->reporter, "subscribed 4");
	see_both(rig, by_epoll);

	/*
	 * async_fd works also after everything that was attached has ended and
	 * begun again.
	 */
	assert_int_equal(ibv_unregister_sm_events(rig->context,
						  IBV_SM_EVENT_ALL, 0, NULL),
			 0);
	reporter_await(&rig->reporter, "unsubscribed 4");
	assert_int_equal(ibv_register_sm_events(rig->context, IBV_SM_EVENT_ALL,
						0, NULL),
			 0);
	reporter_await(&rig->reporter, "subscribed 4");
	see_both(rig, by_epoll);
	rig_close_subscribed(rig, ibsa_close_device);
	close(set_of_epoll);
}

static void *await_unavailable(void *arg)
{
	struct rig *rig = arg;

	expect_sm_event(rig, IBV_EVENT_GID_UNAVAIL, 0xfe);
	take_device_event(rig, IBV_EVENT_GID_CHANGE);
	return NULL;
}

static void both_kinds_of_event_end_a_wait(void **state)
{
	struct rig *rig = *state;
	pthread_t thread;

	rig_subscribe(rig, NULL);
	drain(rig);
	assert_int_equal(pthread_create(&thread, NULL, await_unavailable, rig),
			 0);
	reporter_report(&rig->reporter, 65, RIG_GID);
	reporter_await(&rig->reporter, "answered 65");
	rig_change_gids();
	assert_int_equal(pthread_join(thread, NULL), 0);
	rig_close_subscribed(rig, ibsa_close_device);
}

/*
 * Without a link, no event can be reported; the gap is returned when the link
 * is back.
 */
static void link_that_was_away_is_a_gap(void **state)
{
	struct rig *rig = *state;
	const struct ibsa_verbs_options options = { .gaps = true };
	struct ibsa_async_event event;

	rig_subscribe(rig, &options);
	drain(rig);
	vm_shell("ip link set eth0 down");
	take_device_event(rig, IBV_EVENT_PORT_ERR);
	vm_shell("ip link set eth0 up");
	take_device_event(rig, IBV_EVENT_PORT_ACTIVE);
	take_sm_event(rig, &event);
	assert_int_equal(event.event_type, IBV_EVENT_SM_GAP);
	reporter_report(&rig->reporter, 64, RIG_GID);
	expect_sm_event(rig, IBV_EVENT_GID_AVAIL, 0xfe);
	rig_close_subscribed(rig, ibsa_close_device);
}

/*
 * The kernel counts an event of a queue when it is read, and libibverbs waits
 * until as many are acknowledged before it destroys the queue.
 */
static void unread_event_of_a_queue_does_not_hold_it(void **state)
{
	struct rig *rig = *state;
	struct pair pair;

	pair_open(&pair, rig->context);
	rig_subscribe(rig, NULL);
	drain(rig);
	pair_reach_limit(&pair);
	assert_true(by_poll(rig));
	pair_close(&pair);
	/* The event was removed with its queue. */
	drain(rig);
	reporter_report(&rig->reporter, 65, RIG_GID);
	expect_sm_event(rig, IBV_EVENT_GID_UNAVAIL, 0xfe);
	rig_close_subscribed(rig, ibsa_close_device);
}

static void unread_event_of_a_queue_pair_does_not_hold_it(void **state)
{
	struct rig *rig = *state;
	struct drained drained;

	drained_open(&drained, rig->context);
	rig_subscribe(rig, NULL);
	drain(rig);
	drained_stop_sending(&drained);
	assert_true(by_poll(rig));
	drained_close(&drained);
	drain(rig);
	reporter_report(&rig->reporter, 65, RIG_GID);
	expect_sm_event(rig, IBV_EVENT_GID_UNAVAIL, 0xfe);
	rig_close_subscribed(rig, ibsa_close_device);
}

static void event_of_a_queue_pair_is_acknowledged(void **state)
{
	struct rig *rig = *state;
	struct ibsa_async_event event;
	struct drained drained;

	drained_open(&drained, rig->context);
	rig_subscribe(rig, NULL);
	drain(rig);
	drained_stop_sending(&drained);
	assert_int_equal(ibsa_get_async_event(rig->context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SQ_DRAINED);
	assert_ptr_equal(event.element.qp, drained.qp);
	ibsa_ack_async_event(&event);
	drained_close(&drained);
	rig_close_subscribed(rig, ibsa_close_device);
}

static void event_of_a_queue_is_acknowledged(void **state)
{
	struct rig *rig = *state;
	struct ibsa_async_event event;
	struct pair pair;

	pair_open(&pair, rig->context);
	rig_subscribe(rig, NULL);
	drain(rig);
	pair_reach_limit(&pair);
	assert_int_equal(ibsa_get_async_event(rig->context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(event.element.srq, pair.srq);
	ibsa_ack_async_event(&event);
	pair_close(&pair);
	rig_close_subscribed(rig, ibsa_close_device);
}

/* The program's O_NONBLOCK is copied in both directions. */
static void choice_not_to_wait_moves_along(void **state)
{
	struct rig *rig = *state;
	struct ibv_async_event stock;
	struct ibsa_async_event event;

	set_nonblocking(rig->context->async_fd, true);
	rig_subscribe(rig, NULL);
	while (!ibsa_get_async_event(rig->context, &event))
		ibsa_ack_async_event(&event);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(ibsa_verbs_detach(rig->context), 0);
	reporter_await(&rig->reporter, "unsubscribed 4");
	while (!ibv_get_async_event(rig->context, &stock))
		ibv_ack_async_event(&stock);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(ibsa_close_device(rig->context), 0);
}

static void file_of(int fd, char *out)
{
	char path[PATH_ROOM];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, out, PATH_ROOM - 1);
	assert_true(len > 0);
	out[len] = '\0';
}

static bool is_of_libibverbs(void (*function)(void))
{
	void *address;
	Dl_info info;

	memcpy(&address, &function, sizeof(address));
	return dladdr(address, &info) &&
	       strstr(info.dli_fname, "libibverbs.so");
}

static void take_stock_event(struct rig *rig)
{
	struct ibv_async_event event;

	do {
		assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_GID_CHANGE);
}

/* After the detach, libibverbs returns the events that were not read. */
static void stock_calls_work_before_and_after(void **state)
{
	struct rig *rig = *state;
	const int fd = rig->context->async_fd;
	char before[PATH_ROOM];
	char attached[PATH_ROOM];
	char after[PATH_ROOM];

	assert_true(is_of_libibverbs((void (*)(void))ibv_get_async_event));
	rig_change_gids();
	take_stock_event(rig);
	file_of(fd, before);
	rig_subscribe(rig, NULL);
	file_of(fd, attached);
	assert_string_not_equal(before, attached);
	drain(rig);
	reporter_report(&rig->reporter, 65, RIG_GID);
	reporter_await(&rig->reporter, "answered 65");
	rig_change_gids();
	assert_int_equal(ibsa_verbs_detach(rig->context), 0);
	reporter_await(&rig->reporter, "unsubscribed 4");
	assert_int_equal(rig->context->async_fd, fd);
	file_of(fd, after);
	assert_string_equal(before, after);
	take_stock_event(rig);
	rig_change_gids();
	assert_true(by_poll(rig));
	take_stock_event(rig);
	assert_int_equal(ibv_close_device(rig->context), 0);
}

/*
 * libibverbs closes a detached context without our notice. The next context may
 * have the same address and the same descriptors.
 */
static void next_context_owes_nothing_to_a_detached_one(void **state)
{
	struct rig *rig = *state;

	for (int i = 0; i < CONTEXTS; i++) {
		rig_subscribe(rig, NULL);
		assert_int_equal(ibsa_verbs_detach(rig->context), 0);
		reporter_await(&rig->reporter, "unsubscribed 4");
		assert_int_equal(ibv_close_device(rig->context), 0);
		rig_reopen(rig);
		rig_change_gids();
		assert_true(by_poll(rig));
		take_device_event(rig, IBV_EVENT_GID_CHANGE);
	}
	rig_subscribe(rig, NULL);
	see_both(rig, by_poll);
	rig_close_subscribed(rig, ibsa_close_device);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		IN_A_RIG(both_are_seen_by_poll),
		IN_A_RIG(both_are_seen_by_select),
		IN_A_RIG(both_are_seen_by_epoll_after_attach),
		IN_A_RIG(both_kinds_of_event_end_a_wait),
		IN_A_RIG(link_that_was_away_is_a_gap),
		IN_A_RIG(unread_event_of_a_queue_does_not_hold_it),
		IN_A_RIG(event_of_a_queue_is_acknowledged),
		IN_A_RIG(unread_event_of_a_queue_pair_does_not_hold_it),
		IN_A_RIG(event_of_a_queue_pair_is_acknowledged),
		IN_A_RIG(choice_not_to_wait_moves_along),
		IN_A_RIG(next_context_owes_nothing_to_a_detached_one),
		IN_A_RIG(stock_calls_work_before_and_after),
	};

	if (!reporter_is_named(argc, argv))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
