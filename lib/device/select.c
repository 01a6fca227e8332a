/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Port selection, and the error messages if no port can be selected. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/error.h"
#include "device/device.h"
#include "device/files.h"

/*
 * How well a port fits the search, in ascending order. Of several ports with
 * the same rank, the first is selected.
 */
enum rank { UNFIT, UNREADABLE, ETHERNET, INACTIVE, ROCE, ACTIVE };

/*
 * A port selection: the device and port that the caller named, and the best
 * port so far.
 */
struct search {
	const char *name;
	unsigned int port;
	unsigned int skip; /* matching ports to skip */
	enum rank rank;
	const struct ibsa_device *found_device;
	const struct ibsa_port *found_port;
	const struct ibsa_device *named;
	const struct ibsa_device_list *list;
};

/*
 * A list of names or numbers in an error message. If not all fit, the list ends
 * with "...".
 */
struct item_list {
	char text[128];
	size_t used;
};

static void items_add(struct item_list *items, const char *item)
{
	static const char more[] = ", ...";
	const char *comma = items->used ? ", " : "";
	char *at = items->text + items->used;
	size_t len = strlen(comma) + strlen(item);

	if (items->used + sizeof(more) > sizeof(items->text))
		return;
	if (items->used + len + sizeof(more) > sizeof(items->text)) {
		snprintf(at, sizeof(more), "%s", more);
		items->used = sizeof(items->text);
		return;
	}
	snprintf(at, len + 1, "%s%s", comma, item);
	items->used += len;
}

static enum rank port_rank(const struct search *search,
			   const struct ibsa_port *port)
{
	const bool is_ethernet = port->state->link == IBSA_LINK_ETHERNET;

	if (port->err)
		return UNREADABLE;
	if (is_ethernet && !search->name)
		return ETHERNET;
	if (port->state->port_state != IBSA_PORT_ACTIVE)
		return INACTIVE;
	return is_ethernet ? ROCE : ACTIVE;
}

static void search_device(struct search *search,
			  const struct ibsa_device *device)
{
	for (size_t i = 0; i < device->port_count; i++) {
		const struct ibsa_port *port = ibsa_device_port_at(device, i);
		enum rank rank = port_rank(search, port);

		if (search->port && search->port != port->number)
			continue;
		/*
		 * Skip a port that is only an SMI if the list also contains
		 * the port with its GSI.
		 */
		if (!search->name && ibsa_port_gsi(search->list, port, NULL))
			continue;
		if (rank <= search->rank)
			continue;
		if (rank >= ROCE && search->skip) {
			search->skip--;
			continue;
		}
		search->rank = rank;
		search->found_device = device;
		search->found_port = port;
	}
}

static void search_list(struct search *search,
			const struct ibsa_device_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		if (search->name && strcmp(search->name, device->name) != 0)
			continue;
		search->named = device;
		search_device(search, device);
	}
}

static int no_device_fail(const struct ibsa_device_list *list, const char *name,
			  struct ibsa_error *error)
{
	struct item_list names = { 0 };

	if (!list->count)
		return ibsa__fail(error, -ENODEV,
				  "this machine has no RDMA device: load the "
				  "driver of its adapter");
	for (size_t i = 0; i < list->count; i++)
		items_add(&names, ibsa_device_at(list, i)->name);
	return ibsa__fail(error, -ENODEV,
			  "there is no device \"%.64s\"; there are: %s", name,
			  names.text);
}

static int no_port_fail(const struct search *search, struct ibsa_error *error)
{
	const struct ibsa_device *device = search->named;
	struct item_list ports = { 0 };
	const int err = search->port ? -ENXIO : -ENODEV;

	if (!search->name && !search->port)
		return ibsa__fail(error, err, "no device has a port");
	if (!search->name)
		return ibsa__fail(error, err, "no device has a port %u",
				  search->port);
	if (!device->port_count && device->err)
		return ibsa__fail(error, device->err,
				  "device %.64s cannot be read: %s",
				  device->name,
				  ibsa__errno_text(-device->err).bytes);
	if (!device->port_count)
		return ibsa__fail(error, err, "device %.64s has no ports",
				  device->name);
	for (size_t i = 0; i < device->port_count; i++) {
		char number[16];

		snprintf(number, sizeof(number), "%u",
			 ibsa_device_port_at(device, i)->number);
		items_add(&ports, number);
	}
	return ibsa__fail(error, err, "device %.64s has no port %u; it has: %s",
			  device->name, search->port, ports.text);
}

static const char *port_state_text(enum ibsa_port_state_code state)
{
	switch (state) {
	case IBSA_PORT_DOWN:
		return "down: check the cable and the port at its other end";
	case IBSA_PORT_INIT:
		return "initializing: start a subnet manager, or wait for it";
	case IBSA_PORT_ARMED:
		return "armed: wait until the subnet manager activates it";
	default:
		return "not active";
	}
}

/* Write the reason why the best port that was found cannot be used. */
static int port_unfit_fail(const struct search *search,
			   struct ibsa_error *error)
{
	const char *device = search->found_device->name;
	const struct ibsa_port *port = search->found_port;

	if (search->rank == UNREADABLE)
		return ibsa__fail(error, port->err,
				  "port %u of %.64s cannot be read: %s",
				  port->number, device,
				  ibsa__errno_text(-port->err).bytes);
	if (search->rank == ETHERNET)
		return ibsa__fail(error, -ENODEV,
				  "no port is InfiniBand; to use RoCE, give "
				  "the device, such as %.64s, and the SA's "
				  "address; in ibsa with --device and --sa",
				  device);
	return ibsa__fail(error, -ENETDOWN, "port %u of %.64s is %s",
			  port->number, device,
			  port_state_text(port->state->port_state));
}

static int port_choose(const struct ibsa_device_list *list,
		       struct search *search, struct ibsa_error *error)
{
	search->list = list;
	search_list(search, list);
	if (!search->named)
		return no_device_fail(list, search->name, error);
	if (search->rank == UNFIT)
		return no_port_fail(search, error);
	if (search->rank < ROCE)
		return port_unfit_fail(search, error);
	return 0;
}

static void selection_fill(const struct search *search,
			   struct ibsa__port_selection *out)
{
	snprintf(out->device, sizeof(out->device), "%s",
		 search->found_device->name);
	snprintf(out->umad, sizeof(out->umad), "%s", search->found_port->umad);
	out->port = search->found_port->number;
	out->state = *search->found_port->state;
}

int ibsa__devices_read_fail(struct device_files *files, int err,
			    struct ibsa_error *error)
{
	if (err == -ENOSYS && ibsa__folder_check(files, "class") == -ENOENT)
		return ibsa__fail(error, err,
				  "no sysfs at /sys, or at SYSFS_PATH if that "
				  "is set: mount sysfs at /sys, or set "
				  "SYSFS_PATH to its mount point");
	if (err == -ENOSYS)
		return ibsa__fail(
			error, err,
			"the kernel's RDMA modules are not loaded: "
			"run \"modprobe ib_umad\" and load the driver "
			"of the adapter");
	return ibsa__fail(error, err, "the devices cannot be listed: %s",
			  ibsa__errno_text(-err).bytes);
}

int ibsa__port_select(struct device_files *files, const char *device,
		      unsigned int port, unsigned int skip,
		      struct ibsa_error *error,
		      struct ibsa__port_selection *out)
{
	struct search search = { .name = device, .port = port, .skip = skip };
	struct ibsa_device_list *list;
	int err;

	err = ibsa__devices_read(files, &list);
	if (err)
		return ibsa__devices_read_fail(files, err, error);
	err = port_choose(list, &search, error);
	if (!err)
		selection_fill(&search, out);
	ibsa_devices_free(list);
	return err;
}
