/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes what /sys has about the adapters of a host, as one text, for the
 * command "sysfs".
 *
 * A line that begins with a slash is the path of a directory, and the lines
 * after it are in this directory: "NAME TEXT" is a line of the file NAME, and
 * "NAME>TARGET" a symbolic link. The last line "+N" says that the adapters from
 * number N on are missing, because the text would be too long.
 *
 * Source: Linux drivers/infiniband/core/sysfs.c, user_mad.c, uverbs_main.c and
 * drivers/infiniband/ulp/ipoib/ipoib_main.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "fabric/server/server_text.h"

/* Flags of an IPoIB address: the interface has connected mode. */
#define IPOIB_FLAGS UINT32_C(0x80000000)

enum {
	UVERBS_ABI_VERSION = 6,
	DRIVER_ABI_VERSION = 1, /* of mlx5 and hfi1 */
	/* A major number that the kernel gives to no driver. */
	MAJOR = 300,
	UMAD_MINOR = 0,
	ISSM_MINOR = 4096,
	UVERBS_MINOR = 8192,
	IPOIB_MTU = 2044, /* of a link with MTU 2048 */
	IPOIB_TYPE = 32,  /* ARPHRD_INFINIBAND */
	IPOIB_ADDRESS_BYTES = 20,
	IPOIB_QPN = 0x48, /* of ib0 */
	CONTENT_BYTES = 1024,
	/* Left in the buffer for the last line. */
	END_BYTES = 16,
};

/*
 * The text that is being written. @slot: path of the PCI device; @device: name of
 * the device; @end_port: the number N of umadN and ibN; @number: N of uverbsN
 */
struct tree {
	struct view view;
	char slot[SLOT_PATH_BYTES];
	const char *device;
	uint32_t end_port;
	uint32_t number;
};

/* Write a file with this content, of one or more lines. */
static void tree_put_text(struct tree *tree, const char *name, char *content)
{
	char *line;

	while ((line = strsep(&content, "\n")) && content)
		ibsa__view_put(&tree->view, "%s %s\n", name, line);
}

__attribute__((format(printf, 3, 4))) static void
tree_put(struct tree *tree, const char *name, const char *format, ...)
{
	char content[CONTENT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(content, sizeof(content), format, args);
	va_end(args);
	tree_put_text(tree, name, content);
}

/* Write a file of a table; nothing if it cannot be read. */
static void tree_put_file(struct tree *tree, const struct file *file,
			  const char *name)
{
	char content[CONTENT_BYTES] = "";
	struct view view = tree->view;

	view.file = file;
	view.out = content;
	view.room = sizeof(content);
	view.used = 0;
	if (!file->write(&view))
		tree_put_text(tree, name, content);
}

/* Write the files of a directory that is a table, such as that of the GIDs. */
static void tree_put_entries(struct tree *tree, const struct file *file)
{
	const uint32_t count = file->count(&tree->view);
	char name[16];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%" PRIu32, i);
		tree->view.index = i;
		tree_put_file(tree, file, name);
	}
}

/*
 * Write the files of a table whose directory is @top. Those of the directory
 * "device" are in the directory of the PCI device.
 */
static void tree_put_files(struct tree *tree, const struct file *files,
			   size_t count, const char *top)
{
	const char *last = NULL;
	size_t last_len = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = files[i].name;
		const char *slash = strrchr(name, '/');
		const size_t len = files[i].count ? strlen(name)
				   : slash	  ? (size_t)(slash - name)
						  : 0;

		if (!last || len != last_len || memcmp(last, name, len) != 0) {
			if (len == 6 && !memcmp(name, "device", len))
				ibsa__view_put(&tree->view, "/%s\n",
					       tree->slot);
			else
				ibsa__view_put(&tree->view, "/%s%s%.*s\n", top,
					       len ? "/" : "", (int)len, name);
		}
		last = name;
		last_len = len;
		if (files[i].count)
			tree_put_entries(tree, &files[i]);
		else
			tree_put_file(tree, &files[i],
				      slash ? slash + 1 : name);
	}
}

/*
 * Begin the directory @name of a class, as the kernel has it: below the PCI
 * device, with links from there and from the directory of the class.
 */
__attribute__((format(printf, 3, 4))) static void
tree_begin(struct tree *tree, const char *class, const char *format, ...)
{
	const char *address = strrchr(tree->slot, '/') + 1;
	char name[SEAT_NAME_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	ibsa__view_put(&tree->view, "/class/%s\n%s>../../%s/%s/%s\n", class,
		       name, tree->slot, class, name);
	ibsa__view_put(&tree->view, "/%s/%s/%s\ndevice>../../../%s\n",
		       tree->slot, class, name, address);
}

/* Write the network interface of a port. */
static void tree_put_interface(struct tree *tree)
{
	const struct ibsa_port_state *state = &tree->view.state;
	const bool is_up = state->port_state == IBSA_PORT_ACTIVE;
	const unsigned int port = tree->view.port->number;
	uint8_t address[IPOIB_ADDRESS_BYTES];
	char text[3 * IPOIB_ADDRESS_BYTES + 1];

	ibsa_put_be32(address, IPOIB_FLAGS | (IPOIB_QPN + tree->end_port));
	memcpy(address + 4, state->gid.raw, sizeof(state->gid.raw));
	for (size_t i = 0; i < sizeof(address); i++)
		snprintf(text + 3 * i, 4, "%02x:", address[i]);
	text[sizeof(text) - 2] = '\0';
	tree_begin(tree, "net", "ib%" PRIu32, tree->end_port);
	tree_put(tree, "address", "%s\n", text);
	tree_put(tree, "addr_len", "%d\n", IPOIB_ADDRESS_BYTES);
	tree_put(tree, "carrier", "%d\n", is_up);
	tree_put(tree, "dev_id", "0x%x\n", port ? port - 1 : 0);
	tree_put(tree, "dev_port", "%u\n", port ? port - 1 : 0);
	tree_put(tree, "mtu", "%d\n", IPOIB_MTU);
	tree_put(tree, "operstate", "%s\n", is_up ? "up" : "down");
	tree_put(tree, "type", "%d\n", IPOIB_TYPE);
}

static void tree_put_port(struct tree *tree, unsigned int number)
{
	static const struct {
		const char *name;
		uint32_t minor;
	} mads[] = { { "umad", UMAD_MINOR }, { "issm", ISSM_MINOR } };
	char top[SLOT_PATH_BYTES + SEAT_NAME_BYTES + 32];

	snprintf(top, sizeof(top), "%s/infiniband/%s/ports/%u", tree->slot,
		 tree->device, number);
	tree_put_files(tree, ibsa__port_files, PORT_FILES, top);
	for (size_t i = 0; i < 2; i++) {
		tree_begin(tree, "infiniband_mad", "%s%" PRIu32, mads[i].name,
			   tree->end_port);
		tree_put(tree, "dev", "%d:%" PRIu32 "\n", MAJOR,
			 mads[i].minor + tree->end_port);
		tree_put(tree, "ibdev", "%s\n", tree->device);
		tree_put(tree, "port", "%u\n", number);
	}
	tree_put_interface(tree);
}

static void tree_put_device(struct tree *tree)
{
	char top[SLOT_PATH_BYTES + SEAT_NAME_BYTES + 16];

	ibsa__slot_path(&tree->view, tree->slot);
	snprintf(top, sizeof(top), "%s/infiniband/%s", tree->slot,
		 tree->device);
	tree_begin(tree, "infiniband", "%s", tree->device);
	tree_put_files(tree, ibsa__device_files, DEVICE_FILES, top);
	tree_begin(tree, "infiniband_verbs", "uverbs%" PRIu32, tree->number);
	tree_put(tree, "ibdev", "%s\n", tree->device);
	tree_put(tree, "dev", "%d:%" PRIu32 "\n", MAJOR,
		 UVERBS_MINOR + tree->number);
	tree_put(tree, "abi_version", "%d\n", DRIVER_ABI_VERSION);
}

/* Set the view to an end port of its node. Return: whether the port is one. */
static bool tree_at_port(struct tree *tree, unsigned int number)
{
	struct view *view = &tree->view;
	const struct topology *topo = &view->fabric->first.subnet.topo;
	const uint32_t port = ibsa__node_end_port(
		view->fabric, (uint32_t)(view->node - topo->nodes), number);

	if (port == NO_INDEX)
		return false;
	view->port = &topo->ports[port];
	ibsa__fabric_port_state(view->fabric, port, &view->state);
	return true;
}

/*
 * Write the device at which the walk is, or, unless @is_wanted, count it. Return:
 * false: it does not fit; its beginning is removed.
 */
static bool tree_add(struct tree *tree, const struct seat_walk *walk,
		     bool is_wanted)
{
	const size_t before = tree->view.used;

	tree->view.node = &walk->fabric->first.subnet.topo.nodes[walk->node];
	tree->device = walk->name;
	if (is_wanted)
		tree_put_device(tree);
	for (unsigned int i = 0; i <= tree->view.node->port_count; i++) {
		if (!tree_at_port(tree, i))
			continue;
		if (is_wanted)
			tree_put_port(tree, i);
		tree->end_port++;
	}
	tree->number++;
	if (tree->view.is_full)
		tree->view.used = before;
	return !tree->view.is_full;
}

/* Return: 0; -E2BIG: there is no room for the device @first. */
static int tree_write(struct tree *tree, uint32_t first)
{
	struct seat_walk walk = ibsa__seat_walk(tree->view.fabric,
						&tree->view.seat);

	if (!first)
		ibsa__view_put(&tree->view,
			       "/class/net\n/class/infiniband\n"
			       "/class/infiniband_mad\nabi_version %d\n"
			       "/class/infiniband_verbs\nabi_version %d\n",
			       UMAD_ABI_VERSION, UVERBS_ABI_VERSION);
	for (uint32_t i = 0; ibsa__seat_next(&walk); i++) {
		if (tree_add(tree, &walk, i >= first))
			continue;
		if (i == first)
			return -E2BIG;
		tree->view.room += END_BYTES;
		tree->view.is_full = false;
		ibsa__view_put(&tree->view, "+%" PRIu32 "\n", i);
		return 0;
	}
	return 0;
}

/*
 * Find the host in the command's arguments, which may end with a port, as in
 * IBSA_NODE. Without a host, it is that with this machine's host name, or else
 * that of the first adapter.
 */
static int host_find(struct ibsa_fabric *fabric, const char *host,
		     struct ibsa_error *error, struct fabric_seat *out)
{
	char name[REMOTE_NODE_MAX + 1] = "";
	struct seat_words words = { .node = name, .device = "" };
	const char *slash = strrchr(host, '/');
	size_t len = strlen(host);
	int err;

	if (slash && slash[1] && !slash[1 + strspn(slash + 1, "0123456789")])
		len = (size_t)(slash - host);
	if (len > REMOTE_NODE_MAX)
		return ibsa__fail(error, -ENODEV,
				  "the fabric has no node %.32s...", host);
	memcpy(name, host, len);
	if (!len && gethostname(name, sizeof(name) - 1))
		name[0] = '\0';
	words.is_machine = !len && *name;
	err = ibsa__seat_find(fabric, &words, out);
	return err == -ENODEV ? ibsa__fail(error, err,
					   "the fabric has no node %s", name)
	       : err	      ? ibsa__fail(error, err, "out of memory")
			      : 0;
}

int ibsa__fabric_tree(struct ibsa_fabric *fabric, const char *args, char *out,
		      size_t room, struct ibsa_error *error)
{
	struct tree tree = { .view = { .fabric = fabric,
				       .is_copy = true,
				       .out = out,
				       .room = room } };
	char *host;
	const unsigned long first = strtoul(args, &host, 10);
	int err;

	if (*args < '0' || *args > '9' || first > UINT32_MAX ||
	    room <= END_BYTES)
		return ibsa__fail(error, -EINVAL,
				  "sysfs needs the number of the first adapter "
				  "and a host");
	tree.view.room -= END_BYTES;
	host += strspn(host, " ");
	pthread_mutex_lock(&fabric->lock);
	err = host_find(fabric, host, error, &tree.view.seat);
	if (!err)
		err = tree_write(&tree, (uint32_t)first);
	pthread_mutex_unlock(&fabric->lock);
	return err == -E2BIG ? ibsa__fail(error, err,
					  "the device files of an adapter of "
					  "%.64s do not fit into an answer: it "
					  "has too many ports",
					  *host ? host : "the default host")
			     : err;
}
