/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads GID tables with the kernel's verbs, on the command fd of the caller's
 * verbs context.
 *
 * Source: Linux include/uapi/rdma/ib_user_ioctl_cmds.h.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <string.h>

#include "device/uverbs.h"

/*
 * Return: an ioctl attribute that holds a number in itself. A constant of
 * uverbs always has 64 bits.
 */
static struct ib_uverbs_attr attr_constant(uint16_t id, uint64_t value)
{
	return (struct ib_uverbs_attr){
		.attr_id = id,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = sizeof(value),
		.data = value,
	};
}

/*
 * Return: an ioctl attribute with flags, which are the first four bytes of its
 * data in either byte order.
 */
static struct ib_uverbs_attr attr_bits(uint16_t id, uint32_t value)
{
	struct ib_uverbs_attr attr = {
		.attr_id = id,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = sizeof(value),
	};

	memcpy(&attr.data, &value, sizeof(value));
	return attr;
}

static struct ib_uverbs_attr attr_buffer(uint16_t id, void *bytes, size_t len)
{
	return (struct ib_uverbs_attr){
		.attr_id = id,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = (uint16_t)len,
		.data = (uintptr_t)bytes,
	};
}

int ibsa__uverbs_gid(int cmd_fd, uint32_t driver, uint32_t port, uint32_t index,
		     uint32_t flags, void *entry, size_t entry_size)
{
	struct ib_uverbs_attr attrs[] = {
		attr_constant(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port),
		attr_constant(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index),
		attr_bits(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, flags),
		attr_buffer(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry,
			    entry_size),
	};

	if (entry_size > UINT16_MAX)
		return -EINVAL;
	return ibsa__uverbs_call(cmd_fd, driver, UVERBS_OBJECT_DEVICE,
				 UVERBS_METHOD_QUERY_GID_ENTRY, attrs, 4);
}

int ibsa__uverbs_gids(int cmd_fd, uint32_t driver, uint32_t flags,
		      void *entries, size_t max_entries, size_t entry_size,
		      uint64_t *out_count)
{
	const size_t most = ibsa__uverbs_gids_max(entry_size);
	const size_t count = max_entries < most ? max_entries : most;
	uint64_t found = 0;
	struct ib_uverbs_attr attrs[] = {
		attr_constant(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE,
			      entry_size),
		attr_bits(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, flags),
		attr_buffer(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries,
			    count * entry_size),
		attr_buffer(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES,
			    &found, sizeof(found)),
	};
	int err;

	err = ibsa__uverbs_call(cmd_fd, driver, UVERBS_OBJECT_DEVICE,
				UVERBS_METHOD_QUERY_GID_TABLE, attrs, 4);
	if (!err)
		*out_count = found;
	return err;
}
