/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that sysfs has of an adapter, written from what the fabric is at
 * this moment.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband; the order
 * and form of what is in them as drivers/infiniband/core/sysfs.c has it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/server.h"

enum { NODE_TEXT = 64 };

/* What is being written, and of what. */
struct view {
	const struct ibsa_fabric *fabric;
	const struct topo_node *node;
	const struct topo_port *port;
	struct ibsa_port_state state;
	uint32_t index; /* of a table's entry */
	char *out;
	size_t room;
	size_t used;
};

static void put(struct view *view, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct view *view, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(view->out + view->used, view->room - view->used, format,
			args);
	va_end(args);
	if (len > 0 && (size_t)len < view->room - view->used)
		view->used += (size_t)len;
}

static void put_groups(struct view *view, uint64_t value)
{
	put(view, "%04x:%04x:%04x:%04x", (unsigned int)(value >> 48),
	    (unsigned int)(value >> 32 & 0xffff),
	    (unsigned int)(value >> 16 & 0xffff),
	    (unsigned int)(value & 0xffff));
}

static int put_node_type(struct view *view)
{
	static const char *const names[] = { "", "CA", "switch", "router" };

	put(view, "%u: %s\n", view->node->type, names[view->node->type & 3]);
	return 0;
}

static int put_node_guid(struct view *view)
{
	put_groups(view, view->node->guid);
	put(view, "\n");
	return 0;
}

static int put_image_guid(struct view *view)
{
	put_groups(view, view->node->image_guid);
	put(view, "\n");
	return 0;
}

static int put_node_desc(struct view *view)
{
	put(view, "%.*s\n", NODE_TEXT, view->node->name);
	return 0;
}

static int put_version(struct view *view)
{
	put(view, "%s\n", IBSA_VERSION);
	return 0;
}

static int put_revision(struct view *view)
{
	put(view, "0\n");
	return 0;
}

static int put_type(struct view *view)
{
	put(view, "ibsa\n");
	return 0;
}

/* By which a client knows Omni-Path. */
static int put_uevent(struct view *view)
{
	put(view, "DRIVER=%s\n", view->fabric->is_opa ? "hfi1" : "ibsa");
	return 0;
}

static int put_lid(struct view *view)
{
	put(view, "0x%x\n", view->state.lid);
	return 0;
}

static int put_lmc(struct view *view)
{
	put(view, "%u\n", view->state.lmc);
	return 0;
}

static int put_sm_lid(struct view *view)
{
	put(view, "0x%x\n", view->state.sm_lid);
	return 0;
}

static int put_sm_sl(struct view *view)
{
	put(view, "%u\n", view->state.sm_sl);
	return 0;
}

static int put_state(struct view *view)
{
	static const char *const names[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"
	};
	const unsigned int state = view->state.port_state;

	put(view, "%u: %s\n", state,
	    state < sizeof(names) / sizeof(names[0]) ? names[state]
						     : "UNKNOWN");
	return 0;
}

static int put_phys_state(struct view *view)
{
	static const char *const names[] = { "<unknown>",
					     "Sleep",
					     "Polling",
					     "Disabled",
					     "PortConfigurationTraining",
					     "LinkUp",
					     "LinkErrorRecovery",
					     "Phy Test" };
	const unsigned int state = view->state.phys_state;

	put(view, "%u: %s\n", state,
	    state < sizeof(names) / sizeof(names[0]) ? names[state]
						     : "<unknown>");
	return 0;
}

/* A port without a link shows the least there is, as the kernel does. */
static int put_rate(struct view *view)
{
	const struct topo_port *port = view->port;
	const char *text = "";

	if (port->peer != SIM_NONE)
		text = ibsa__rate_text(port->width, port->speed);
	put(view, "%s\n", *text ? text : "2.5 Gb/sec (1X)");
	return 0;
}

static int put_cap_mask(struct view *view)
{
	put(view, "0x%08x\n",
	    ibsa__port_capabilities(view->fabric,
				    &view->fabric->ends[view->port->end]));
	return 0;
}

static int put_link_layer(struct view *view)
{
	put(view, "InfiniBand\n");
	return 0;
}

uint64_t ibsa__server_guid(const struct ibsa_fabric *fabric, uint32_t port,
			   uint32_t index)
{
	const uint64_t guid = fabric->topo.ports[port].guid;
	const struct guid_table *table;

	if (!index)
		return guid;
	table = ibsa__aliases_table(&fabric->aliases, guid);
	return table ? table->guids[index] : 0;
}

static uint64_t guid_at(const struct view *view)
{
	return ibsa__server_guid(
		view->fabric, (uint32_t)(view->port - view->fabric->topo.ports),
		view->index);
}

/* An empty entry is all zero, and has no type: reading that fails. */
static int put_gid(struct view *view)
{
	const uint64_t guid = guid_at(view);

	put_groups(view, guid ? ibsa_be64(view->state.gid.raw) : 0);
	put(view, ":");
	put_groups(view, guid);
	put(view, "\n");
	return 0;
}

static int put_gid_type(struct view *view)
{
	if (!guid_at(view))
		return -EINVAL;
	put(view, "IB/RoCE v1\n");
	return 0;
}

/* No network interface belongs to it. */
static int put_gid_interface(struct view *view)
{
	(void)view;
	return -EINVAL;
}

static int put_pkey(struct view *view)
{
	const struct end_setup *setup = &view->fabric->setups[view->port->end];

	put(view, "0x%04x\n", setup_pkey(setup, view->index));
	return 0;
}

static uint32_t gid_count(const struct view *view)
{
	return view->node->type == IBSA_NODE_SWITCH ? GUID_CAP_SWITCH
						    : GUID_CAP_ADAPTER;
}

static uint32_t pkey_count(const struct view *view)
{
	return setup_pkey_count(&view->fabric->setups[view->port->end]);
}

/* A file: by its name; of a table's entries by their numbers. */
struct file {
	const char *name; /* below its folder */
	int (*write)(struct view *view);
	uint32_t (*count)(const struct view *view);
};

static const struct file device_files[] = {
	{ "node_type", put_node_type, NULL },
	{ "node_guid", put_node_guid, NULL },
	{ "sys_image_guid", put_image_guid, NULL },
	{ "node_desc", put_node_desc, NULL },
	{ "fw_ver", put_version, NULL },
	{ "hw_rev", put_revision, NULL },
	{ "hca_type", put_type, NULL },
	{ "board_id", put_type, NULL },
	{ "device/uevent", put_uevent, NULL },
};

static const struct file port_files[] = {
	{ "lid", put_lid, NULL },
	{ "lid_mask_count", put_lmc, NULL },
	{ "sm_lid", put_sm_lid, NULL },
	{ "sm_sl", put_sm_sl, NULL },
	{ "state", put_state, NULL },
	{ "phys_state", put_phys_state, NULL },
	{ "rate", put_rate, NULL },
	{ "cap_mask", put_cap_mask, NULL },
	{ "link_layer", put_link_layer, NULL },
	{ "gids", put_gid, gid_count },
	{ "gid_attrs/types", put_gid_type, gid_count },
	{ "gid_attrs/ndevs", put_gid_interface, gid_count },
	{ "pkeys", put_pkey, pkey_count },
};

enum {
	DEVICE_FILES = sizeof(device_files) / sizeof(device_files[0]),
	PORT_FILES = sizeof(port_files) / sizeof(port_files[0]),
};

/* Step over @prefix and a slash, or the end; NULL: @path is another. */
static const char *step(const char *path, const char *prefix)
{
	const size_t len = strlen(prefix);

	if (strncmp(path, prefix, len) != 0)
		return NULL;
	if (!path[len])
		return path + len;
	return path[len] == '/' ? path + len + 1 : NULL;
}

/* Step over a number, in its one way to be written. */
static const char *step_number(const char *path, uint32_t *out)
{
	char *end;
	unsigned long value;

	if (*path < '0' || *path > '9' ||
	    (*path == '0' && path[1] >= '0' && path[1] <= '9'))
		return NULL;
	errno = 0;
	value = strtoul(path, &end, 10);
	if (errno || value > UINT32_MAX || (*end && *end != '/'))
		return NULL;
	*out = (uint32_t)value;
	return *end ? end + 1 : end;
}

uint32_t ibsa__server_port(const struct ibsa_fabric *fabric, uint32_t node,
			   unsigned int number)
{
	const struct topo_node *at = &fabric->topo.nodes[node];
	uint32_t port;

	if (number > at->port_count)
		return SIM_NONE;
	port = at->first_port + number;
	return fabric->topo.ports[port].end == SIM_NONE ? SIM_NONE : port;
}

/* The end port whose MAD files have that number, from 0 on, or SIM_NONE. */
static uint32_t mad_port(const struct ibsa_fabric *fabric, uint32_t node,
			 uint32_t index)
{
	const struct topo_node *at = &fabric->topo.nodes[node];

	for (unsigned int i = 0; i <= at->port_count; i++) {
		const uint32_t port = ibsa__server_port(fabric, node, i);

		if (port != SIM_NONE && !index--)
			return port;
	}
	return SIM_NONE;
}

static int write_file(struct view *view, const struct file *file,
		      const char *rest)
{
	if (!file->count)
		return *rest ? -ENOTDIR : file->write(view);
	if (!*rest)
		return -EISDIR;
	rest = step_number(rest, &view->index);
	if (!rest || *rest || view->index >= file->count(view))
		return -ENOENT;
	return file->write(view);
}

static int find_and_write(struct view *view, const struct file *files,
			  size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++) {
		const char *rest = step(path, files[i].name);

		if (rest)
			return write_file(view, &files[i], rest);
	}
	return -ENOENT;
}

/* The port that @path begins with, and what is behind it; or NULL. */
static const char *step_port(struct view *view, const char *path)
{
	const uint32_t node = (uint32_t)(view->node - view->fabric->topo.nodes);
	uint32_t number;
	uint32_t port;

	path = step_number(path, &number);
	if (!path)
		return NULL;
	port = ibsa__server_port(view->fabric, node, number);
	if (port == SIM_NONE)
		return NULL;
	view->port = &view->fabric->topo.ports[port];
	ibsa__fabric_port_state(view->fabric, port, &view->state);
	return path;
}

/*
 * Step over the device of the client's node, or over the name of any node:
 * who opens a port by that may look at its files, too.
 */
static const char *step_device(struct view *view, const char *path)
{
	const struct topology *topo = &view->fabric->topo;
	const char *name = step(path, "class/infiniband");
	char text[128];
	size_t len;
	uint32_t node;

	if (!name || !*name)
		return NULL;
	len = strcspn(name, "/");
	if (len >= sizeof(text))
		return NULL;
	memcpy(text, name, len);
	text[len] = '\0';
	if (strcmp(text, REMOTE_DEVICE) != 0) {
		node = ibsa__topology_find(topo, text);
		if (node == SIM_NONE)
			return NULL;
		view->node = &topo->nodes[node];
	}
	return name[len] ? name + len + 1 : name + len;
}

/* What umadN and issmN say: which port of which device they are of. */
static int write_mad_file(struct view *view, const char *path)
{
	const uint32_t node = (uint32_t)(view->node - view->fabric->topo.nodes);
	uint32_t number;
	uint32_t port;

	if (!strcmp(path, "abi_version")) {
		put(view, "%u\n", UMAD_ABI_VERSION);
		return 0;
	}
	if (strncmp(path, "umad", 4) != 0 && strncmp(path, "issm", 4) != 0)
		return -ENOENT;
	path = step_number(path + 4, &number);
	if (!path)
		return -ENOENT;
	port = mad_port(view->fabric, node, number);
	if (port == SIM_NONE)
		return -ENOENT;
	if (!strcmp(path, "ibdev"))
		put(view, REMOTE_DEVICE "\n");
	else if (!strcmp(path, "port"))
		put(view, "%u\n", view->fabric->topo.ports[port].number);
	else
		return *path ? -ENOENT : -EISDIR;
	return 0;
}

static int write_path(struct view *view, const char *path)
{
	const char *rest = step(path, "class/infiniband_mad");
	const char *below;

	if (rest)
		return *rest ? write_mad_file(view, rest) : -EISDIR;
	rest = step_device(view, path);
	if (!rest)
		return -ENOENT;
	below = step(rest, "ports");
	if (!below)
		return find_and_write(view, device_files, DEVICE_FILES, rest);
	below = step_port(view, below);
	if (!below)
		return -ENOENT;
	return find_and_write(view, port_files, PORT_FILES, below);
}

static struct view view_of(const struct ibsa_fabric *fabric, uint32_t node,
			   char *out, size_t room)
{
	return (struct view){
		.fabric = fabric,
		.node = &fabric->topo.nodes[node],
		.out = out,
		.room = room,
	};
}

int ibsa__server_file(const struct ibsa_fabric *fabric, uint32_t node,
		      const char *path, char *out, size_t room, size_t *used)
{
	struct view view = view_of(fabric, node, out, room);
	int err = write_path(&view, path);

	if (!err)
		*used = view.used;
	return err;
}

/* A name in a folder, with the NUL behind it. */
static void put_name(struct view *view, const char *format, uint32_t number)
{
	char name[32];
	const int len = snprintf(name, sizeof(name), format, number);

	if (len < 0 || (size_t)len + 1 > view->room - view->used)
		return;
	memcpy(view->out + view->used, name, (size_t)len + 1);
	view->used += (size_t)len + 1;
}

/* Once each, though several files of a folder below begin with it. */
static void put_files(struct view *view, const struct file *files, size_t count)
{
	const char *last = "";
	size_t last_len = 0;

	for (size_t i = 0; i < count; i++) {
		const size_t len = strcspn(files[i].name, "/");
		char name[32];

		if (len == last_len && !memcmp(last, files[i].name, len))
			continue;
		last = files[i].name;
		last_len = len;
		snprintf(name, sizeof(name), "%.*s", (int)len, files[i].name);
		put_name(view, name, 0);
	}
}

static int list_ports(struct view *view)
{
	const uint32_t node = (uint32_t)(view->node - view->fabric->topo.nodes);

	for (unsigned int i = 0; i <= view->node->port_count; i++)
		if (ibsa__server_port(view->fabric, node, i) != SIM_NONE)
			put_name(view, "%" PRIu32, i);
	return 0;
}

/* A folder of a port: a table, or gid_attrs with two of them. */
static int list_port(struct view *view, const char *path)
{
	if (!*path) {
		put_files(view, port_files, PORT_FILES);
		return 0;
	}
	if (!strcmp(path, "gid_attrs")) {
		put_name(view, "ndevs", 0);
		put_name(view, "types", 0);
		return 0;
	}
	for (size_t i = 0; i < PORT_FILES; i++) {
		if (strcmp(path, port_files[i].name) != 0)
			continue;
		if (!port_files[i].count)
			return -ENOTDIR;
		for (uint32_t j = 0; j < port_files[i].count(view); j++)
			put_name(view, "%" PRIu32, j);
		return 0;
	}
	return -ENOENT;
}

static int list_mad_files(struct view *view)
{
	const uint32_t node = (uint32_t)(view->node - view->fabric->topo.nodes);

	put_name(view, "abi_version", 0);
	for (uint32_t i = 0; mad_port(view->fabric, node, i) != SIM_NONE; i++) {
		put_name(view, "umad%" PRIu32, i);
		put_name(view, "issm%" PRIu32, i);
	}
	return 0;
}

static int list_device(struct view *view, const char *path)
{
	const char *below = step(path, "ports");

	if (!*path) {
		put_files(view, device_files, DEVICE_FILES);
		put_name(view, "ports", 0);
		return 0;
	}
	if (!strcmp(path, "device")) {
		put_name(view, "uevent", 0);
		return 0;
	}
	if (!below)
		return find_and_write(view, device_files, DEVICE_FILES, path)
			       ? -ENOENT
			       : -ENOTDIR;
	if (!*below)
		return list_ports(view);
	below = step_port(view, below);
	return below ? list_port(view, below) : -ENOENT;
}

static int list_path(struct view *view, const char *path)
{
	const char *device = step_device(view, path);

	if (device)
		return list_device(view, device);
	if (!strcmp(path, "class/infiniband")) {
		put_name(view, REMOTE_DEVICE, 0);
		return 0;
	}
	if (!strcmp(path, "class/infiniband_mad"))
		return list_mad_files(view);
	return -ENOENT;
}

int ibsa__server_folder(const struct ibsa_fabric *fabric, uint32_t node,
			const char *path, char *out, size_t room, size_t *used)
{
	struct view view = view_of(fabric, node, out, room);
	int err = list_path(&view, path);

	if (!err)
		*used = view.used;
	return err;
}
