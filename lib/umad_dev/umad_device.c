/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport over a umad device file of the kernel: how it is opened and
 * closed.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "umad_dev/ibsim.h"
#include "umad_dev/umad.h"
#include "umad_dev/umad_device.h"

static int port_get(struct umad_file *file, struct ibsa_port_state *out)
{
	struct umad_device *device = umad_device_of(file);
	int err = ibsa__port_read(device->files, umad_device_name(device),
				  device->selection.port, out);

	/* The device may have been renamed; its umad file stays open. */
	if (err == -ENOENT && !ibsa__umad_dev_find(device))
		err = ibsa__port_read(device->files, umad_device_name(device),
				      device->selection.port, out);
	/*
	 * ibsim's copy of sysfs never changes, but is found only in the
	 * directory in which the program started. If a file is missing, the
	 * state as of the opening is returned.
	 */
	if (err == -ENOENT && device->simulated) {
		*out = device->selection.state;
		err = 0;
	}
	if (err)
		return err;
	out->port_num = (uint8_t)device->selection.port;
	out->reregisters = device->reregisters;
	out->needs_grh = out->needs_grh || device->needs_grh;
	return 0;
}

static int gid_get(struct umad_file *file, uint32_t index,
		   struct ibsa_gid_entry *out)
{
	const struct umad_device *device = umad_device_of(file);
	int err = ibsa__gid_read(device->files, umad_device_name(device),
				 device->selection.port, index, out);

	return err == -ENOENT ? -EINVAL : err;
}

static int pkey_get(struct umad_file *file, uint32_t index, uint16_t *out)
{
	const struct umad_device *device = umad_device_of(file);
	int err = ibsa__pkey_read(device->files, umad_device_name(device),
				  device->selection.port, index, out);

	return err == -ENOENT ? -EINVAL : err;
}

/* ibsim ignores timeouts. */
static bool device_holds(struct umad_file *file)
{
	return !umad_device_of(file)->simulated;
}

/*
 * Close the descriptors in a forked child. Parent and child share the kernel's
 * file, which unregisters the agents when both have closed it; so this process
 * must not unregister them.
 */
static void descriptors_close(struct umad_file *file)
{
	struct umad_device *device = umad_device_of(file);

	ibsa__umad_dev_wait_done(device);
	fd_close(&device->event_fd);
	fd_close(&device->file.fd);
}

static void device_close(struct umad_file *file)
{
	struct umad_device *device = umad_device_of(file);

	descriptors_close(file);
	ibsa__umad_dev_names_free(device);
	ibsa__files_put(device->files);
	ibsa__free(device);
}

static const struct umad_file_ops device_ops = {
	.register_agent = ibsa__umad_fd_register,
	.unregister_agent = ibsa__umad_fd_unregister,
	.send = ibsa__umad_fd_send,
	.receive = ibsa__umad_fd_receive,
	.fd = ibsa__umad_dev_fd,
	.close = device_close,
	.open = ibsa__umad_dev_reopen,
	.shut = ibsa__umad_dev_shut,
	.wait = ibsa__umad_dev_wait,
	.wake = ibsa__umad_dev_wake,
	.holds = device_holds,
	.port = port_get,
	.changed = ibsa__umad_dev_changed,
	.gid = gid_get,
	.pkey = pkey_get,
	.holder = ibsa__umad_dev_holder,
	.inherited = descriptors_close,
	.reads_singly = true,
};

/*
 * Open the umad file of the port in @selection, and register the agent for SA
 * replies.
 */
static int file_open(struct umad_device *device, struct ibsa_error *error)
{
	const char *name = device->selection.umad;
	int err = ibsa__umad_dev_open(name, error, &device->file.fd);

	if (err)
		return err;
	device->simulated = ibsa__umad_is_simulated(device->file.fd);
	device->transport.link = device->selection.state.link;
	err = ibsa__umad_up(&device->transport, -1);
	return err ? ibsa__umad_dev_refused(name, err, error) : 0;
}

static int selection_open(struct umad_device *device, struct ibsa_error *error)
{
	unsigned int version;
	int err;

	err = ibsa__umad_version(device->files, error, &version);
	if (err)
		return err;
	err = ibsa__umad_dev_rename(device, device->selection.device);
	if (err)
		return ibsa__fail(error, err, "out of memory");
	if (ibsa__guid_read(device->files, device->selection.device,
			    "node_guid", &device->node_guid))
		device->node_guid = 0;
	if (!device->selection.umad[0])
		return ibsa__fail(error, -ENODEV,
				  "the kernel has no MAD device (umad) for "
				  "port %u of %.64s, although ib_umad is "
				  "loaded; choose an InfiniBand or RoCE port",
				  device->selection.port,
				  device->selection.device);
	return file_open(device, error);
}

/*
 * Open a port. If no device was named, try the ports that fit one after the
 * other; if none can be opened, *@error is about the first.
 */
static int port_open(struct umad_device *device, const char *name,
		     unsigned int port, struct ibsa_error *error)
{
	int first;
	int err;

	err = ibsa__port_select(device->files, name, port, 0, error,
				&device->selection);
	if (err)
		return err;
	first = selection_open(device, error);
	err = first;
	for (unsigned int skip = 1; err && !name; skip++) {
		if (ibsa__port_select(device->files, NULL, port, skip, NULL,
				      &device->selection))
			break;
		err = selection_open(device, NULL);
	}
	return err ? first : 0;
}

static struct umad_device *device_new(struct device_files *files,
				      size_t reply_bytes)
{
	struct umad_device *device = ibsa__calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	device->file = (struct umad_fd){ .base.ops = &device_ops, .fd = -1 };
	device->event_fd = -1;
	device->epoll_fd = -1;
	device->wake_fd = -1;
	if (ibsa__umad_transport_init(&device->transport, &device->file.base,
				      reply_bytes)) {
		ibsa__free(device);
		return NULL;
	}
	device->files = ibsa__files_get(files);
	return device;
}

int ibsa__umad_open(struct device_files *files, const char *name,
		    unsigned int port, size_t reply_bytes,
		    struct ibsa_error *error, struct ibsa_transport **out)
{
	struct umad_device *device = device_new(files, reply_bytes);
	struct ibsa_transport *transport;
	int err;

	if (!device)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	transport = &device->transport.base;
	err = port_open(device, name, port, error);
	if (!err) {
		err = ibsa__umad_dev_wait_init(device);
		if (err)
			ibsa__fail(error, err,
				   "cannot create a descriptor to wait with: "
				   "%s",
				   strerror(-err));
	}
	if (err)
		transport->ops->close(transport);
	else
		*out = transport;
	return err;
}

const struct ibsa__port_selection *
ibsa__umad_selection(struct ibsa_transport *transport)
{
	return &umad_device_of(umad_of(transport)->file)->selection;
}
