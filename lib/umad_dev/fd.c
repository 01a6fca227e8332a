/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file that consists of its descriptor only. This file calls open,
 * ioctl, read, write and close in their simplest form, because ibsim's preload
 * library does not replace other forms of them.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "umad_dev/fd.h"
#include "umad_dev/ibsim.h"

static int fd_of(struct umad_file *file)
{
	return ((const struct umad_fd *)file)->fd;
}

static int fd_control(int fd, unsigned long command, void *argument)
{
	int result;

	errno = 0;
	result = ioctl(fd, command, argument);
	return result < 0 ? ibsa__umad_failure(result) : 0;
}

int ibsa__umad_fd_register(struct umad_file *file,
			   struct umad_agent_request *request)
{
	return fd_control(fd_of(file), UMAD_REGISTER_AGENT, request);
}

/*
 * Map the error of UMAD_REGISTER_AGENT2. ibsim returns EINVAL for every ioctl
 * that it does not implement.
 */
static int fd_register2(struct umad_file *file,
			struct umad_agent_request2 *request)
{
	int err = fd_control(fd_of(file), UMAD_REGISTER_AGENT2, request);

	if (err == -EINVAL && ibsa__umad_is_simulated(fd_of(file)))
		return -ENOTTY;
	return err;
}

int ibsa__umad_fd_unregister(struct umad_file *file, uint32_t agent)
{
	return fd_control(fd_of(file), UMAD_UNREGISTER_AGENT, &agent);
}

/*
 * Send a packet. A short MAD is not padded, although ibsim then sends bytes of
 * its stack after it: with RMPP, the length is part of the message.
 */
int ibsa__umad_fd_send(struct umad_file *file, const void *packet, size_t len)
{
	ssize_t written;

	errno = 0;
	written = write(fd_of(file), packet, len);
	if (written < 0)
		return ibsa__umad_failure(written);
	return (size_t)written == len ? 0 : -EIO;
}

int ibsa__umad_fd_receive(struct umad_file *file, struct umad_buffer *buffers,
			  size_t count)
{
	ssize_t len;

	(void)count;
	errno = 0;
	len = read(fd_of(file), buffers->bytes, buffers->room);
	if (len < 0)
		return ibsa__umad_failure(len);
	buffers->len = (size_t)len;
	buffers->err = 0;
	return 1;
}

const struct umad_file_ops ibsa__umad_fd_ops = {
	.register_agent = ibsa__umad_fd_register,
	.register_agent2 = fd_register2,
	.unregister_agent = ibsa__umad_fd_unregister,
	.send = ibsa__umad_fd_send,
	.receive = ibsa__umad_fd_receive,
	.fd = fd_of,
};

int ibsa__umad_fd_open_named(const char *name)
{
	char path[sizeof(UMAD_FOLDER) + NAME_MAX];
	int err;
	int fd;

	snprintf(path, sizeof(path), UMAD_FOLDER "%s", name);
	errno = 0;
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	/*
	 * ibsim's open() fails without setting errno when all of its eight
	 * descriptors are in use.
	 */
	if (fd < 0)
		return errno ? -errno : -EMFILE;
	err = fd_control(fd, UMAD_ENABLE_PKEY, NULL);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}
