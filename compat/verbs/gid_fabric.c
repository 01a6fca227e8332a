/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads GID tables of an embedded fabric, by a transport that is opened for
 * the call.
 */
#include <errno.h>

#include "verbs/gid.h"

/* Read one GID table entry. If the port has no cable, the entry is empty. */
int ibsa__gid_of_fabric(const struct ibsa__verbs *verbs, uint32_t port,
			uint32_t index, struct ibsa_gid_entry *out)
{
	struct ibsa_transport *transport;
	int err = port ? ibsa__verbs_port_open(verbs, port, &transport)
		       : -ENXIO;

	if (err)
		return err == -ENETDOWN ? -ENODATA : -EINVAL;
	err = transport->ops->gid(transport, index, out);
	transport->ops->close(transport);
	return err && err != -ENODATA ? -EINVAL : err;
}

static int port_add(const struct ibsa__verbs *verbs, uint32_t port,
		    struct ibsa__gids *gids)
{
	struct ibsa_transport *transport;
	struct ibsa_gid_entry entry;
	int err = ibsa__verbs_port_open(verbs, port, &transport);
	int full = 0;

	if (err)
		return err == -ENETDOWN ? 0 : err;
	for (uint32_t i = 0; !full; i++) {
		err = transport->ops->gid(transport, i, &entry);
		if (err && err != -ENODATA)
			break;
		if (!err)
			full = ibsa__gids_add(gids, port, &entry);
	}
	transport->ops->close(transport);
	return full;
}

int ibsa__gids_of_fabric(const struct ibsa__verbs *verbs,
			 struct ibsa__gids *gids)
{
	int err = 0;

	for (uint32_t port = 1; !err; port++)
		err = port_add(verbs, port, gids);
	if (err == -ENXIO)
		return 0;
	return err == -ENOMEM ? err : -EINVAL;
}
