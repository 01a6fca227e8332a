/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the ports of planarized adapters that belong together: the SMI and the
 * GSI of one physical port are ports of two devices, which have the same port
 * GUID.
 *
 * Source: what libibumad of rdma-core 64 returns; IBA vol 1, 14.2.5.6.
 */
#include <ibsa/device.h>

#include "wire/gid.h"

enum { CAP_SM_DISABLED = 1 << 10 };

static bool port_is_infiniband(const struct ibsa_port *port)
{
	return !port->err && port->state->link != IBSA_LINK_ETHERNET;
}

/* Whether @gsi is the GSI of the physical port whose SMI is @port. */
static bool port_is_gsi_of(const struct ibsa_port *gsi,
			   const struct ibsa_port *port)
{
	return gsi != port && port_is_infiniband(gsi) &&
	       gsi->cap_mask & CAP_SM_DISABLED &&
	       gid_guid(&gsi->state->gid) == gid_guid(&port->state->gid);
}

const struct ibsa_port *ibsa_port_gsi(const struct ibsa_device_list *list,
				      const struct ibsa_port *port,
				      const struct ibsa_device **out_device)
{
	if (!port_is_infiniband(port) || !gid_guid(&port->state->gid) ||
	    port->cap_mask & CAP_SM_DISABLED)
		return NULL;
	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		for (size_t k = 0; k < device->port_count; k++) {
			if (!port_is_gsi_of(ibsa_device_port_at(device, k),
					    port))
				continue;
			if (out_device)
				*out_device = device;
			return ibsa_device_port_at(device, k);
		}
	}
	return NULL;
}
