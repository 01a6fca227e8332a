/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Provides the files and directories that sysfs has for an adapter.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband and
 * Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/server/server_text.h"

/*
 * Skip @prefix at the beginning of @path, and the slash after it. Return: the
 * rest of @path; NULL: @path does not begin with the whole components of
 * @prefix.
 */
static const char *path_step(const char *path, const char *prefix)
{
	const size_t len = strlen(prefix);

	if (strncmp(path, prefix, len) != 0)
		return NULL;
	if (!path[len])
		return path + len;
	return path[len] == '/' ? path + len + 1 : NULL;
}

/*
 * Skip a decimal number without leading zeros in a path. Return: the rest;
 * NULL: the path does not begin with such a number.
 */
static const char *path_step_number(const char *path, uint32_t *out)
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

/*
 * The ports of a seat in the order of their MAD files, umadN and issmN: N counts
 * end ports only.
 */
struct mad_walk {
	struct seat_walk devices;
	unsigned int next; /* port number */
	uint32_t port;
	bool has_device;
};

static struct mad_walk mad_walk(const struct ibsa_fabric *fabric,
				const struct fabric_seat *seat)
{
	return (struct mad_walk){ .devices = ibsa__seat_walk(fabric, seat) };
}

static bool mad_next(struct mad_walk *walk)
{
	const struct ibsa_fabric *fabric = walk->devices.fabric;
	const struct topo_node *nodes = fabric->first.subnet.topo.nodes;
	const uint32_t *node = &walk->devices.node;

	for (;;) {
		if (!walk->has_device || walk->next > nodes[*node].port_count) {
			walk->has_device = ibsa__seat_next(&walk->devices);
			walk->next = 0;
		}
		if (!walk->has_device)
			return false;
		walk->port = ibsa__node_end_port(fabric, *node, walk->next++);
		if (walk->port != NO_INDEX)
			return true;
	}
}

/* Find the port whose MAD files have the number @index. */
static bool mad_find(struct mad_walk *walk, uint32_t index)
{
	while (mad_next(walk))
		if (!index--)
			return true;
	return false;
}

static int view_write_file(struct view *view, const struct file *file,
			   const char *rest)
{
	view->file = file;
	if (!file->count)
		return *rest ? -ENOTDIR : file->write(view);
	if (!*rest)
		return -EISDIR;
	rest = path_step_number(rest, &view->index);
	if (!rest || *rest || view->index >= file->count(view))
		return -ENOENT;
	return file->write(view);
}

static int view_find_and_write(struct view *view, const struct file *files,
			       size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++) {
		const char *rest = path_step(path, files[i].name);

		if (rest)
			return view_write_file(view, &files[i], rest);
	}
	return -ENOENT;
}

/*
 * Skip the number of a port in a path, and set the port in @view. Return: the
 * rest; NULL: there is no such port.
 */
static const char *path_step_port(struct view *view, const char *path)
{
	const uint32_t node =
		(uint32_t)(view->node - view->fabric->first.subnet.topo.nodes);
	uint32_t number;
	uint32_t port;

	path = path_step_number(path, &number);
	if (!path)
		return NULL;
	port = ibsa__node_end_port(view->fabric, node, number);
	if (port == NO_INDEX)
		return NULL;
	view->port = &view->fabric->first.subnet.topo.ports[port];
	ibsa__fabric_port_state(view->fabric, port, &view->state);
	return path;
}

/*
 * Skip the name of a device in a path: REMOTE_SELECTED, the name of a device of
 * the client's seat, or the name of any node in the fabric. The library opens a
 * remote port by a node's name, and reads the files of that node.
 */
static const char *path_step_device(struct view *view, const char *path)
{
	const struct topology *topo = &view->fabric->first.subnet.topo;
	const char *name = path_step(path, "class/infiniband");
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
	if (strcmp(text, REMOTE_SELECTED) != 0) {
		node = ibsa__seat_device(view->fabric, &view->seat, text);
		if (node == NO_INDEX)
			node = ibsa__topology_find(topo, text);
		if (node == NO_INDEX)
			return NULL;
		view->node = &topo->nodes[node];
	}
	return name[len] ? name + len + 1 : name + len;
}

/*
 * Write the content of a file below infiniband_mad: abi_version, or the device
 * name or port number in a directory umadN or issmN.
 */
static int view_write_mad_file(struct view *view, const char *path)
{
	struct mad_walk walk = mad_walk(view->fabric, &view->seat);
	uint32_t number;

	if (!strcmp(path, "abi_version"))
		return ibsa__view_put(view, "%u\n", UMAD_ABI_VERSION);
	if (strncmp(path, "umad", 4) != 0 && strncmp(path, "issm", 4) != 0)
		return -ENOENT;
	path = path_step_number(path + 4, &number);
	if (!path)
		return -ENOENT;
	if (!mad_find(&walk, number))
		return -ENOENT;
	if (!strcmp(path, "ibdev"))
		return ibsa__view_put(view, "%s\n", walk.devices.name);
	if (!strcmp(path, "port"))
		return ibsa__view_put(view, "%u\n",
				      view->fabric->first.subnet.topo
					      .ports[walk.port]
					      .number);
	return *path ? -ENOENT : -EISDIR;
}

/* Write the name of the device with the verbs device uverbsN. */
static int view_write_verbs_file(struct view *view, const char *path)
{
	struct seat_walk walk = ibsa__seat_walk(view->fabric, &view->seat);
	uint32_t number;

	if (strncmp(path, "uverbs", 6) != 0)
		return -ENOENT;
	path = path_step_number(path + 6, &number);
	if (!path || strcmp(path, "ibdev") != 0)
		return -ENOENT;
	while (ibsa__seat_next(&walk))
		if (!number--)
			return ibsa__view_put(view, "%s\n", walk.name);
	return -ENOENT;
}

/*
 * Write a file of a port, which @view names. The files of
 * ibsa__view_write_info() are not in the list of the directory: sysfs does not
 * have them.
 */
static int view_write_port_file(struct view *view, const char *path)
{
	const int err = view_find_and_write(view, ibsa__port_files, PORT_FILES,
					    path);

	return err == -ENOENT ? ibsa__view_write_info(view, path) : err;
}

static int view_write_path(struct view *view, const char *path)
{
	const char *rest = path_step(path, "class/infiniband_mad");
	const char *below;

	if (rest)
		return *rest ? view_write_mad_file(view, rest) : -EISDIR;
	rest = path_step(path, "class/infiniband_verbs");
	if (rest)
		return *rest ? view_write_verbs_file(view, rest) : -EISDIR;
	rest = path_step_device(view, path);
	if (!rest)
		return -ENOENT;
	below = path_step(rest, "ports");
	if (!below)
		return view_find_and_write(view, ibsa__device_files,
					   DEVICE_FILES, rest);
	below = path_step_port(view, below);
	return below ? view_write_port_file(view, below) : -ENOENT;
}

static struct view view_of(const struct ibsa_fabric_server *server,
			   const struct serve_port *at, char *out, size_t room)
{
	return (struct view){
		.fabric = server->fabric,
		.seat = seat_of(at),
		.node = &server->fabric->first.subnet.topo.nodes[at->device],
		.out = out,
		.room = room,
	};
}

int ibsa__fabric_serve_read(void *owner, const struct serve_port *at,
			    const char *path, char *out, size_t room,
			    size_t *used)
{
	struct view view = view_of(owner, at, out, room);
	int err = view_write_path(&view, path);

	if (!err)
		*used = view.used;
	return err;
}

/* Append a name, with a NUL at its end, to the list of a directory. */
__attribute__((format(printf, 2, 3))) static void
view_put_name(struct view *view, const char *format, ...)
{
	char name[SEAT_NAME_BYTES];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (len < 0 || (size_t)len + 1 > view->room - view->used)
		return;
	memcpy(view->out + view->used, name, (size_t)len + 1);
	view->used += (size_t)len + 1;
}

/*
 * Append the names in the directory @folder of a table, "" being that of the
 * table, each once: files of one directory are neighbours in the table. Return:
 * -ENOENT: there is no such directory.
 */
static int view_put_files(struct view *view, const struct file *files,
			  size_t count, const char *folder)
{
	const size_t folder_len = *folder ? strlen(folder) + 1 : 0;
	const char *last = "";
	size_t last_len = 0;
	int err = -ENOENT;

	for (size_t i = 0; i < count; i++) {
		const char *name = files[i].name;
		size_t len;

		if (folder_len && !path_step(name, folder))
			continue;
		name += folder_len;
		len = strcspn(name, "/");
		err = 0;
		if (len == last_len && !memcmp(last, name, len))
			continue;
		last = name;
		last_len = len;
		view_put_name(view, "%.*s", (int)len, name);
	}
	return err;
}

static int view_list_ports(struct view *view)
{
	const uint32_t node =
		(uint32_t)(view->node - view->fabric->first.subnet.topo.nodes);

	for (unsigned int i = 0; i <= view->node->port_count; i++)
		if (ibsa__node_end_port(view->fabric, node, i) != NO_INDEX)
			view_put_name(view, "%" PRIu32, i);
	return 0;
}

/*
 * List the directory of a port, or a directory in it: a table such as that of
 * the GIDs, or the directory of such tables or of the counters.
 */
static int view_list_port(struct view *view, const char *path)
{
	for (size_t i = 0; i < PORT_FILES; i++) {
		if (strcmp(path, ibsa__port_files[i].name) != 0)
			continue;
		if (!ibsa__port_files[i].count)
			return -ENOTDIR;
		for (uint32_t j = 0; j < ibsa__port_files[i].count(view); j++)
			view_put_name(view, "%" PRIu32, j);
		return 0;
	}
	return view_put_files(view, ibsa__port_files, PORT_FILES, path);
}

static int view_list_mad_files(struct view *view)
{
	struct mad_walk walk = mad_walk(view->fabric, &view->seat);

	view_put_name(view, "abi_version");
	for (uint32_t i = 0; mad_next(&walk); i++) {
		view_put_name(view, "umad%" PRIu32, i);
		view_put_name(view, "issm%" PRIu32, i);
	}
	return 0;
}

static int view_list_verbs_files(struct view *view)
{
	struct seat_walk walk = ibsa__seat_walk(view->fabric, &view->seat);

	for (uint32_t i = 0; ibsa__seat_next(&walk); i++)
		view_put_name(view, "uverbs%" PRIu32, i);
	return 0;
}

static int view_list_devices(struct view *view)
{
	struct seat_walk walk = ibsa__seat_walk(view->fabric, &view->seat);

	while (ibsa__seat_next(&walk))
		view_put_name(view, "%s", walk.name);
	return 0;
}

static int view_list_device(struct view *view, const char *path)
{
	const char *below = path_step(path, "ports");

	if (!*path) {
		view_put_name(view, "ports");
		return view_put_files(view, ibsa__device_files, DEVICE_FILES,
				      "");
	}
	if (!strcmp(path, "device"))
		return view_put_files(view, ibsa__device_files, DEVICE_FILES,
				      path);
	if (!below)
		return view_find_and_write(view, ibsa__device_files,
					   DEVICE_FILES, path)
			       ? -ENOENT
			       : -ENOTDIR;
	if (!*below)
		return view_list_ports(view);
	below = path_step_port(view, below);
	return below ? view_list_port(view, below) : -ENOENT;
}

static int view_list_path(struct view *view, const char *path)
{
	const char *device = path_step_device(view, path);

	if (device)
		return view_list_device(view, device);
	if (!strcmp(path, "class/infiniband"))
		return view_list_devices(view);
	if (!strcmp(path, "class/infiniband_mad"))
		return view_list_mad_files(view);
	if (!strcmp(path, "class/infiniband_verbs"))
		return view_list_verbs_files(view);
	return -ENOENT;
}

int ibsa__fabric_serve_find_mad(void *owner, const struct serve_port *at,
				uint32_t number, struct serve_port *out)
{
	const struct ibsa_fabric_server *server = owner;
	const struct fabric_seat seat = seat_of(at);
	struct mad_walk walk = mad_walk(server->fabric, &seat);

	if (!mad_find(&walk, number))
		return -ENODEV;
	*out = (struct serve_port){ .device = walk.devices.node,
				    .port = walk.port };
	return 0;
}

int ibsa__fabric_serve_list(void *owner, const struct serve_port *at,
			    const char *path, char *out, size_t room,
			    size_t *used)
{
	struct view view = view_of(owner, at, out, room);
	int err = view_list_path(&view, path);

	if (!err)
		*used = view.used;
	return err;
}
