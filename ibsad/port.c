/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the ports of the device. Their states are read at most once a second,
 * however many clients there are.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "client/files.h"
#include "device/device.h"
#include "device/sysfs.h"
#include "ibsad/port.h"
#include "umad_dev/umad.h"

/* The GID and P_Key tables are read again after this time at the latest. */
#define TABLES_NS (10 * NS_PER_S)

/* Whether the device files can be read at all: without a server, they cannot. */
static int files_check(struct ibsad_ports *ports, struct ibsa_error *error)
{
	unsigned int version;
	const int err = ibsa__umad_version(ports->files, error, &version);

	if (err == -ENODEV)
		return ibsa__fail(error, err,
				  "the fabric server does not answer; to see "
				  "why, type: ibsa devices");
	return err;
}

static int mad_devices_find(struct ibsad_ports *ports, struct ibsa_error *error)
{
	unsigned int count = 0;

	for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
		count += !ibsa__mad_device_find(ports->files, ports->device, i,
						ports->at[i].umad);
	return count ? 0
		     : ibsa__fail(error, -ENODEV,
				  "there is no MAD device of %.64s; list the "
				  "devices with: ibsa devices",
				  ports->device);
}

int ibsad_ports_open(struct ibsad_ports *ports, const char *name,
		     bool uses_environment, struct ibsa_error *error)
{
	int err;

	*ports = (struct ibsad_ports){ .files = NULL };
	if (strlen(name) > REMOTE_NODE_MAX || strchr(name, '/') || *name == '.')
		return ibsa__fail(error, -EINVAL,
				  "'%.64s' is not the name of a device", name);
	strcpy(ports->device, name);
	err = uses_environment ? ibsa__files_open_now(&ports->files)
			       : ibsa__sysfs_open(NULL, &ports->files);
	if (err)
		return ibsa__fail(error, err, "out of memory");
	err = files_check(ports, error);
	if (!err)
		err = mad_devices_find(ports, error);
	if (err)
		ibsad_ports_close(ports);
	return err;
}

void ibsad_ports_close(struct ibsad_ports *ports)
{
	ibsa__files_put(ports->files);
	ports->files = NULL;
}

static void gids_read(struct ibsad_ports *ports, uint32_t number,
		      struct serve_state *out)
{
	while (out->gid_count < SERVE_GIDS_MAX &&
	       !ibsa__port_gid_read(ports->files, ports->device, number,
				    out->gid_count, &out->gids[out->gid_count]))
		out->gid_count++;
}

static void pkeys_read(struct ibsad_ports *ports, uint32_t number,
		       struct serve_state *out)
{
	uint16_t *pkeys;
	size_t count;

	if (ibsa__pkeys_read(ports->files, ports->device, number, &pkeys,
			     &count))
		return;
	if (count > SERVE_PKEYS_MAX)
		count = SERVE_PKEYS_MAX;
	memcpy(out->pkeys, pkeys, count * sizeof(*pkeys));
	out->pkey_count = (uint32_t)count;
	ibsa__free(pkeys);
}

/* Return: whether the state of the port has changed. */
static bool port_read(struct ibsad_ports *ports, uint32_t number)
{
	struct ibsad_port *port = &ports->at[number];
	const uint64_t now_ns = clock_now_ns();
	struct ibsa_port_state state;
	struct serve_state before;

	/* The padding is compared, too. */
	memset(&state, 0, sizeof(state));
	if (ibsa__port_read(ports->files, ports->device, number, &state))
		memset(&state, 0, sizeof(state));
	state.port_num = (uint8_t)number;
	if (port->read_ns && now_ns - port->read_ns < TABLES_NS &&
	    !memcmp(&state, &port->state.port, sizeof(state)))
		return false;
	before = port->state;
	port->state = (struct serve_state){ .gid_count = 0 };
	port->state.port = state;
	gids_read(ports, number, &port->state);
	pkeys_read(ports, number, &port->state);
	port->read_ns = now_ns;
	return memcmp(&before, &port->state, sizeof(before)) != 0;
}

void ibsad_port_read(struct ibsad_ports *ports, uint32_t number,
		     uint64_t age_ns)
{
	const struct ibsad_port *port = &ports->at[number];

	if (!port->read_ns || clock_now_ns() - port->read_ns >= age_ns)
		(void)port_read(ports, number);
}

bool ibsad_ports_refresh(struct ibsad_ports *ports)
{
	bool has_changed = false;

	for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
		has_changed = (ports->at[i].read_ns && port_read(ports, i)) ||
			      has_changed;
	return has_changed;
}

static bool port_is_active(struct ibsad_ports *ports, uint32_t number)
{
	ibsad_port_read(ports, number, NS_PER_S);
	return ports->at[number].state.port.port_state == IBSA_PORT_ACTIVE;
}

int ibsad_port_find(struct ibsad_ports *ports, uint32_t number, uint32_t *out)
{
	uint32_t first = 0;

	for (uint32_t i = IBSAD_PORTS; i; i--) {
		if (!*ports->at[i].umad || (number && number != i))
			continue;
		if (!first || !port_is_active(ports, first) ||
		    port_is_active(ports, i))
			first = i;
	}
	if (!first)
		return -ENXIO;
	*out = first;
	return 0;
}

/*
 * Whether a component of a path leads out of the directories of RDMA devices:
 * by "..", or by a link. Of a device's own directory, clients need "uevent".
 */
static bool is_outside(const char *at, size_t len)
{
	static const char *const links[] = { "..", "device", "subsystem",
					     "driver" };

	if (!strcmp(at, "device/uevent"))
		return false;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		if (strlen(links[i]) == len && !strncmp(at, links[i], len))
			return true;
	}
	return false;
}

/* Whether a client may read a path. */
static bool path_is_permitted(const char *path)
{
	const char *at = path;

	if (strncmp(path, "class/infiniband", strlen("class/infiniband")) != 0)
		return false;
	while (*at) {
		const size_t len = strcspn(at, "/");

		if (is_outside(at, len))
			return false;
		at += len;
		at += *at == '/';
	}
	return true;
}

/* Complete a path that a client may read: "-" stands for the device. */
static int path_make(const struct ibsad_ports *ports, const char *path,
		     char *out, size_t room)
{
	static const char selected[] = "class/infiniband/-";
	const size_t len = sizeof(selected) - 1;
	int used;

	if (!path_is_permitted(path))
		return -EACCES;
	if (!strncmp(path, selected, len) && (!path[len] || path[len] == '/'))
		used = snprintf(out, room, "class/infiniband/%s%s",
				ports->device, path + len);
	else
		used = snprintf(out, room, "%s", path);
	return (size_t)used < room ? 0 : -ENAMETOOLONG;
}

int ibsad_ports_file(struct ibsad_ports *ports, const char *path, char *out,
		     size_t room, size_t *used)
{
	struct ibsa__file_text text;
	char found[512];
	int err = path_make(ports, path, found, sizeof(found));

	if (!err)
		err = ports->files->ops->read(ports->files, found, &text);
	if (err)
		return err;
	*used = strlen(text.bytes);
	if (*used > room)
		*used = room;
	memcpy(out, text.bytes, *used);
	return 0;
}

static void names_put(const struct ibsa__names *names, char *out, size_t room,
		      size_t *used)
{
	*used = 0;
	for (size_t i = 0; i < names->count; i++) {
		const size_t len = strlen(names->at[i]) + 1;

		if (len > room - *used)
			return;
		memcpy(out + *used, names->at[i], len);
		*used += len;
	}
}

int ibsad_ports_folder(struct ibsad_ports *ports, const char *path, char *out,
		       size_t room, size_t *used)
{
	struct ibsa__names names = { .count = 0 };
	char found[512];
	int err = path_make(ports, path, found, sizeof(found));

	if (!err)
		err = ports->files->ops->list(ports->files, found, &names);
	if (!err)
		names_put(&names, out, room, used);
	ibsa__names_free(&names);
	return err;
}
