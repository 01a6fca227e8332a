/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes records of a topology: hosts, switches, cables. */
#ifndef TEST_TOPOLOGY_RIG_H
#define TEST_TOPOLOGY_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/topology.h>

/* Add a NodeRecord. Its node GUID is 0x100 times the LID, port GUIDs follow. */
static inline int rig_node(struct ibsa_topology *topology,
			   enum ibsa_node_type type, uint16_t lid,
			   const char *name)
{
	struct ibsa_node node = {
		.lid = lid,
		.node_type = type,
		.num_ports = type == IBSA_NODE_SWITCH ? 36 : 1,
		.node_guid = 0x100u * lid,
		.system_image_guid = 0x100u * lid,
		.port_guid = 0x100u * lid + (type != IBSA_NODE_SWITCH),
		.local_port_num = 1,
	};

	snprintf(node.node_description, sizeof(node.node_description), "%s",
		 name);
	return ibsa_topology_add(topology, &ibsa_node_record, &node,
				 sizeof(node));
}

/* One end's LinkRecord. */
static inline int rig_end(struct ibsa_topology *topology, uint16_t a,
			  uint8_t a_port, uint16_t b, uint8_t b_port)
{
	const struct ibsa_link link = {
		.from_lid = a,
		.from_port = a_port,
		.to_lid = b,
		.to_port = b_port,
	};

	return ibsa_topology_add(topology, &ibsa_link_record, &link,
				 sizeof(link));
}

/* Add both LinkRecords of a cable: one from each end. */
static inline int rig_link(struct ibsa_topology *topology, uint16_t a,
			   uint8_t a_port, uint16_t b, uint8_t b_port)
{
	const int err = rig_end(topology, a, a_port, b, b_port);

	return err ? err : rig_end(topology, b, b_port, a, a_port);
}

/* A PortInfoRecord of an active 4x EDR port that supports 1x and 4x. */
static inline struct ibsa_port_info rig_edr(uint16_t lid, uint8_t port)
{
	return (struct ibsa_port_info){
		.endport_lid = lid,
		.port_num = port,
		.lid = lid,
		.port_state = IBSA_PORT_ACTIVE,
		.port_physical_state = 5,
		.neighbor_mtu = 5,
		.link_width_supported = 3,
		.link_width_active = 2,
		.link_speed_supported = 7,
		.link_speed_active = 4,
		.link_speed_ext_supported = 3,
		.link_speed_ext_active = 2,
	};
}

static inline int rig_port(struct ibsa_topology *topology,
			   const struct ibsa_port_info *port)
{
	return ibsa_topology_add(topology, &ibsa_port_info_record, port,
				 sizeof(*port));
}

#endif
