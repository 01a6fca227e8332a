/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device as umad_ca_t, and the GUIDs of its ports.
 *
 * Source: umad_get_ca(3), umad_get_ca_portguids(3), infiniband/umad.h of
 * rdma-core.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "device/device.h"
#include "device/parse.h"
#include "libibumad/libibumad.h"
#include "remote/files.h"

/* Nothing is set up and nothing is kept; a program may leave them out. */
int umad_init(void)
{
	return 0;
}

int umad_done(void)
{
	return 0;
}

void ibsa__ca_text(char *to, size_t room, const char *text)
{
	size_t len = strcspn(text, "\n");

	if (len > room - 1)
		len = room - 1;
	memcpy(to, text, len);
	to[len] = '\0';
}

/* Any of these may be missing. */
static void text_read(const char *name, const char *file, char *to, size_t room)
{
	struct ibsa__sysfs_text text;

	if (ibsa__sysfs_read(&text, "class/infiniband/%s/%s", name, file))
		text.bytes[0] = '\0';
	ibsa__ca_text(to, room, text.bytes);
}

static int guid_read(const char *name, const char *file, __be64 *out)
{
	uint64_t guid;
	int err = ibsa__guid_read(name, file, &guid);

	if (err)
		return err;
	*out = htobe64(guid);
	return 0;
}

int ibsa__ca_fail(int err)
{
	errno = -err;
	return err;
}

/* -ENXIO: a server's node is there, but has no such port as IBSA_NODE says. */
static int head_error(int err)
{
	switch (err) {
	case -EPROTO:
	case -ERANGE:
		return -EINVAL;
	case -ENXIO:
		return -ENODEV;
	default:
		return err;
	}
}

static int head_read(const char *name, umad_ca_t *head)
{
	int err = -ENOENT;

	if (!strchr(name, '/'))
		err = ibsa__node_type_read(name, &head->node_type);
	if (!err)
		err = guid_read(name, SYS_CA_NODE_GUID, &head->node_guid);
	if (!err)
		err = guid_read(name, SYS_CA_SYS_GUID, &head->system_guid);
	if (err)
		return ibsa__ca_fail(head_error(err));
	ibsa__ca_text(head->ca_name, sizeof(head->ca_name), name);
	text_read(name, SYS_CA_FW_VERS, head->fw_ver, sizeof(head->fw_ver));
	text_read(name, SYS_CA_HW_VERS, head->hw_ver, sizeof(head->hw_ver));
	text_read(name, SYS_CA_TYPE, head->ca_type, sizeof(head->ca_type));
	return 0;
}

static int port_add(struct ibsa__ca *ca, const char *name, const char *folder)
{
	unsigned int number;
	umad_port_t *port;
	int err;

	if (ibsa__parse_index(folder, &number))
		return -EIO;
	port = ibsa__calloc(1, sizeof(*port));
	if (!port)
		return -ENOMEM;
	err = ibsa__ca_port_read(name, number, port);
	if (err) {
		ibsa__free(port);
		return err;
	}
	ca->ports[ca->count++] = port;
	return 0;
}

static int ports_read(const char *name, struct ibsa__ca *ca)
{
	struct ibsa__names names;
	int err;

	err = ibsa__sysfs_names(&names, "class/infiniband/%s/%s", name,
				SYS_CA_PORTS_DIR);
	if (err)
		return ibsa__ca_fail(err);
	ca->ports = ibsa__calloc(names.count + 1, sizeof(*ca->ports));
	err = ca->ports ? 0 : -ENOMEM;
	/* Natural order of names is ascending order of numbers. */
	for (size_t i = 0; i < names.count && !err; i++)
		err = port_add(ca, name, names.at[i]);
	ibsa__names_free(&names);
	return err;
}

int ibsa__ca_read(const char *name, struct ibsa__ca *out)
{
	struct remote_files *files = ibsa__remote_files_hold();
	struct ibsa__ca ca = { 0 };
	int err;

	err = head_read(name, &ca.head);
	if (!err)
		err = ports_read(name, &ca);
	ibsa__remote_files_release(files);
	if (err) {
		ibsa__ca_free(&ca);
		return err;
	}
	*out = ca;
	return 0;
}

void ibsa__ca_free(struct ibsa__ca *ca)
{
	for (size_t i = 0; i < ca->count; i++) {
		umad_release_port(ca->ports[i]);
		ibsa__free(ca->ports[i]);
	}
	ibsa__free(ca->ports);
}

int ibsa__ca_last_port(const struct ibsa__ca *ca)
{
	return ca->count ? ca->ports[ca->count - 1]->portnum : 0;
}

int umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
	struct ibsa__ca_port place;
	struct ibsa__ca whole;
	int err = 0;

	if (!ca_name)
		err = ibsa__ca_port_find(NULL, UMAD_ANY_PORT, IBSA__CA_ANY,
					 &place);
	if (!err)
		err = ibsa__ca_read(ca_name ? ca_name : place.ca, &whole);
	if (err)
		return err;
	if (ibsa__ca_last_port(&whole) >= UMAD_CA_MAX_PORTS) {
		ibsa__ca_free(&whole);
		return -EIO;
	}
	*ca = whole.head;
	ca->numports = ibsa__ca_last_port(&whole);
	for (size_t i = 0; i < whole.count; i++)
		ca->ports[whole.ports[i]->portnum] = whole.ports[i];
	ibsa__free(whole.ports);
	return 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	if (!ca)
		return -ENODEV;
	for (size_t i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		if (!ca->ports[i])
			continue;
		umad_release_port(ca->ports[i]);
		ibsa__free(ca->ports[i]);
		ca->ports[i] = NULL;
	}
	return 0;
}

/* An entry a port number from 0 on; 0 where there is no such port. */
static int guids_fill(const struct ibsa__ca *ca, __be64 *guids, int max)
{
	const int last = ibsa__ca_last_port(ca);

	if (last >= max)
		return -ENOMEM;
	memset(guids, 0, ((size_t)last + 1) * sizeof(*guids));
	for (size_t i = 0; i < ca->count; i++)
		guids[ca->ports[i]->portnum] = ca->ports[i]->port_guid;
	return last + 1;
}

/* -ENOMEM says that the array is too small, and so must say nothing else. */
int umad_get_ca_portguids(const char *ca_name, __be64 *portguids, int max)
{
	struct ibsa__ca_port place;
	struct ibsa__ca ca;
	int count = 0;
	int err = 0;

	if (!ca_name)
		err = ibsa__ca_port_find(NULL, UMAD_ANY_PORT, IBSA__CA_ANY,
					 &place);
	if (err == -ENODEV)
		return err;
	if (!err)
		err = ibsa__ca_read(ca_name ? ca_name : place.ca, &ca);
	if (err)
		return -1;
	if (portguids)
		count = guids_fill(&ca, portguids, max);
	ibsa__ca_free(&ca);
	return count;
}
