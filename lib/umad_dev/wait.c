/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for packets of the device or a wake-up.
 *
 * The fd that programs poll is an epoll fd, with the device file and perhaps
 * the event file, but not the eventfd of wake-ups: it stays the same when the
 * device file is opened again, and a wake-up does not leave it readable.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "umad_dev/umad_device.h"

enum {
	/* Longest wait in ms for an ibsim device. */
	SLICE_MS = 20,
};

int ibsa__umad_dev_watch(struct umad_device *device, int fd)
{
	return device->simulated ? 0 : fd_watch(device->epoll_fd, fd);
}

void ibsa__umad_dev_unwatch(struct umad_device *device, int fd)
{
	if (!device->simulated)
		epoll_ctl(device->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

int ibsa__umad_dev_wait_init(struct umad_device *device)
{
	if (device->simulated)
		return 0;
	device->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (device->epoll_fd < 0)
		return -errno;
	device->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (device->wake_fd < 0)
		return -errno;
	return ibsa__umad_dev_watch(device, device->file.fd);
}

void ibsa__umad_dev_wait_done(struct umad_device *device)
{
	fd_close(&device->epoll_fd);
	fd_close(&device->wake_fd);
}

int ibsa__umad_dev_fd(struct umad_file *file)
{
	const struct umad_device *device = umad_device_of(file);

	return device->simulated ? device->file.fd : device->epoll_fd;
}

void ibsa__umad_dev_wake(struct umad_file *file)
{
	const struct umad_device *device = umad_device_of(file);

	if (!device->simulated)
		fd_wake(device->wake_fd);
}

static int device_wait(struct umad_device *device, int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = device->wake_fd, .events = POLLIN },
		{ .fd = device->file.fd, .events = POLLIN },
		{ .fd = device->event_fd, .events = POLLIN },
	};

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), timeout_ms) < 0)
		return -errno;
	return fds[0].revents ? fd_wake_reset(device->wake_fd) : 0;
}

/*
 * Wait for an ibsim device, but not long: ibsim's poll() accepts only one
 * descriptor, so a wake-up cannot end it.
 */
static int simulated_wait(const struct umad_device *device, int timeout_ms)
{
	struct pollfd fd = { .fd = device->file.fd, .events = POLLIN };

	errno = 0;
	if (poll(&fd, 1, sooner_ms(timeout_ms, SLICE_MS)) < 0)
		return errno ? -errno : -EIO;
	return 0;
}

int ibsa__umad_dev_wait(struct umad_file *file, int timeout_ms)
{
	struct umad_device *device = umad_device_of(file);

	return device->simulated ? simulated_wait(device, timeout_ms)
				 : device_wait(device, timeout_ms);
}
