/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for data of the fabric server or a wake-up, and tries to connect again
 * after the server has gone.
 *
 * The fd that programs poll is an epoll fd: it stays the same after a
 * reconnect, and a wake-up does not leave it readable.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "remote/link.h"

enum { RENEW_MS = 100 };

int ibsa__remote_link_watch(const struct remote_link *link, int fd,
			    uint32_t events)
{
	return link->epoll_fd < 0 ? 0
				  : fd_watch_for(link->epoll_fd, fd, events);
}

/*
 * Remove the connection's descriptors from the epoll set. close() alone does
 * not remove them if a forked child has copies: epoll(7).
 */
void ibsa__remote_link_unwatch(const struct remote_link *link)
{
	const int fds[] = { link->data.fd, link->join_fd, link->connection.fd };

	if (link->epoll_fd < 0)
		return;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			epoll_ctl(link->epoll_fd, EPOLL_CTL_DEL, fds[i], NULL);
}

int ibsa__remote_link_wait_init(struct remote_link *link)
{
	link->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return link->wake_fd < 0 ? -errno : 0;
}

static void set_close(struct remote_link *link)
{
	fd_close(&link->epoll_fd);
	fd_close(&link->timer_fd);
}

void ibsa__remote_link_wait_done(struct remote_link *link)
{
	set_close(link);
	fd_close(&link->wake_fd);
}

void ibsa__remote_link_wake(struct umad_file *file)
{
	fd_wake(link_of(file)->wake_fd);
}

/*
 * Return: the time at which the timeout of a packet ends that was received or
 * sent only in part; 0 if there is no such packet.
 */
static uint64_t packet_limit_ns(const struct remote_link *link)
{
	const uint64_t in_ns = link->inbox.begun_ns;
	const uint64_t out_ns = link->outbox.begun_ns;
	const uint64_t first_ns = !in_ns || (out_ns && out_ns < in_ns) ? out_ns
								       : in_ns;

	return first_ns ? first_ns + link->connection.patience_ms * NS_PER_MS
			: 0;
}

bool ibsa__remote_link_is_late(const struct remote_link *link)
{
	return packet_limit_ns(link) && clock_now_ns() >= packet_limit_ns(link);
}

/* Return: how long to wait in ms, at most the caller's @timeout_ms. */
static int wait_limit_ms(const struct remote_link *link, int timeout_ms)
{
	int most_ms = -1;

	if (!link->transport.is_open)
		most_ms = RENEW_MS;
	else if (packet_limit_ns(link))
		most_ms = ibsa__clock_left_ms(
			(int)link->connection.patience_ms,
			packet_limit_ns(link) -
				link->connection.patience_ms * NS_PER_MS);
	return sooner_ms(timeout_ms, most_ms);
}

/*
 * Wait for the server or a wake-up. The descriptors are polled directly,
 * because poll() of the epoll fd takes longer.
 */
int ibsa__remote_link_wait(struct umad_file *file, int timeout_ms)
{
	struct remote_link *link = link_of(file);
	struct pollfd fds[] = {
		{ .fd = link->wake_fd, .events = POLLIN },
		{ .fd = link->data.fd, .events = POLLIN },
		{ .fd = link->connection.fd, .events = POLLIN },
		{ .fd = link->join_fd, .events = POLLOUT },
	};

	link->inbox.is_dry = false;
	link->is_quiet = false;
	if (link->outbox.begun_ns)
		fds[1].events |= POLLOUT;
	if (link_is_connecting(link))
		fds[2].events = POLLOUT;
	if (poll(fds, sizeof(fds) / sizeof(fds[0]),
		 wait_limit_ms(link, timeout_ms)) < 0)
		return -errno;
	link->is_quiet = !fds[2].revents;
	return fds[0].revents ? fd_wake_reset(link->wake_fd) : 0;
}

static void timer_set(const struct remote_link *link, uint64_t first_ns,
		      uint64_t each_ns)
{
	const struct itimerspec at = {
		.it_value = clock_timespec(first_ns),
		.it_interval = clock_timespec(each_ns),
	};

	/* Setting the timer also clears an expiration that was not read. */
	if (link->timer_fd >= 0)
		timerfd_settime(link->timer_fd, 0, &at, NULL);
}

/* Make the transport's fd readable when the next attempt to connect is due. */
static void renew_timer_set(struct remote_link *link)
{
	timer_set(link, RENEW_MS * NS_PER_MS, RENEW_MS * NS_PER_MS);
}

void ibsa__remote_link_limit_set(struct remote_link *link)
{
	const uint64_t end_ns = packet_limit_ns(link);
	const uint64_t now_ns = end_ns ? clock_now_ns() : 0;

	timer_set(link, end_ns > now_ns ? end_ns - now_ns : end_ns != 0, 0);
}

void ibsa__remote_link_nudge(struct remote_link *link)
{
	timer_set(link, 1, 0);
	ibsa__remote_link_wake(&link->base);
}

void ibsa__remote_link_nudge_end(struct remote_link *link)
{
	if (link->transport.is_open)
		ibsa__remote_link_limit_set(link);
	else
		renew_timer_set(link);
}

void ibsa__remote_link_watch_writable(struct remote_link *link, bool on)
{
	struct epoll_event event = { .events = on ? EPOLLIN | EPOLLOUT
						  : EPOLLIN };

	if (link->epoll_fd >= 0)
		epoll_ctl(link->epoll_fd, EPOLL_CTL_MOD, link->data.fd, &event);
}

void ibsa__remote_link_shut(struct umad_file *file, bool is_gone)
{
	struct remote_link *link = link_of(file);

	(void)is_gone;
	pthread_mutex_lock(&link->renewing);
	/* If a connection attempt is in progress, continue it. */
	if (link->data.fd >= 0) {
		ibsa__remote_link_down(link);
		ibsa__inbox_reset(&link->inbox);
		ibsa__outbox_reset(&link->outbox);
		link->has_methods = false;
		link->has_wanted = false;
		link->renew_ns = clock_now_ns() + RENEW_MS * NS_PER_MS;
		renew_timer_set(link);
	}
	pthread_mutex_unlock(&link->renewing);
}

/*
 * Create the epoll set and the timer, and set them to the state of the link.
 * @renewing is held.
 */
static int set_open(struct remote_link *link)
{
	const uint32_t events = link_is_connecting(link) ? EPOLLOUT : EPOLLIN;
	int err = 0;

	link->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	link->timer_fd = timerfd_create(CLOCK_MONOTONIC,
					TFD_CLOEXEC | TFD_NONBLOCK);
	if (link->epoll_fd < 0 || link->timer_fd < 0)
		err = -errno;
	if (!err)
		err = fd_watch(link->epoll_fd, link->timer_fd);
	if (!err && link->connection.fd >= 0)
		err = fd_watch_for(link->epoll_fd, link->connection.fd, events);
	if (!err && link->join_fd >= 0)
		err = fd_watch_for(link->epoll_fd, link->join_fd, EPOLLOUT);
	if (!err && link->data.fd >= 0)
		err = fd_watch(link->epoll_fd, link->data.fd);
	if (err) {
		set_close(link);
		return err;
	}
	if (link->outbox.begun_ns)
		ibsa__remote_link_watch_writable(link, true);
	ibsa__remote_link_nudge_end(link);
	if (link->control.has_event)
		timer_set(link, 1, 0);
	return 0;
}

static int set_have(struct remote_link *link)
{
	int err = 0;

	pthread_mutex_lock(&link->renewing);
	if (link->epoll_fd < 0)
		err = set_open(link);
	pthread_mutex_unlock(&link->renewing);
	return err;
}

/*
 * If the process has no free descriptor for the epoll fd, close the descriptors
 * of the link, and connect again later.
 */
int ibsa__remote_link_fd(struct umad_file *file)
{
	struct remote_link *link = link_of(file);
	int err = set_have(link);

	if (err && link->transport.is_open) {
		(void)ibsa__umad_lose(&link->transport, err);
		(void)!set_have(link);
	}
	return link->epoll_fd;
}

/*
 * Begin to connect to the server, without waiting for its answer: a server
 * process that is suspended does not answer.
 */
static int link_renew_begin(struct remote_link *link)
{
	int err = ibsa__remote_connect_begin(&link->connection, &link->address,
					     false, NULL);

	link->renew_ns = clock_now_ns() + RENEW_MS * NS_PER_MS;
	return err ? err : ibsa__remote_link_up_begin(link);
}

/*
 * Try to connect to the server again. Return: 0; -ENODEV no connection yet.
 * This function is also called if the link is up, but the server has not
 * confirmed this transport's agents yet.
 */
static int link_renew(struct remote_link *link)
{
	int got = 1;

	if (link->step == LINK_DOWN &&
	    (clock_now_ns() < link->renew_ns || link_renew_begin(link)))
		return -ENODEV;
	if (link->step != LINK_UP)
		got = ibsa__remote_link_up_go(link, NULL);
	if (got < 0 || !ibsa__remote_link_left_ms(link))
		ibsa__remote_link_down(link);
	return got > 0 && link->step == LINK_UP ? 0 : -ENODEV;
}

int ibsa__remote_link_open(struct umad_file *file, bool *out_is_other)
{
	struct remote_link *link = link_of(file);
	int err;

	*out_is_other = false;
	if (link->timer_fd >= 0 && fd_wake_reset(link->timer_fd))
		return -ENODEV;
	pthread_mutex_lock(&link->renewing);
	err = link_renew(link);
	pthread_mutex_unlock(&link->renewing);
	return err ? -ENODEV : 0;
}
