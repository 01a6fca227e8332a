/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open umad file behind a portid.
 *
 * Of ibsim's preload library only plain open, ioctl, read, write, poll and
 * close can be had.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "libibumad/file.h"
#include "packet/ibsim.h"

static int control(int fd, unsigned long command, void *argument)
{
	int result;

	errno = 0;
	result = ioctl(fd, command, argument);
	return result < 0 ? ibsa__umad_failure(result) : 0;
}

int ibsa__portid_open(const char *name)
{
	char path[sizeof("/dev/infiniband/") + NAME_MAX];
	int err;
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", name);
	errno = 0;
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	/* ibsim fails without errno when its eight descriptors are in use. */
	if (fd < 0)
		return errno ? -errno : -EMFILE;
	err = control(fd, UMAD_ENABLE_PKEY, NULL);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

void ibsa__portid_close(int portid)
{
	close(portid);
}

int ibsa__portid_register(int portid, struct umad_agent_request *request)
{
	return control(portid, UMAD_REGISTER_AGENT, request);
}

/* To ibsim it is a command like any other that it does not know. */
int ibsa__portid_register2(int portid, struct umad_agent_request2 *request)
{
	int err = control(portid, UMAD_REGISTER_AGENT2, request);

	if (err == -EINVAL && ibsa__umad_is_simulated(portid))
		return -ENOTTY;
	return err;
}

int ibsa__portid_unregister(int portid, uint32_t agent)
{
	return control(portid, UMAD_UNREGISTER_AGENT, &agent);
}

/*
 * A short MAD is not filled up, although ibsim sends what its stack holds
 * behind one: with RMPP the length is part of what is sent.
 */
int ibsa__portid_write(int portid, const void *packet, size_t len)
{
	ssize_t written;

	errno = 0;
	written = write(portid, packet, len);
	if (written < 0)
		return ibsa__umad_failure(written);
	return (size_t)written == len ? 0 : -EIO;
}

ssize_t ibsa__portid_read(int portid, void *packet, size_t room)
{
	ssize_t len;

	errno = 0;
	len = read(portid, packet, room);
	return len < 0 ? ibsa__umad_failure(len) : len;
}

/* By our own clock, since ibsim's poll may return too early. */
int ibsa__portid_poll(int portid, int timeout_ms)
{
	const uint64_t start_ns = clock_now_ns();
	struct pollfd fd = { .fd = portid, .events = POLLIN };
	int left = timeout_ms;
	int ready;

	do {
		errno = 0;
		ready = poll(&fd, 1, left);
		left = clock_left_ms(timeout_ms, start_ns);
	} while (!ready && left);
	if (ready < 0)
		return ibsa__umad_failure(ready);
	return ready ? 0 : -ETIMEDOUT;
}
