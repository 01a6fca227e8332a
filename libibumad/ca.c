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
#include "libibumad/section.h"

/*
 * umad_init() does nothing, because the library needs no initialisation.
 * Programs may omit umad_init() and umad_done().
 */
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

/*
 * Read the first line of a device file. If the file cannot be read, the text is
 * empty.
 */
static void text_read(struct device_files *files, const char *name,
		      const char *file, char *to, size_t room)
{
	struct ibsa__file_text text;

	if (ibsa__file_read(files, &text, "class/infiniband/%s/%s", name, file))
		text.bytes[0] = '\0';
	ibsa__ca_text(to, room, text.bytes);
}

static int guid_read(struct device_files *files, const char *name,
		     const char *file, __be64 *out)
{
	uint64_t guid;
	int err = ibsa__guid_read(files, name, file, &guid);

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

/*
 * Map an error from reading a device's files. -ENXIO means that the fabric
 * server has the node, but not the port in IBSA_NODE, so the device does not
 * exist.
 */
static int head_errno(int err)
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

static int head_read(struct device_files *files, const char *name,
		     umad_ca_t *head)
{
	int err = -ENOENT;

	if (!strchr(name, '/'))
		err = ibsa__node_type_read(files, name, &head->node_type);
	if (!err)
		err = guid_read(files, name, SYS_CA_NODE_GUID,
				&head->node_guid);
	if (!err)
		err = guid_read(files, name, SYS_CA_SYS_GUID,
				&head->system_guid);
	if (err)
		return ibsa__ca_fail(head_errno(err));
	ibsa__ca_text(head->ca_name, sizeof(head->ca_name), name);
	text_read(files, name, SYS_CA_FW_VERS, head->fw_ver,
		  sizeof(head->fw_ver));
	text_read(files, name, SYS_CA_HW_VERS, head->hw_ver,
		  sizeof(head->hw_ver));
	text_read(files, name, SYS_CA_TYPE, head->ca_type,
		  sizeof(head->ca_type));
	return 0;
}

static int port_add(struct device_files *files, struct ibsa__ca *ca,
		    const char *name, const char *folder)
{
	unsigned int number;
	umad_port_t *port;
	int err;

	if (ibsa__parse_index(folder, &number))
		return -EIO;
	port = ibsa__calloc(1, sizeof(*port));
	if (!port)
		return -ENOMEM;
	err = ibsa__ca_port_read(files, name, number, port);
	if (err) {
		ibsa__free(port);
		return err;
	}
	ca->ports[ca->count++] = port;
	return 0;
}

static int ports_read(struct device_files *files, const char *name,
		      struct ibsa__ca *ca)
{
	struct ibsa__names names;
	int err;

	err = ibsa__names_read(files, &names, "class/infiniband/%s/%s", name,
			       SYS_CA_PORTS_DIR);
	if (err)
		return ibsa__ca_fail(err);
	ca->ports = ibsa__calloc(names.count + 1, sizeof(*ca->ports));
	err = ca->ports ? 0 : -ENOMEM;
	/*
	 * The directory names are in natural order, so the port numbers
	 * ascend.
	 */
	for (size_t i = 0; i < names.count && !err; i++)
		err = port_add(files, ca, name, names.at[i]);
	ibsa__names_free(&names);
	return err;
}

int ibsa__ca_read(struct device_files *files, const char *name,
		  struct ibsa__ca *out)
{
	int err;

	*out = (struct ibsa__ca){ 0 };
	err = head_read(files, name, &out->head);
	if (!err)
		err = ports_read(files, name, out);
	if (err)
		ibsa__ca_free(out);
	return err;
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

/*
 * Read a device. @name NULL: the default device. *@out_is_absent is set if
 * @name is NULL and there is no default device.
 */
static int ca_get(struct device_files *files, const char *name,
		  bool *out_is_absent, struct ibsa__ca *out)
{
	struct ibsa__ca_port found;
	int err = 0;

	if (!name)
		err = ibsa__ca_port_find(files, NULL, UMAD_ANY_PORT,
					 IBSA__CA_ANY, &found);
	*out_is_absent = err == -ENODEV;
	if (err)
		return err;
	return ibsa__ca_read(files, name ? name : found.ca, out);
}

/*
 * Do what ca_get() does, with the device files that the environment variables
 * currently select.
 */
static int ca_get_now(const char *name, bool *out_is_absent,
		      struct ibsa__ca *out)
{
	struct device_files *files;
	struct section section;
	int err = ibsa__section_enter_files(&section, &files);

	*out_is_absent = false;
	if (err)
		return ibsa__ca_fail(err);
	err = ca_get(files, name, out_is_absent, out);
	ibsa__section_leave(&section);
	return err;
}

int umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
	struct ibsa__ca whole;
	bool is_absent;
	int err;

	/*
	 * After a failure, numports is 0, because programs release the struct
	 * nevertheless.
	 */
	ca->numports = 0;
	memset(ca->ports, 0, sizeof(ca->ports));
	err = ca_get_now(ca_name, &is_absent, &whole);
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
	for (int i = 0; i <= ca->numports && i < UMAD_CA_MAX_PORTS; i++) {
		if (!ca->ports[i])
			continue;
		umad_release_port(ca->ports[i]);
		ibsa__free(ca->ports[i]);
		ca->ports[i] = NULL;
	}
	return 0;
}

/*
 * Fill @guids with one entry for each port number from 0 on; an entry is 0 if
 * the device does not have this port.
 */
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

/*
 * Return the port GUIDs of a device. All errors from reading the device, except
 * that there is no default device, are returned as -1, because -ENOMEM means
 * that the caller's array is too small.
 */
int umad_get_ca_portguids(const char *ca_name, __be64 *portguids, int max)
{
	struct ibsa__ca ca;
	bool is_absent;
	int count = 0;
	int err = ca_get_now(ca_name, &is_absent, &ca);

	if (err)
		return is_absent ? err : -1;
	if (portguids)
		count = guids_fill(&ca, portguids, max);
	ibsa__ca_free(&ca);
	return count;
}
