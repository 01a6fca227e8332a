/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for packets of the device or a wake-up.
 *
 * The fd that programs poll is an epoll fd with only the device file: it stays
 * the same when the file is opened again, and a wake-up does not leave it
 * readable.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "umad_dev/umad_device.h"

enum {
	/*
	 * Maximum delay in ms of a wake-up of a thread that waits for an ibsim
	 * device.
	 */
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

int ibsa__umad_dev_fd(const struct umad_file *file)
{
	const struct umad_device *device = (const struct umad_device *)file;

	return device->simulated ? device->file.fd : device->epoll_fd;
}

void ibsa__umad_dev_wake(struct umad_file *file)
{
	struct umad_device *device = umad_device_of(file);

	if (device->simulated)
		atomic_store(&device->woken, true);
	else
		fd_wake(device->wake_fd);
}

static int device_wait(struct umad_device *device, int timeout_ms)
{
	struct pollfd fds[2] = {
		{ .fd = device->epoll_fd, .events = POLLIN },
		{ .fd = device->wake_fd, .events = POLLIN },
	};

	if (poll(fds, 2, timeout_ms) < 0)
		return -errno;
	return fds[1].revents ? fd_wake_reset(device->wake_fd) : 0;
}

/*
 * Wait for an ibsim device in short slices: ibsim's poll() accepts only one
 * descriptor, so a wake-up cannot end it.
 */
static int simulated_wait(struct umad_device *device, int timeout_ms)
{
	const uint64_t start_ns = clock_now_ns();

	while (!atomic_exchange(&device->woken, false)) {
		struct pollfd fd = { .fd = device->file.fd, .events = POLLIN };
		const int left_ms = sooner_ms(
			clock_left_ms(timeout_ms, start_ns), SLICE_MS);
		int ready;

		errno = 0;
		ready = poll(&fd, 1, left_ms);
		if (ready < 0)
			return errno ? -errno : -EIO;
		if (ready > 0 || !left_ms)
			return 0;
	}
	return 0;
}

int ibsa__umad_dev_wait(struct umad_file *file, int timeout_ms)
{
	struct umad_device *device = umad_device_of(file);

	if (device->simulated)
		return simulated_wait(device, timeout_ms);
	return device_wait(device, timeout_ms);
}
