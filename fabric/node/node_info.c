/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NodeInfo and NodeDescription of a node. IBA vol 1, 14.2.5.2 and 14.2.5.3. */
#include <string.h>

#include "fabric/node/sma.h"

/* Values in NodeInfo that the topology file does not contain. */
enum {
	NODE_VERSION = 1,
	NODE_REVISION = 0xa1,
};

/*
 * Write the NodeDescription, which has 64 bytes; a name of 64 bytes has no
 * NUL.
 */
static void set_description(struct ibsa_node *out, const char *name)
{
	const size_t room = sizeof(out->node_description) - 1;

	memcpy(out->node_description, name, strnlen(name, room));
}

void ibsa__node_info(const struct subnet *subnet, const struct end_port *end,
		     struct ibsa_node *out)
{
	const struct topo_node *node = end_topo_node(subnet, end);
	const bool is_switch = node->type == IBSA_NODE_SWITCH;

	*out = (struct ibsa_node){
		.lid = lid_in_16_bits(end->lid),
		.base_version = NODE_VERSION,
		.class_version = NODE_VERSION,
		.node_type = node->type,
		.num_ports = node->port_count,
		.system_image_guid = node->image_guid,
		.node_guid = node->guid,
		.port_guid = end->guid,
		.partition_cap = is_switch ? PKEY_CAP_SWITCH : PKEY_CAP_ADAPTER,
		.device_id = (uint16_t)node->device,
		.revision = NODE_REVISION,
		.local_port_num = end_topo_port(subnet, end)->number,
		.vendor_id = node->vendor,
	};
	set_description(out, node->name);
}
