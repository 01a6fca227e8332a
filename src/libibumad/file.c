/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open umad file behind a portid: the kernel's, or a fabric server's.
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
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "libibumad/file.h"
#include "libibumad/remote_port.h"
#include "umad_dev/ibsim.h"
#include "remote/files.h"

static int control(int fd, unsigned long command, void *argument)
{
	int result;

	errno = 0;
	result = ioctl(fd, command, argument);
	return result < 0 ? ibsa__umad_failure(result) : 0;
}

int ibsa__portid_open(struct device_files *files, const char *name)
{
	char path[sizeof("/dev/infiniband/") + NAME_MAX];
	int err;
	int fd;

	if (ibsa__files_are_remote(files))
		return ibsa__remote_port_open(files, name);
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
	struct section section;
	struct remote_file *remote = ibsa__remote_port_get(portid, &section);

	if (remote)
		ibsa__remote_port_close(remote, &section);
	else
		close(portid);
}

bool ibsa__portid_is_remote(int portid)
{
	struct section section;
	struct remote_file *remote = ibsa__remote_port_get(portid, &section);

	if (remote)
		ibsa__remote_port_put(remote, &section);
	return remote;
}

/* As the kernel makes the newer request of the older one. */
static int agent_register_old(struct remote_file *remote,
			      struct umad_agent_request *old)
{
	struct umad_agent_request2 request = {
		.qpn = old->qpn,
		.mgmt_class = old->mgmt_class,
		.mgmt_class_version = old->mgmt_class_version,
		.oui = (uint32_t)old->oui[0] << 16 |
		       (uint32_t)old->oui[1] << 8 | old->oui[2],
		.rmpp_version = old->rmpp_version,
	};
	int err;

	ibsa__umad_methods_get(old, request.method_mask);
	err = ibsa__remote_file_register(remote, &request);
	if (!err)
		old->id = request.id;
	return err;
}

int ibsa__portid_register(int portid, struct umad_agent_request *request)
{
	struct section section;
	struct remote_file *remote = ibsa__remote_port_get(portid, &section);
	int err;

	if (!remote)
		return control(portid, UMAD_REGISTER_AGENT, request);
	err = agent_register_old(remote, request);
	ibsa__remote_port_put(remote, &section);
	return err;
}

/* To ibsim it is a command like any other that it does not know. */
int ibsa__portid_register2(int portid, struct umad_agent_request2 *request)
{
	struct section section;
	struct remote_file *remote = ibsa__remote_port_get(portid, &section);
	int err;

	if (remote) {
		err = ibsa__remote_file_register(remote, request);
		ibsa__remote_port_put(remote, &section);
		return err;
	}
	err = control(portid, UMAD_REGISTER_AGENT2, request);
	if (err == -EINVAL && ibsa__umad_is_simulated(portid))
		return -ENOTTY;
	return err;
}

int ibsa__portid_unregister(int portid, uint32_t agent)
{
	struct section section;
	struct remote_file *remote = ibsa__remote_port_get(portid, &section);
	int err;

	if (!remote)
		return control(portid, UMAD_UNREGISTER_AGENT, &agent);
	err = ibsa__remote_file_unregister(remote, agent);
	ibsa__remote_port_put(remote, &section);
	return err;
}

/*
 * A short MAD is not filled up, although ibsim sends what its stack holds
 * behind one: with RMPP the length is part of what is sent.
 */
int ibsa__portid_write(int portid, const void *packet, size_t len)
{
	struct remote_file *remote;
	struct section section;
	ssize_t written;

	pthread_testcancel(); /* as write() does, at a remote port too */
	remote = ibsa__remote_port_get(portid, &section);
	if (remote) {
		int err = ibsa__remote_file_write(remote, packet, len);

		ibsa__remote_port_put(remote, &section);
		return err;
	}
	errno = 0;
	written = write(portid, packet, len);
	if (written < 0)
		return ibsa__umad_failure(written);
	return (size_t)written == len ? 0 : -EIO;
}

ssize_t ibsa__portid_read(int portid, void *packet, size_t room)
{
	struct remote_file *remote;
	struct section section;
	ssize_t len;

	pthread_testcancel(); /* as read() does, at a remote port too */
	remote = ibsa__remote_port_get(portid, &section);
	if (remote) {
		len = ibsa__remote_file_read(remote, packet, room);
		ibsa__remote_port_put(remote, &section);
		return len;
	}
	errno = 0;
	len = read(portid, packet, room);
	return len < 0 ? ibsa__umad_failure(len) : len;
}

/*
 * ibsim's poll may return too early; only for a file that may be ibsim's the
 * clock is read. A cancellation point that holds nothing.
 */
int ibsa__portid_poll(int portid, int timeout_ms)
{
	const bool is_exact = portid < UMAD_SIMULATED_MIN;
	const uint64_t start_ns = is_exact ? 0 : clock_now_ns();
	struct pollfd fd = { .fd = portid, .events = POLLIN };
	int left = timeout_ms;
	int ready;

	do {
		errno = 0;
		ready = poll(&fd, 1, left);
		left = is_exact ? 0 : clock_left_ms(timeout_ms, start_ns);
	} while (!ready && left);
	if (ready < 0)
		return ibsa__umad_failure(ready);
	return ready ? 0 : -ETIMEDOUT;
}
