/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a port into a umad_port_t.
 *
 * Source: umad_get_port(3), infiniband/umad.h of rdma-core; Linux
 * Documentation/ABI/stable/sysfs-class-infiniband.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "device/device.h"
#include "libibumad/libibumad.h"
#include "libibumad/section.h"

/*
 * Value of link_layer, as in libibumad, for a port without a file link_layer.
 */
#define OLD_LINK_LAYER "IB"

/*
 * The files of a port that contain one number, and the member of umad_port_t
 * for each.
 */
static const struct {
	const char *file;
	size_t at;
} numbers[] = {
	{ SYS_PORT_LMC, offsetof(umad_port_t, lmc) },
	{ SYS_PORT_SMLID, offsetof(umad_port_t, sm_lid) },
	{ SYS_PORT_SMSL, offsetof(umad_port_t, sm_sl) },
	{ SYS_PORT_LID, offsetof(umad_port_t, base_lid) },
	{ SYS_PORT_STATE, offsetof(umad_port_t, state) },
	{ SYS_PORT_PHY_STATE, offsetof(umad_port_t, phys_state) },
	{ SYS_PORT_RATE, offsetof(umad_port_t, rate) },
	{ SYS_PORT_CAPMASK, offsetof(umad_port_t, capmask) },
};

static int numbers_read(struct device_files *files, const char *ca,
			unsigned int number, umad_port_t *port)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t value;
		uint32_t word;
		int err;

		err = ibsa__number_read(files, UINT32_MAX, &value,
					"class/infiniband/%s/ports/%u/%s", ca,
					number, numbers[i].file);
		if (err)
			return err;
		word = (uint32_t)value;
		memcpy((char *)port + numbers[i].at, &word, sizeof(word));
	}
	port->capmask = htobe32(port->capmask);
	return 0;
}

/*
 * Read GID 0 of a port. The lower half of this GID is the port GUID, for which
 * sysfs has no file.
 */
static int gid_read(struct device_files *files, const char *ca,
		    unsigned int number, umad_port_t *port)
{
	struct ibsa_gid gid;
	int err = ibsa__port_gid_read(files, ca, number, 0, &gid);

	if (err)
		return err;
	memcpy(&port->gid_prefix, gid.raw, sizeof(port->gid_prefix));
	memcpy(&port->port_guid, gid.raw + sizeof(port->gid_prefix),
	       sizeof(port->port_guid));
	return 0;
}

static int pkeys_read(struct device_files *files, const char *ca,
		      unsigned int number, umad_port_t *port)
{
	uint16_t *pkeys;
	size_t count;
	int err = ibsa__pkeys_read(files, ca, number, &pkeys, &count);

	if (err)
		return err;
	if (!count)
		return -ENOENT;
	port->pkeys = pkeys;
	port->pkeys_size = (unsigned int)count;
	return 0;
}

static void link_layer_read(struct device_files *files, const char *ca,
			    unsigned int number, umad_port_t *port)
{
	struct ibsa__file_text text;

	if (ibsa__file_read(files, &text, "class/infiniband/%s/ports/%u/%s", ca,
			    number, SYS_PORT_LINK_LAYER))
		memcpy(text.bytes, OLD_LINK_LAYER, sizeof(OLD_LINK_LAYER));
	ibsa__ca_text(port->link_layer, sizeof(port->link_layer), text.bytes);
}

int ibsa__ca_port_read(struct device_files *files, const char *ca,
		       unsigned int number, umad_port_t *out)
{
	umad_port_t port = { .portnum = (int)number };
	int err = -ENOENT;

	if (number <= INT_MAX && !strchr(ca, '/'))
		err = numbers_read(files, ca, number, &port);
	if (!err)
		err = gid_read(files, ca, number, &port);
	if (!err)
		err = pkeys_read(files, ca, number, &port);
	if (err)
		return ibsa__ca_fail(err) == -ENOMEM ? err : -EIO;
	ibsa__ca_text(port.ca_name, sizeof(port.ca_name), ca);
	link_layer_read(files, ca, number, &port);
	*out = port;
	return 0;
}

bool ibsa__ca_port_has_smi(const umad_port_t *port)
{
	enum { CAP_IS_SM_DISABLED = 1 << 10 };

	return !(be32toh(port->capmask) & CAP_IS_SM_DISABLED);
}

static int port_get(struct device_files *files, const char *ca_name,
		    int portnum, umad_port_t *port)
{
	struct ibsa__ca_port found;
	int err;

	err = ibsa__ca_port_find(files, ca_name, portnum, IBSA__CA_ANY, &found);
	if (err)
		return err;
	return ibsa__ca_port_read(files, found.ca, (unsigned int)found.port,
				  port);
}

int umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
	struct device_files *files;
	struct section section;
	int err;

	/*
	 * After a failure, pkeys is NULL, because programs release the port
	 * nevertheless.
	 */
	port->pkeys = NULL;
	port->pkeys_size = 0;
	err = ibsa__section_enter_files(&section, &files);
	if (err)
		return ibsa__ca_fail(err);
	err = port_get(files, ca_name, portnum, port);
	ibsa__section_leave(&section);
	return err;
}

int umad_release_port(umad_port_t *port)
{
	if (!port)
		return -ENODEV;
	ibsa__free(port->pkeys);
	port->pkeys = NULL;
	port->pkeys_size = 0;
	return 0;
}
