/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens and closes umad files by device and port. The portid is the descriptor
 * of the umad file, because programs poll it.
 *
 * Source: umad_open_port(3) of rdma-core.
 */
#include <errno.h>

#include <ibsa/umad_ext.h>

#include "device/device.h"
#include "libibumad/file.h"
#include "libibumad/libibumad.h"
#include "libibumad/debug.h"
#include "libibumad/section.h"
#include "umad_dev/umad.h"

/*
 * Check the ABI version of ib_umad. As in libibumad, a missing module and an
 * old version have the same error.
 */
static int abi_check(struct device_files *files)
{
	unsigned int version;
	int err = ibsa__umad_version(files, NULL, &version);

	if (err == -ENXIO)
		/*
		 * The fabric server's node does not have the port in IBSA_NODE,
		 * so there is no device.
		 */
		return -ENODEV;
	return err == -ENOSYS ? -EOPNOTSUPP : err;
}

static int found_open(struct device_files *files,
		      const struct ibsa__ca_port *found)
{
	char name[NAME_MAX + 1];
	int err;

	err = ibsa__mad_device_find(files, found->ca, (unsigned int)found->port,
				    name);
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	return ibsa__portid_open(files, name);
}

static int port_open(struct device_files *files, const char *ca_name,
		     int portnum, enum ibsa__ca_role role)
{
	struct ibsa__ca_port found;
	int err;

	err = abi_check(files);
	if (!err)
		err = ibsa__ca_port_find(files, ca_name, portnum, role, &found);
	return err ? err : found_open(files, &found);
}

static int port_open_debug(const char *ca_name, int portnum,
			   enum ibsa__ca_role role)
{
	struct device_files *files;
	struct section section;
	int portid = ibsa__section_enter_files(&section, &files);

	if (!portid) {
		portid = port_open(files, ca_name, portnum, role);
		ibsa__section_leave(&section);
	}
	if (portid >= 0)
		return portid;
	errno = -portid;
	ibsa__umad_debug_print(portid, "umad_open_port: %s port %d",
			       ca_name ? ca_name : "any device", portnum);
	return portid;
}

int umad_open_port(const char *ca_name, int portnum)
{
	return port_open_debug(ca_name, portnum, IBSA__CA_ANY);
}

int umad_open_smi_port(const char *ca_name, int portnum)
{
	return port_open_debug(ca_name, portnum, IBSA__CA_SMI);
}

/* umad_close_port() returns 0 for any portid, as in libibumad. */
int umad_close_port(int portid)
{
	ibsa__portid_close(portid);
	return 0;
}

int umad_get_fd(int portid)
{
	return portid;
}
