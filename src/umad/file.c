/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening a umad device file and registering with it.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/sa.h>

#include "base/error.h"
#include "umad/file.h"
#include "umad/header.h"

struct path {
	char text[sizeof("/dev/infiniband/") + NAME_MAX];
};

static int open_failed(const char *path, int err, struct ibsa_error *error)
{
	char reason[64];

	switch (err) {
	case -EACCES:
	case -EPERM:
		return ibsa__fail(error, -EACCES,
				  "not permitted to open %s: run as root, or "
				  "give your user read and write access to it",
				  path);
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return ibsa__fail(error, -ENODEV,
				  "the kernel has this port but %s is not "
				  "there: in a container, pass the device in; "
				  "else see udev",
				  path);
	case -EBUSY:
		return ibsa__fail(error, err, "%s is in use by another program",
				  path);
	default:
		return ibsa__fail(error, err, "%s cannot be opened: %s", path,
				  strerror_r(-err, reason, sizeof(reason)));
	}
}

/*
 * Enabling P_Key indices first makes the header 64 bytes. An empty method
 * mask asks for nothing but the replies to what this file sends; with
 * RMPP version 1 the kernel puts their segments together.
 */
static int agent_register(int fd, uint32_t *out)
{
	struct umad_agent_request request = {
		.qpn = IBSA_QPN_GSI,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = IBSA_CLASS_VERSION,
		.rmpp_version = 1,
	};

	errno = EIO; /* in case ibsim fails without it */
	if (ioctl(fd, UMAD_ENABLE_PKEY, NULL) < 0 ||
	    ioctl(fd, UMAD_REGISTER_AGENT, &request) < 0)
		return errno == ENOTTY ? -ENODEV : -errno;
	*out = request.id;
	return 0;
}

/* ibsim numbers its descriptors from 1024, and the system knows none. */
static bool is_simulated(int fd)
{
	enum { SIMULATED_MIN = 1024 };

	return fd >= SIMULATED_MIN && fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

int ibsa__umad_file_open(const char *name, struct ibsa_error *error,
			 struct umad_file *out)
{
	char reason[64];
	struct path path;
	uint32_t agent = 0;
	int err;
	int fd;

	snprintf(path.text, sizeof(path.text), "/dev/infiniband/%s", name);
	errno = 0;
	fd = open(path.text, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	/* ibsim fails without errno when its eight descriptors are in use. */
	if (fd < 0)
		return open_failed(path.text, errno ? -errno : -EMFILE, error);
	err = agent_register(fd, &agent);
	if (err) {
		close(fd);
		return ibsa__fail(error, err,
				  "%s refuses a client for SA replies: %s",
				  path.text,
				  strerror_r(-err, reason, sizeof(reason)));
	}
	*out = (struct umad_file){
		.fd = fd,
		.agent = agent,
		.simulated = is_simulated(fd),
	};
	return 0;
}
