/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the library for LD_PRELOAD: the GID tables of a fabric's devices, as
 * those of any context of ibsa_verbs_open(). libibverbs returns EINVAL for flags.
 */
#include <string.h>

#include "preload/device.h"
#include "preload/stock.h"

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
		  union ibv_gid *gid)
{
	struct ibv_gid_entry entry = { .gid_index = 0 };
	int err;

	if (!own_device_of(context))
		return STOCK(-1, ibv_query_gid, context, port_num, index, gid);
	err = ibsa_query_gid_ex(context, port_num, (uint32_t)index, &entry, 0);
	if (err && err != ENODATA)
		return errno_result(err);
	*gid = entry.gid;
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry all;
	int err;

	if (!own_device_of(context))
		return STOCK(ENOSYS, _ibv_query_gid_ex, context, port_num,
			     gid_index, entry, flags, entry_size);
	if (flags || entry_size < sizeof(all))
		return EINVAL;
	err = ibsa_query_gid_ex(context, port_num, gid_index, &all, 0);
	if (err)
		return err;
	memset(entry, 0, entry_size);
	memcpy(entry, &all, sizeof(all));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size)
{
	if (!own_device_of(context))
		return STOCK(-ENOSYS, _ibv_query_gid_table, context, entries,
			     max_entries, flags, entry_size);
	if (flags || entry_size != sizeof(*entries))
		return -EINVAL;
	return ibsa_query_gid_table(context, entries, max_entries, 0);
}

/*
 * For pyverbs, the only program outside of libibverbs that uses this function.
 * 0 is the type of GIDs that are not of RoCE v2.
 */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num,
		       unsigned int index, unsigned int *type);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num,
		       unsigned int index, unsigned int *type)
{
	struct ibv_gid_entry entry;
	int err;

	if (!own_device_of(context))
		return STOCK(-1, ibv_query_gid_type, context, port_num, index,
			     type);
	err = ibsa_query_gid_ex(context, port_num, index, &entry, 0);
	if (err && err != ENODATA)
		return errno_result(err);
	*type = 0;
	return 0;
}
