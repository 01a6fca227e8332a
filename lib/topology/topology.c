/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds SA records to a topology, and gives access to its nodes and ports. */
#include <errno.h>
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/sized.h"
#include "topology/state.h"

int ibsa_topology_new(struct ibsa_topology **out)
{
	struct ibsa_topology *topology = ibsa__calloc(1, sizeof(*topology));
	uint32_t empty;

	/* The name at offset 0 is empty. */
	if (!topology || ibsa__topology_name_add(topology, "", &empty)) {
		ibsa__free(topology);
		return -ENOMEM;
	}
	*out = topology;
	return 0;
}

void ibsa_topology_free(struct ibsa_topology *topology)
{
	if (!topology)
		return;
	ibsa__free(topology->node_rows);
	ibsa__free(topology->port_rows);
	ibsa__free(topology->link_rows);
	ibsa__free(topology->switch_rows);
	ibsa__free(topology->names);
	ibsa__free(topology->nodes);
	ibsa__free(topology->ports);
	ibsa__free(topology->ends);
	ibsa__free(topology->twins);
	ibsa__free(topology->findings);
	ibsa__free(topology);
}

int ibsa__topology_name_add(struct ibsa_topology *topology, const char *name,
			    uint32_t *out)
{
	const size_t size = strlen(name) + 1;

	if (topology->name_len + size > UINT32_MAX ||
	    ARRAY_GROW(topology->names, topology->name_room,
		       topology->name_len + size))
		return -ENOMEM;
	memcpy(topology->names + topology->name_len, name, size);
	*out = (uint32_t)topology->name_len;
	topology->name_len += size;
	return 0;
}

int ibsa__topology_node_add(struct ibsa_topology *topology,
			    const struct node_row *node)
{
	if (ARRAY_GROW(topology->node_rows, topology->node_row_room,
		       topology->node_row_count + 1))
		return -ENOMEM;
	topology->node_rows[topology->node_row_count++] = *node;
	return 0;
}

int ibsa__topology_port_add(struct ibsa_topology *topology,
			    const struct port_row *port)
{
	if (ARRAY_GROW(topology->port_rows, topology->port_row_room,
		       topology->port_row_count + 1))
		return -ENOMEM;
	topology->port_rows[topology->port_row_count++] = *port;
	return 0;
}

int ibsa__topology_link_add(struct ibsa_topology *topology,
			    const struct link_row *link)
{
	if (ARRAY_GROW(topology->link_rows, topology->link_row_room,
		       topology->link_row_count + 1))
		return -ENOMEM;
	topology->link_rows[topology->link_row_count++] = *link;
	return 0;
}

int ibsa__topology_twin_add(struct ibsa_topology *topology,
			    enum ibsa_finding_kind kind, uint32_t a, uint32_t b)
{
	if (topology->twin_count == TWINS_MAX)
		return 0;
	if (ARRAY_GROW(topology->twins, topology->twin_room,
		       topology->twin_count + 1))
		return -ENOMEM;
	topology->twins[topology->twin_count++] = (struct twin){
		.kind = (uint8_t)kind,
		.a = a,
		.b = b,
	};
	return 0;
}

/*
 * Add a NodeRecord. For a switch, the record is stored for port 0, because all
 * ports of a switch have the same LID.
 */
static int add_node(struct ibsa_topology *topology,
		    const struct ibsa_node *record)
{
	struct node_row node = {
		.guid = record->node_guid,
		.system_guid = record->system_image_guid,
		.port_guid = record->port_guid,
		.end = record->lid,
		.lid = record->lid,
		.vendor_id = record->vendor_id,
		.device_id = record->device_id,
		.revision = record->revision,
		.type = record->node_type,
		.port_count = record->num_ports,
		.port = record->node_type == IBSA_NODE_SWITCH
				? 0
				: record->local_port_num,
	};
	int err = 0;

	if (record->node_description[0])
		err = ibsa__topology_name_add(
			topology, record->node_description, &node.name);
	return err ? err : ibsa__topology_node_add(topology, &node);
}

static int add_port(struct ibsa_topology *topology,
		    const struct ibsa_port_info *record)
{
	const struct link_bits bits = {
		.width_supported = record->link_width_supported,
		.width_active = record->link_width_active,
		.speed_supported = record->link_speed_supported,
		.speed_active = record->link_speed_active,
		.speed_ext_supported = record->link_speed_ext_supported,
		.speed_ext_active = record->link_speed_ext_active,
		.speed_ext_supported2 = record->link_speed_ext_supported2,
		.speed_ext_active2 = record->link_speed_ext_active2,
	};
	const struct port_row port = {
		.end = record->endport_lid,
		.number = record->port_num,
		.is = {
			.lid = record->lid,
			.lmc = record->lmc,
			.state = record->port_state,
			.phys_state = record->port_physical_state,
			.mtu = record->neighbor_mtu,
			.rate = ibsa__rate_of_bits(&bits),
			.widths = ibsa__widths_of_bits(bits.width_supported),
			.speeds = ibsa__speeds_of_bits(&bits),
		},
	};

	return ibsa__topology_port_add(topology, &port);
}

static int add_link(struct ibsa_topology *topology,
		    const struct ibsa_link *record)
{
	return ibsa__topology_link_add(topology,
				       &(struct link_row){
					       .from = record->from_lid,
					       .to = record->to_lid,
					       .from_port = record->from_port,
					       .to_port = record->to_port,
				       });
}

static int add_switch(struct ibsa_topology *topology,
		      const struct ibsa_switch_info *record)
{
	if (ARRAY_GROW(topology->switch_rows, topology->switch_row_room,
		       topology->switch_row_count + 1))
		return -ENOMEM;
	topology->switch_rows[topology->switch_row_count++] =
		(struct switch_row){
			.end = record->lid,
			.has_enhanced_port0 = record->enhanced_port0,
		};
	return 0;
}

int ibsa_topology_add(struct ibsa_topology *topology,
		      const struct ibsa_record *record, const void *host,
		      size_t size)
{
	union {
		struct ibsa_node node;
		struct ibsa_port_info port;
		struct ibsa_link link;
		struct ibsa_switch_info info;
	} known;

	if (topology->is_finished)
		return -EALREADY;
	if (record != &ibsa_node_record && record != &ibsa_port_info_record &&
	    record != &ibsa_link_record && record != &ibsa_switch_info_record)
		return -EINVAL;
	if (ibsa__sized_read(&known, record->host_size, host, size))
		return -E2BIG;
	if (record == &ibsa_node_record)
		return add_node(topology, &known.node);
	if (record == &ibsa_port_info_record)
		return add_port(topology, &known.port);
	if (record == &ibsa_link_record)
		return add_link(topology, &known.link);
	return add_switch(topology, &known.info);
}

void ibsa_topology_info_get_sized(const struct ibsa_topology *topology,
				  struct ibsa_topology_info *out, size_t size)
{
	ibsa__sized_write(out, size, &topology->info, sizeof(topology->info));
}

int ibsa_topology_node_at_sized(const struct ibsa_topology *topology,
				size_t index, struct ibsa_topology_node *out,
				size_t size)
{
	const struct graph_node *node;
	struct ibsa_topology_node found;

	if (index >= topology->node_count)
		return -ENOENT;
	node = &topology->nodes[index];
	found = (struct ibsa_topology_node){
		.name = topology->names + node->name,
		.guid = node->guid,
		.system_guid = node->system_guid,
		.vendor_id = node->vendor_id,
		.device_id = node->device_id,
		.revision = node->revision,
		.type = node->type,
		.port_count = node->port_count,
		.has_enhanced_port0 = node->has_enhanced_port0,
		.level = node->level,
		.island = node->island,
	};
	ibsa__sized_write(out, size, &found, sizeof(found));
	return 0;
}

static uint32_t bits_count(uint64_t word)
{
	return (uint32_t)__builtin_popcountll(word);
}

uint32_t ibsa__topology_port(const struct graph_node *node, unsigned int number)
{
	uint32_t index = node->first_port;

	for (unsigned int i = 0; i < number / 64; i++)
		index += bits_count(node->known[i]);
	return index + bits_count(node->known[number / 64] &
				  ((UINT64_C(1) << number % 64) - 1));
}

/* Fill the members of @out that describe the other end of a port's link. */
static void far_fill(const struct ibsa_topology *topology,
		     const struct graph_port *port,
		     struct ibsa_topology_port *out)
{
	const struct graph_port *far = &topology->ports[port->far];
	const bool is_mutual = &topology->ports[far->far] == port;

	out->has_link = true;
	out->is_one_end = !port->is_claimed || !far->is_claimed || !is_mutual;
	out->far_node = far->node;
	out->far_port = far->number;
	out->lanes_common = (uint8_t)ibsa__lanes_of_width(
		ibsa__width_most(port->is.widths & far->is.widths));
	out->speed_common = ibsa__speed_name(
		ibsa__speed_most(port->is.speeds & far->is.speeds));
}

int ibsa_topology_port_at_sized(const struct ibsa_topology *topology,
				size_t node, unsigned int number,
				struct ibsa_topology_port *out, size_t size)
{
	const struct graph_port *port;
	struct ibsa_topology_port found;

	if (node >= topology->node_count || number > UINT8_MAX ||
	    !port_is_known(&topology->nodes[node], number))
		return -ENOENT;
	port = &topology->ports[ibsa__topology_port(&topology->nodes[node],
						    number)];
	found = (struct ibsa_topology_port){
		.number = number,
		.guid = port->guid,
		.lid = port->is.lid,
		.lmc = port->is.lmc,
		.has_info = port->has_info,
		.state = port->is.state,
		.phys_state = port->is.phys_state,
		.mtu = port->is.mtu,
		.rate = ibsa__rate_code(ibsa__rate_rank(port->is.rate.width,
							port->is.rate.speed)),
		.lanes = (uint8_t)ibsa__lanes_of_width(port->is.rate.width),
		.speed = ibsa__speed_name(port->is.rate.speed),
		.lanes_supported = (uint8_t)ibsa__lanes_of_width(
			ibsa__width_most(port->is.widths)),
		.speed_supported =
			ibsa__speed_name(ibsa__speed_most(port->is.speeds)),
		.speed_common = "",
	};
	if (port->far != TOPOLOGY_NONE)
		far_fill(topology, port, &found);
	ibsa__sized_write(out, size, &found, sizeof(found));
	return 0;
}

/* Find the index of the first node with this GUID. */
int ibsa_topology_node_find(const struct ibsa_topology *topology, uint64_t guid,
			    size_t *out_index)
{
	size_t low = 0;
	size_t high = topology->node_count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (topology->nodes[mid].guid < guid)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == topology->node_count || topology->nodes[low].guid != guid)
		return -ENOENT;
	*out_index = low;
	return 0;
}

int ibsa_topology_lid_find(const struct ibsa_topology *topology, uint32_t lid,
			   size_t *out_node, unsigned int *out_port)
{
	const struct graph_port *port;

	if (!lid || lid >= topology->end_count || !topology->ends[lid])
		return -ENOENT;
	port = &topology->ports[topology->ends[lid] - 1];
	*out_node = port->node;
	*out_port = port->number;
	return 0;
}
