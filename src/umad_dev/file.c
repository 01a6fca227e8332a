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
#include "umad/header.h"
#include "umad_dev/ibsim.h"
#include "umad_dev/file.h"

struct path {
	char text[sizeof(UMAD_FOLDER) + NAME_MAX];
};

/* A file of another driver or of none, or one that a driver has left behind. */
static int no_device(const char *path, struct ibsa_error *error)
{
	return ibsa__fail(error, -ENODEV,
			  "%s is no device of ib_umad: remove it and let udev "
			  "make it, or in a container pass the device in",
			  path);
}

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
		return ibsa__fail(error, -ENODEV,
				  "the kernel has this port but %s is not "
				  "there: in a container, pass the device in; "
				  "else see udev",
				  path);
	case -ENXIO:
	case -ENODEV:
		return no_device(path, error);
	case -EBUSY:
		return ibsa__fail(error, err, "%s is in use by another program",
				  path);
	default:
		return ibsa__fail(error, err, "%s cannot be opened: %s", path,
				  ibsa__errno_text(-err, reason,
						   sizeof(reason)));
	}
}

static int control(int fd, unsigned long command, void *argument)
{
	errno = EIO; /* in case ibsim fails without it */
	if (ioctl(fd, command, argument) < 0)
		return errno == ENOTTY ? -ENODEV : -errno;
	return 0;
}

/*
 * An empty method mask asks for nothing but the replies to what this agent
 * sends; with RMPP version 1 the kernel puts their segments together.
 */
static int agent_register(int fd, uint8_t class_version, uint32_t methods,
			  uint32_t *out)
{
	struct umad_agent_request request = {
		.method_mask = { methods }, /* all below 32: one word */
		.qpn = IBSA_QPN_GSI,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = class_version,
		.rmpp_version = 1,
	};
	int err = control(fd, UMAD_REGISTER_AGENT, &request);

	if (!err)
		*out = request.id;
	return err;
}

/* Enabling P_Key indices first makes the header 64 bytes. */
static int agents_register(struct umad_device_file *file, uint8_t link)
{
	int err = control(file->fd, UMAD_ENABLE_PKEY, NULL);

	if (!err)
		err = agent_register(file->fd, IBSA_CLASS_VERSION, 0,
				     &file->agent);
	if (!err && link == IBSA_LINK_OPA)
		file->has_opa = !agent_register(
			file->fd, IBSA_CLASS_VERSION_OPA, 0, &file->opa_agent);
	return err;
}

/*
 * A method of a class goes to one agent of a port. To a second one the kernel
 * says EINVAL, and there is nothing else in this request that it could mean.
 */
int ibsa__umad_device_listen(struct umad_device_file *file, bool on)
{
	int err;

	if (on == file->has_reports)
		return 0;
	if (on)
		err = agent_register(file->fd, IBSA_CLASS_VERSION,
				     1 << IBSA_METHOD_REPORT,
				     &file->report_agent);
	else
		err = control(file->fd, UMAD_UNREGISTER_AGENT,
			      &file->report_agent);
	if (on && (err == -EINVAL || err == -EPERM))
		return -EBUSY;
	if (!err)
		file->has_reports = on;
	return err;
}

int ibsa__umad_device_serve(struct umad_device_file *file)
{
	const uint32_t methods = 1 << IBSA_METHOD_GET | 1 << IBSA_METHOD_SET |
				 1 << IBSA_METHOD_GET_TABLE |
				 1 << IBSA_METHOD_GET_MULTI |
				 1 << IBSA_METHOD_DELETE;
	int err;

	if (file->has_requests)
		return 0;
	err = agent_register(file->fd, IBSA_CLASS_VERSION, methods,
			     &file->request_agent);
	if (!err)
		file->has_requests = true;
	/* As above: each method goes to one agent of a port. */
	return err == -EINVAL || err == -EPERM ? -EBUSY : err;
}

int ibsa__umad_device_open(const char *name, uint8_t link,
			   struct ibsa_error *error,
			   struct umad_device_file *out)
{
	struct umad_device_file file = { 0 };
	char reason[64];
	struct path path;
	int err;

	snprintf(path.text, sizeof(path.text), UMAD_FOLDER "%s", name);
	errno = 0;
	file.fd = open(path.text, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	/* ibsim fails without errno when its eight descriptors are in use. */
	if (file.fd < 0)
		return open_failed(path.text, errno ? -errno : -EMFILE, error);
	err = agents_register(&file, link);
	if (err) {
		close(file.fd);
		if (err == -ENODEV)
			return no_device(path.text, error);
		return ibsa__fail(
			error, err, "%s refuses a client for SA replies: %s",
			path.text,
			ibsa__errno_text(-err, reason, sizeof(reason)));
	}
	file.simulated = ibsa__umad_is_simulated(file.fd);
	*out = file;
	return 0;
}
