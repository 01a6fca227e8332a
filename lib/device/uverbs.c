/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls the kernel's verbs by ioctl, and finds the driver id of a device by
 * netlink.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device/nl.h"
#include "device/uverbs.h"

/* A number in a netlink reply, while the reply is evaluated. */
struct number {
	/*
	 * Name of the device that the netlink message must be about; NULL: any
	 * device.
	 */
	const char *device;
	uint16_t type;
	bool is_found;
	uint32_t value;
};

static void number_on_reply(const struct ibsa__nl_reply *reply, void *arg)
{
	struct number *number = arg;
	const void *data;

	if (number->device &&
	    !ibsa__nl_text_is(reply, RDMA_NLDEV_ATTR_DEV_NAME, number->device))
		return;
	data = ibsa__nl_find(reply, number->type, sizeof(number->value));
	if (!data)
		return;
	memcpy(&number->value, data, sizeof(number->value));
	number->is_found = true;
}

/* Query the index of a device in rdma netlink. */
static int device_index(const char *device, uint32_t *out)
{
	struct number number = {
		.device = device,
		.type = RDMA_NLDEV_ATTR_DEV_INDEX,
	};
	const struct ibsa__nl_request request = {
		.protocol = NETLINK_RDMA,
		.type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
		.is_dump = true,
		.on_reply = number_on_reply,
		.arg = &number,
	};
	int err = ibsa__nl_query(&request);

	if (err)
		return err;
	if (!number.is_found)
		return -ENODEV;
	*out = number.value;
	return 0;
}

int ibsa__uverbs_driver(const char *device, uint32_t *out)
{
	static const char kind[] = "uverbs";
	struct number number = { .type = RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID };
	uint32_t index;
	const struct ibsa__nl_attr attrs[] = {
		{ RDMA_NLDEV_ATTR_DEV_INDEX, sizeof(index), &index },
		{ RDMA_NLDEV_ATTR_CHARDEV_TYPE, sizeof(kind), kind },
	};
	const struct ibsa__nl_request request = {
		.protocol = NETLINK_RDMA,
		.type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					 RDMA_NLDEV_CMD_GET_CHARDEV),
		.attrs = attrs,
		.attr_count = 2,
		.on_reply = number_on_reply,
		.arg = &number,
	};
	int err = device_index(device, &index);

	if (!err)
		err = ibsa__nl_query(&request);
	if (err)
		return err;
	if (!number.is_found)
		return -ENODATA;
	*out = number.value;
	return 0;
}

/*
 * Call ioctl() with a command that does not fit the parameter type: musl's
 * ioctl() takes an int, which is too small for the constant.
 */
static int uverbs_ioctl(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument);
}

int ibsa__uverbs_call(int cmd_fd, uint32_t driver, uint16_t object,
		      uint16_t method, struct ib_uverbs_attr *attrs,
		      size_t attr_count)
{
	const size_t attrs_bytes = attr_count * sizeof(*attrs);
	union {
		struct ib_uverbs_ioctl_hdr header;
		uint8_t bytes[sizeof(struct ib_uverbs_ioctl_hdr) +
			      IBSA__UVERBS_ATTRS_MAX * sizeof(*attrs)];
	} call = { 0 };

	if (attr_count > IBSA__UVERBS_ATTRS_MAX)
		return -EINVAL;
	call.header.length = (uint16_t)(sizeof(call.header) + attrs_bytes);
	call.header.object_id = object;
	call.header.method_id = method;
	call.header.num_attrs = (uint16_t)attr_count;
	call.header.driver_id = driver;
	memcpy(call.bytes + sizeof(call.header), attrs, attrs_bytes);
	if (uverbs_ioctl(cmd_fd, RDMA_VERBS_IOCTL, &call) < 0)
		return -errno;
	memcpy(attrs, call.bytes + sizeof(call.header), attrs_bytes);
	return 0;
}

int ibsa__uverbs_events_open(int cmd_fd, uint32_t driver, int *out_fd)
{
	struct ib_uverbs_attr file = {
		.attr_id = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
		.flags = UVERBS_ATTR_F_MANDATORY,
	};
	int flags;
	int err;

	err = ibsa__uverbs_call(cmd_fd, driver, UVERBS_OBJECT_ASYNC_EVENT,
				UVERBS_METHOD_ASYNC_EVENT_ALLOC, &file, 1);
	if (err)
		return err;
	flags = fcntl((int)file.data_s64, F_GETFL);
	if (flags < 0 ||
	    fcntl((int)file.data_s64, F_SETFL, flags | O_NONBLOCK) < 0) {
		err = -errno;
		close((int)file.data_s64);
		return err;
	}
	*out_fd = (int)file.data_s64;
	return 0;
}

int ibsa__uverbs_needs_grh(int cmd_fd, uint32_t driver, unsigned int port,
			   bool *out)
{
	struct ib_uverbs_query_port_resp_ex reply = { 0 };
	struct ib_uverbs_attr attrs[] = {
		{
			.attr_id = UVERBS_ATTR_QUERY_PORT_PORT_NUM,
			.flags = UVERBS_ATTR_F_MANDATORY,
			.len = sizeof(uint64_t),
			.data = port,
		},
		{
			.attr_id = UVERBS_ATTR_QUERY_PORT_RESP,
			.flags = UVERBS_ATTR_F_MANDATORY,
			.len = sizeof(reply),
			.data = (uintptr_t)&reply,
		},
	};
	int err;

	if (port > UINT8_MAX)
		return -ERANGE;
	err = ibsa__uverbs_call(cmd_fd, driver, UVERBS_OBJECT_DEVICE,
				UVERBS_METHOD_QUERY_PORT, attrs, 2);
	if (!err)
		*out = reply.legacy_resp.flags & IB_UVERBS_QPF_GRH_REQUIRED;
	return err;
}

int ibsa__uverbs_event_read(int fd, uint32_t *out_type, uint64_t *out_element)
{
	struct ib_uverbs_async_event_desc event;
	ssize_t len = read(fd, &event, sizeof(event));

	if (len < 0)
		return -errno;
	if (len != sizeof(event))
		return -EIO;
	*out_type = event.event_type;
	*out_element = event.element;
	return 0;
}
