/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GID tables through functions with the names of libibverbs. The source is the
 * kernel's uverbs if the context has a command file; otherwise, or if the
 * kernel does not have the command or the buffer exceeds its limit, the device
 * files or an embedded fabric. A call leaves no state behind, except the cached
 * driver number and, if it reads files, the context state.
 *
 * Source: rdma-core libibverbs/cmd_device.c, which chooses the source by the
 * same errors.
 */
#include <errno.h>
#include <string.h>

#include "base/interrupt.h"
#include "device/uverbs.h"
#include "verbs/driver.h"
#include "verbs/gid.h"
#include "verbs/context_state.h"

/* The kernel's error number for an unknown command. */
enum { NO_COMMAND = -ENOTTY };

/*
 * The arguments of a call that reads the GID table or one entry of it, from
 * any source, and the buffer for the result.
 */
struct gid_request {
	struct ibv_context *context;
	bool is_table;
	uint32_t port;
	uint32_t index;
	uint32_t flags;
	struct ibsa__gids gids;
};

_Static_assert(sizeof(struct ibv_gid_entry) == 32, "struct ibv_gid_entry");

int ibsa__gids_add(struct ibsa__gids *gids, unsigned int port,
		   const struct ibsa_gid_entry *entry)
{
	struct ibv_gid_entry added = {
		.gid_index = entry->index,
		.port_num = port,
		.gid_type = entry->type,
		.ndev_ifindex = entry->ifindex,
	};
	uint8_t *at = gids->entries + gids->count * gids->entry_size;
	size_t len = sizeof(added);

	if (gids->count == gids->max)
		return -EINVAL;
	if (len > gids->entry_size)
		len = gids->entry_size;
	memcpy(&added.gid, &entry->gid, sizeof(added.gid));
	memcpy(at, &added, len);
	memset(at + len, 0, gids->entry_size - len);
	gids->count++;
	return 0;
}

static int kernel_query(struct gid_request *request, uint32_t driver)
{
	const int fd = request->context->cmd_fd;
	struct ibsa__gids *gids = &request->gids;
	uint64_t count;
	int err;

	if (!request->is_table)
		return ibsa__uverbs_gid(fd, driver, request->port,
					request->index, request->flags,
					gids->entries, gids->entry_size);
	err = ibsa__uverbs_gids(fd, driver, request->flags, gids->entries,
				gids->max, gids->entry_size, &count);
	if (!err)
		gids->count = count;
	return err;
}

/*
 * Read the GID table by the kernel's uverbs. The kernel has one error for a
 * wrong driver number and for a wrong argument. After that error, the driver
 * number is queried again; if it has changed, the command is repeated.
 */
static int from_kernel(struct gid_request *request)
{
	const char *device = request->context->device->name;
	uint32_t driver;
	int err;

	if (ibsa__verbs_driver(device, &driver))
		return NO_COMMAND;
	err = kernel_query(request, driver);
	if (err == -EINVAL && ibsa__verbs_driver_renew(device, &driver))
		err = kernel_query(request, driver);
	return err == -EPROTONOSUPPORT ? NO_COMMAND : err;
}

/* Whether the caller's buffer is larger than the kernel's command accepts. */
static bool request_exceeds_kernel(const struct gid_request *request)
{
	const size_t most = ibsa__uverbs_gids_max(request->gids.entry_size);

	return request->is_table && !request->flags && most &&
	       request->gids.max > most;
}

/*
 * Return: the device's name. In a context of ibsa_verbs_open(), the member for
 * the name may contain only the beginning of the name, so the name in @own is
 * used.
 */
static const char *device_name(const struct gid_request *request,
			       const struct ibsa__verbs *own)
{
	return own ? ibsa__verbs_file_name(own)
		   : request->context->device->name;
}

/*
 * Read a GID table entry from device files or an embedded fabric. @own is the
 * context of ibsa_verbs_open(); NULL for a context of libibverbs.
 */
static int entry_without_kernel(struct gid_request *request,
				const struct ibsa__verbs *own,
				struct device_files *files)
{
	struct ibsa_gid_entry entry;
	int err;

	if (request->gids.entry_size < sizeof(struct ibv_gid_entry))
		return -EINVAL;
	if (own && ibsa__verbs_is_in_fabric(own))
		err = ibsa__gid_of_fabric(own, request->port, request->index,
					  &entry);
	else
		err = ibsa__gid_of_files(files, device_name(request, own),
					 request->port, request->index, &entry);
	return err ? err
		   : ibsa__gids_add(&request->gids, request->port, &entry);
}

static int gids_without_kernel(struct gid_request *request,
			       const struct ibsa__verbs *own,
			       struct device_files *files)
{
	if (request->flags)
		return -EOPNOTSUPP;
	if (!request->gids.entry_size)
		return -EINVAL;
	if (!request->is_table)
		return entry_without_kernel(request, own, files);
	if (own && ibsa__verbs_is_in_fabric(own))
		return ibsa__gids_of_fabric(own, &request->gids);
	return ibsa__gids_of_files(files, device_name(request, own),
				   &request->gids);
}

/*
 * Read the GID table of a context of libibverbs from the device files that the
 * context state holds.
 */
static int from_files(struct gid_request *request)
{
	struct context_call call;
	int err = ibsa__context_state_enter(request->context, &call);

	if (err)
		return err;
	err = gids_without_kernel(request, NULL, call.state->files);
	ibsa__context_state_leave(&call);
	return err;
}

static int request_answer(struct gid_request *request)
{
	struct ibsa__verbs *own;
	int err;

	if (request->context->cmd_fd >= 0) {
		err = from_kernel(request);
		if (err == NO_COMMAND ||
		    (err == -EINVAL && request_exceeds_kernel(request)))
			err = from_files(request);
		return err;
	}
	own = ibsa__verbs_get(request->context);
	if (!own)
		return -EINVAL;
	err = gids_without_kernel(request, own, own->files);
	ibsa__verbs_put(own);
	return err;
}

/*
 * Run a call that reads the GID table. The thread cannot be cancelled
 * meanwhile, because files and locks would stay open; libibverbs' functions
 * are not cancellation points, either.
 */
static int request_run(struct gid_request *request)
{
	struct cancelability before;
	int err;

	cancel_hold(&before);
	err = request_answer(request);
	cancel_restore(&before);
	return err;
}

static int entry_query(struct ibv_context *context, uint32_t port_num,
		       uint32_t gid_index, struct ibv_gid_entry *entry,
		       uint32_t flags, size_t entry_size)
{
	struct gid_request request = {
		.context = context,
		.port = port_num,
		.index = gid_index,
		.flags = flags,
		.gids = {
			.entries = (uint8_t *)entry,
			.entry_size = entry_size,
			.max = 1,
		},
	};

	return -request_run(&request);
}

static ssize_t table_query(struct ibv_context *context,
			   struct ibv_gid_entry *entries, size_t max_entries,
			   uint32_t flags, size_t entry_size)
{
	struct gid_request request = {
		.context = context,
		.is_table = true,
		.flags = flags,
		.gids = {
			.entries = (uint8_t *)entries,
			.entry_size = entry_size,
			.max = max_entries,
		},
	};
	int err = request_run(&request);

	return err ? err : (ssize_t)request.gids.count;
}

/*
 * None of these four functions calls another of the four: libibverbs also
 * exports two of the names, so the call might reach the function of libibverbs.
 */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t entry_size)
{
	return entry_query(context, port_num, gid_index, entry, flags,
			   entry_size);
}

ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size)
{
	return table_query(context, entries, max_entries, flags, entry_size);
}

int ibsa_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t gid_index, struct ibv_gid_entry *entry,
		      uint32_t flags)
{
	return entry_query(context, port_num, gid_index, entry, flags,
			   sizeof(*entry));
}

ssize_t ibsa_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags)
{
	return table_query(context, entries, max_entries, flags,
			   sizeof(*entries));
}
