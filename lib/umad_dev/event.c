/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Port events, read from an event file of the transport's own, which is created
 * from a verbs context of the program.
 *
 * Source: ibv_get_async_event(3) for the meaning of each event.
 */
#include <errno.h>
#include <infiniband/verbs.h>

#include "base/fd.h"
#include "device/uverbs.h"
#include "umad_dev/umad.h"
#include "umad_dev/umad_device.h"

static void events_close(struct umad_device *device)
{
	epoll_ctl(device->epoll_fd, EPOLL_CTL_DEL, device->event_fd, NULL);
	fd_close(&device->event_fd);
}

int ibsa__umad_events(struct ibsa_transport *transport, int cmd_fd)
{
	struct umad_device *device = umad_device_of(umad_of(transport)->file);
	uint32_t driver;
	int err;

	/*
	 * A transport of ibsim cannot have port events: ibsim's poll() cannot
	 * wait for a second descriptor.
	 */
	if (device->simulated)
		return -EOPNOTSUPP;
	if (device->event_fd >= 0)
		return -EBUSY;
	err = ibsa__uverbs_driver(umad_device_name(device), &driver);
	/*
	 * An error is ignored: a kernel that cannot answer this query has no
	 * ports that require a GRH.
	 */
	if (!err)
		(void)!ibsa__uverbs_needs_grh(cmd_fd, driver,
					      device->selection.port,
					      &device->needs_grh);
	if (!err)
		err = ibsa__uverbs_events_open(cmd_fd, driver,
					       &device->event_fd);
	if (err)
		return err;
	err = fd_watch(device->epoll_fd, device->event_fd);
	if (err)
		events_close(device);
	return err;
}

/*
 * Whether an event means that the state of the port has changed. Client
 * re-register events of the port are counted.
 */
static bool event_changes_port(struct umad_device *device, uint32_t type,
			       uint64_t element)
{
	switch (type) {
	case IBV_EVENT_DEVICE_FATAL:
		return true;
	case IBV_EVENT_CLIENT_REREGISTER:
		if (element == device->selection.port)
			device->reregisters++;
		return element == device->selection.port;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_GID_CHANGE:
		return element == device->selection.port;
	default:
		return false;
	}
}

int ibsa__umad_dev_changed(struct umad_file *file)
{
	struct umad_device *device = umad_device_of(file);
	bool is_changed = false;

	while (device->event_fd >= 0) {
		uint64_t element;
		uint32_t type;
		int err;

		err = ibsa__uverbs_event_read(device->event_fd, &type,
					      &element);
		if (!err)
			is_changed |= event_changes_port(device, type, element);
		else if (err == -EAGAIN)
			break;
		else if (err != -EINTR)
			events_close(device);
	}
	return is_changed;
}
