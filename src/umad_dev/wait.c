/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for the device or for a wake-up.
 *
 * The fd that is given out is an epoll fd over the device file alone: it
 * stays the same when the file is opened anew, and a wake-up does not leave
 * it readable for a program that polls it itself.
 */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "umad_dev/transport.h"
#include "umad_dev/umad.h"

enum {
	/* How long a wake-up may go unnoticed on a simulated device. */
	SLICE_MS = 20,
	/* When to try again to open the device file anew, and when the device
	 * has gone. */
	RENEW_MS = 100,
	GONE_MS = 500,
};

int ibsa__umad_watch(struct umad_transport *umad,
		     const struct umad_device_file *file)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (file->simulated)
		return 0;
	if (epoll_ctl(umad->epoll_fd, EPOLL_CTL_ADD, file->fd, &event) < 0)
		return -errno;
	return 0;
}

void ibsa__umad_unwatch(struct umad_transport *umad,
			const struct umad_device_file *file)
{
	if (!file->simulated)
		epoll_ctl(umad->epoll_fd, EPOLL_CTL_DEL, file->fd, NULL);
}

int ibsa__umad_wait_init(struct umad_transport *umad)
{
	int err;

	umad->epoll_fd = -1;
	umad->wake_fd = -1;
	if (umad->file.simulated)
		return 0;
	umad->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (umad->epoll_fd < 0)
		return -errno;
	umad->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = umad->wake_fd < 0 ? -errno : ibsa__umad_watch(umad, &umad->file);
	if (err)
		ibsa__umad_wait_done(umad);
	return err;
}

void ibsa__umad_wait_done(struct umad_transport *umad)
{
	if (umad->epoll_fd >= 0)
		close(umad->epoll_fd);
	if (umad->wake_fd >= 0)
		close(umad->wake_fd);
}

int ibsa__umad_fd(struct ibsa_transport *transport)
{
	const struct umad_transport *umad = umad_of(transport);

	return umad->file.simulated ? umad->file.fd : umad->epoll_fd;
}

void ibsa__umad_wake(struct ibsa_transport *transport)
{
	struct umad_transport *umad = umad_of(transport);
	const uint64_t one = 1;
	ssize_t written;

	if (umad->file.simulated) {
		atomic_store(&umad->woken, true);
		return;
	}
	/* It fails only while the counter is full: the wait will end anyway. */
	written = write(umad->wake_fd, &one, sizeof(one));
	(void)written;
}

static int device_wait(struct umad_transport *umad, int timeout_ms)
{
	struct pollfd fds[2] = {
		{ .fd = umad->epoll_fd, .events = POLLIN },
		{ .fd = umad->wake_fd, .events = POLLIN },
	};
	uint64_t wakes;

	if (poll(fds, 2, timeout_ms) < 0)
		return -errno;
	if (fds[1].revents && read(umad->wake_fd, &wakes, sizeof(wakes)) < 0 &&
	    errno != EAGAIN)
		return -errno;
	return 0;
}

/* ibsim looks at one device fd only, so nothing else can end its poll. */
static int simulated_wait(struct umad_transport *umad, int timeout_ms)
{
	const uint64_t start = umad->base.ops->now_ns(&umad->base);

	while (!atomic_exchange(&umad->woken, false)) {
		struct pollfd fd = { .fd = umad->file.fd, .events = POLLIN };
		uint64_t passed = umad->base.ops->now_ns(&umad->base) - start;
		int left_ms = SLICE_MS;
		int ready;

		passed /= NS_PER_MS;
		if (timeout_ms >= 0 && passed >= (uint64_t)timeout_ms)
			left_ms = 0;
		else if (timeout_ms >= 0 &&
			 (uint64_t)timeout_ms - passed < SLICE_MS)
			left_ms = timeout_ms - (int)passed;
		errno = 0;
		ready = poll(&fd, 1, left_ms);
		if (ready < 0)
			return errno ? -errno : -EIO;
		if (ready > 0 || !left_ms)
			return 0;
	}
	return 0;
}

/* Without a file nothing but the time says when to look for it. */
static int with_a_look(const struct umad_transport *umad, int timeout_ms)
{
	const int look_ms = umad->is_gone ? GONE_MS : RENEW_MS;

	if (umad->news)
		return 0;
	if (umad->file.fd >= 0 || (timeout_ms >= 0 && timeout_ms < look_ms))
		return timeout_ms;
	return look_ms;
}

int ibsa__umad_pause_ms(struct ibsa_transport *transport)
{
	return with_a_look(umad_of(transport), -1);
}

int ibsa__umad_wait(struct ibsa_transport *transport, int timeout_ms)
{
	struct umad_transport *umad = umad_of(transport);

	timeout_ms = with_a_look(umad, timeout_ms);
	if (umad->file.simulated)
		return simulated_wait(umad, timeout_ms);
	return device_wait(umad, timeout_ms);
}
