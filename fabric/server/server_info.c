/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What programs can read of a port through a verbs device, but not in sysfs:
 * the attributes PortInfo and NodeInfo, written in hexadecimal digits. Each
 * file contains the bytes of the SA's record, in which an identifier precedes
 * the attribute.
 *
 * Source: IBA vol 1, 14.2.5.3, 14.2.5.6, 15.2.5.2 and 15.2.5.3.
 */
#include <errno.h>
#include <string.h>

#include "fabric/node/sma.h"
#include "fabric/server/server_text.h"

enum { RECORD_BYTES = 128 };

static int put_record(struct view *view, const struct ibsa_record *record,
		      const void *host)
{
	uint8_t wire[RECORD_BYTES];
	uint64_t over;

	if (record->size > sizeof(wire))
		return -EIO;
	record->encode(host, wire, &over);
	for (size_t i = 0; i < record->size; i++)
		ibsa__view_put(view, "%02x", wire[i]);
	return ibsa__view_put(view, "\n");
}

static int put_port_info(struct view *view, const struct fabric_part *part)
{
	struct ibsa_port_info info;

	ibsa__port_info(&part->nodes, view->port, view->port->number, &info);
	return put_record(view, &ibsa_port_info_record, &info);
}

static int put_node_info(struct view *view, const struct fabric_part *part)
{
	struct ibsa_node info;

	ibsa__node_info(&part->subnet, &part->subnet.ends[view->port->end],
			&info);
	return put_record(view, &ibsa_node_record, &info);
}

int ibsa__view_write_info(struct view *view, const char *name)
{
	const struct topo_port *ports = view->fabric->first.subnet.topo.ports;
	const struct fabric_part *part =
		fabric_part_of(view->fabric, (uint32_t)(view->port - ports));

	if (!strcmp(name, "port_info"))
		return put_port_info(view, part);
	if (!strcmp(name, "node_info"))
		return put_node_info(view, part);
	return -ENOENT;
}
