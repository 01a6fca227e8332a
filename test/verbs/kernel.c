/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands for GID tables, with the rules of Linux uverbs_std_types_device.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "test/verbs/kernel.h"

enum { ENTRY_BYTES = 32 };

struct kernel kernel;

int __wrap_ioctl(int fd, unsigned long command, ...);
int __wrap_ibsa__uverbs_driver(const char *device, uint32_t *out);

void kernel_reset(struct foreign *foreign, const char *device)
{
	static const struct ibv_gid_entry entries[] = {
		{ { .raw = { 0xfe, 0x80, [15] = 1 } }, 0, 1, 2, 3 },
		{ { .raw = { [10] = 0xff, 0xff, 10, 0, 0, 1 } }, 3, 1, 2, 4 },
		{ { .raw = { 0xfe, 0x80, [15] = 2 } }, 1, 2, 1, 0 },
	};

	memset(&kernel, 0, sizeof(kernel));
	memcpy(kernel.entries, entries, sizeof(entries));
	kernel.count = 3;
	kernel.ports = 2;
	kernel.table_len = 8;
	kernel.device = device;
	kernel.driver = 14;
	kernel.needs = 14;
	memset(foreign, 0, sizeof(*foreign));
	snprintf(foreign->device.name, sizeof(foreign->device.name), "%s",
		 device);
	foreign->context.device = &foreign->device;
	foreign->context.cmd_fd = KERNEL_FD;
}

int __wrap_ibsa__uverbs_driver(const char *device, uint32_t *out)
{
	kernel.driver_queries++;
	assert_string_equal(device, kernel.device);
	if (!kernel.driver_err)
		*out = kernel.driver;
	return kernel.driver_err;
}

/*
 * Find an attribute of a command: all are present, in any order, and contain
 * numbers directly.
 */
static const struct ib_uverbs_attr *find(const struct ib_uverbs_ioctl_hdr *call,
					 uint16_t id, uint16_t len)
{
	for (uint16_t i = 0; i < call->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &call->attrs[i];

		if (attr->attr_id != id)
			continue;
		assert_int_equal(attr->flags, UVERBS_ATTR_F_MANDATORY);
		assert_true(!len || attr->len == len);
		return attr;
	}
	fail_msg("no attribute %u", id);
	return NULL;
}

static void put(void *to, size_t room, const struct ibv_gid_entry *entry)
{
	memset(to, 0, room);
	memcpy(to, entry, room < ENTRY_BYTES ? room : ENTRY_BYTES);
}

/* Return: the flags, read as uverbs_get_flags32() of the kernel does. */
static uint32_t flags_get(const struct ib_uverbs_ioctl_hdr *call, uint16_t id)
{
	uint32_t flags;

	memcpy(&flags, &find(call, id, sizeof(flags))->data, sizeof(flags));
	return flags;
}

static int entry_get(const struct ib_uverbs_ioctl_hdr *call)
{
	const uint64_t port =
		find(call, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 8)->data;
	const uint64_t index =
		find(call, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 8)->data;
	const struct ib_uverbs_attr *room =
		find(call, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, 0);

	if (flags_get(call, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS) ||
	    room->len < ENTRY_BYTES || !port || port > kernel.ports ||
	    index >= kernel.table_len)
		return EINVAL;
	for (size_t i = 0; i < kernel.count; i++) {
		if (kernel.entries[i].port_num != port ||
		    kernel.entries[i].gid_index != index)
			continue;
		put((void *)(uintptr_t)room->data, room->len,
		    &kernel.entries[i]);
		return 0;
	}
	return ENODATA;
}

static int table_get(const struct ib_uverbs_ioctl_hdr *call)
{
	const uint64_t size =
		find(call, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 8)->data;
	const struct ib_uverbs_attr *room =
		find(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0);
	uint8_t *at = (uint8_t *)(uintptr_t)room->data;
	const uint64_t count = kernel.count;

	if (flags_get(call, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS) || !size ||
	    room->len % size || !(room->len / size) || count > room->len / size)
		return EINVAL;
	for (size_t i = 0; i < count; i++)
		put(at + i * size, size, &kernel.entries[i]);
	memcpy((void *)(uintptr_t)find(
		       call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8)
		       ->data,
	       &count, sizeof(count));
	return 0;
}

static int answer(const struct ib_uverbs_ioctl_hdr *call)
{
	assert_int_equal(call->object_id, UVERBS_OBJECT_DEVICE);
	assert_int_equal(call->num_attrs, 4);
	if (kernel.fails)
		return kernel.fails;
	if (call->driver_id != kernel.needs)
		return EINVAL;
	if (call->method_id == UVERBS_METHOD_QUERY_GID_ENTRY)
		return entry_get(call);
	assert_int_equal(call->method_id, UVERBS_METHOD_QUERY_GID_TABLE);
	return table_get(call);
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	va_list args;

	va_start(args, command);
	assert_int_equal(fd, KERNEL_FD);
	assert_int_equal(command, RDMA_VERBS_IOCTL);
	kernel.commands++;
	errno = answer(va_arg(args, struct ib_uverbs_ioctl_hdr *));
	va_end(args);
	return errno ? -1 : 0;
}
