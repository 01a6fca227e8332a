/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes multicast forwarding tables: packets of a group follow the unicast
 * routes from its members to its first member. Together, these routes form a
 * tree.
 *
 * Source: IBA vol 1, 14.2.5.12 (MulticastForwardingTable).
 */
#include <string.h>

#include "fabric/sa/multicast.h"

/* One block of a switch's multicast forwarding table while it is computed. */
struct mft_block {
	struct subnet *subnet;
	const struct topo_node *node;
	/* The first port of the MFT_POSITION_PORTS ports in this block. */
	unsigned int first_port;
	uint16_t mask;
	/*
	 * The switch forwards packets of at least one group whose MLID is in
	 * this block.
	 */
	bool is_used;
};

/* Whether a member receives packets: a send-only member does not. */
static bool member_receives(const struct member *member)
{
	enum { JOIN_RECEIVES = 3 };

	return member->join_state & JOIN_RECEIVES;
}

static void port_mark(struct mft_block *to, unsigned int port)
{
	to->is_used = true;
	if (port >= to->first_port &&
	    port - to->first_port < MFT_POSITION_PORTS)
		to->mask |= (uint16_t)(1 << (port - to->first_port));
}

/*
 * Return: the number of the switch port to which a member of the group is
 * connected; 0 if the member is the switch itself.
 */
static uint8_t port_towards(const struct subnet *subnet,
			    const struct end_port *end)
{
	const struct topo_port *port = end_topo_port(subnet, end);

	if (!port->number || port->peer == NO_INDEX)
		return 0;
	return subnet->topo.ports[port->peer].number;
}

/*
 * Follow the route from a switch to the tree's root by one hop. Return: the
 * exit port of the switch, or 0.
 */
static uint8_t route_step(struct subnet *subnet, uint32_t *node, uint32_t lid)
{
	const struct topo_node *at = &subnet->topo.nodes[*node];
	const uint8_t exit = ibsa__route_exit(subnet, at, lid);
	uint32_t peer;

	if (!exit || exit > at->port_count)
		return 0;
	peer = subnet->topo.ports[at->first_port + exit].peer;
	if (peer == NO_INDEX)
		return 0;
	*node = subnet->topo.ports[peer].node;
	return subnet->topo.nodes[*node].type == IBSA_NODE_SWITCH ? exit : 0;
}

static uint32_t switch_of(const struct subnet *subnet,
			  const struct end_port *end)
{
	const struct topo_port *port = end_topo_port(subnet, end);

	return port->number ? subnet->topo.ports[port->peer].node : port->node;
}

/*
 * Mark the ports by which the switch forwards packets from one member of the
 * group.
 */
static void add_member(struct mft_block *to, const struct end_port *end,
		       bool receives, const struct end_port *root)
{
	struct subnet *subnet = to->subnet;
	const uint32_t self = (uint32_t)(to->node - subnet->topo.nodes);
	uint32_t node = switch_of(subnet, end);

	if (node == self && receives)
		port_mark(to, port_towards(subnet, end));
	for (uint32_t hops = 0; hops < subnet->topo.switch_count; hops++) {
		const uint32_t before = node;
		const uint8_t exit = route_step(subnet, &node, root->lid);
		const struct topo_node *from = &subnet->topo.nodes[before];

		if (!exit)
			return;
		if (before == self)
			port_mark(to, exit);
		if (node == self)
			port_mark(
				to,
				subnet->topo
					.ports[subnet->topo
						       .ports[from->first_port +
							      exit]
						       .peer]
					.number);
	}
}

/*
 * Return: the end port of a group's member, if it is connected to a switch and
 * in the subnet; otherwise NULL.
 */
static const struct end_port *member_end(const struct subnet *subnet,
					 const struct member *member)
{
	const struct end_port *end = end_by_guid(subnet, member->port_guid);

	return end && end->leaf != NO_INDEX ? end : NULL;
}

/*
 * Find a port that is a member of the multicast group. Return: false: the group
 * has at most one port, so switches need not forward its packets.
 */
static bool group_has_several_ports(const struct subnet *subnet,
				    const struct group *group,
				    const struct end_port **root)
{
	*root = NULL;
	for (size_t i = 0; i < group->count; i++) {
		const struct end_port *end = member_end(subnet,
							&group->members[i]);

		if (*root && end && end != *root)
			return true;
		if (end)
			*root = end;
	}
	return false;
}

static uint16_t group_mask(struct mft_block *to, const struct group *group)
{
	const struct end_port *root;

	to->mask = 0;
	if (!group_has_several_ports(to->subnet, group, &root))
		return 0;
	for (size_t i = 0; i < group->count; i++) {
		const struct member *member = &group->members[i];
		const struct end_port *end = member_end(to->subnet, member);

		if (end)
			add_member(to, end, member_receives(member), root);
	}
	return to->mask;
}

static uint32_t group_index(const struct group *group)
{
	return group->record.mlid - (uint32_t)IBSA_LID_MULTICAST_MIN;
}

void ibsa__table_mft(struct sa *sa, const struct topo_node *node,
		     uint32_t block, unsigned int position,
		     uint16_t out[MFT_BLOCK_LIDS])
{
	struct mft_block to = {
		.subnet = sa->subnet,
		.node = node,
		.first_port = position * MFT_POSITION_PORTS,
	};
	const struct groups *groups = &sa->groups;

	memset(out, 0, MFT_BLOCK_LIDS * sizeof(*out));
	for (size_t i = 0; i < groups->count; i++) {
		const uint32_t index = group_index(groups->all[i]);

		if (index / MFT_BLOCK_LIDS == block)
			out[index % MFT_BLOCK_LIDS] =
				group_mask(&to, groups->all[i]);
	}
}

uint32_t ibsa__table_mft_blocks(struct sa *sa, const struct topo_node *node)
{
	const struct groups *groups = &sa->groups;
	uint32_t blocks = 0;

	for (size_t i = 0; i < groups->count; i++) {
		struct mft_block to = { .subnet = sa->subnet, .node = node };
		const uint32_t block = group_index(groups->all[i]) /
				       MFT_BLOCK_LIDS;

		if (block < blocks)
			continue;
		(void)group_mask(&to, groups->all[i]);
		if (to.is_used)
			blocks = block + 1;
	}
	return blocks;
}

static void source_block(void *arg, const struct topo_node *node,
			 uint32_t block, unsigned int position, uint16_t *out)
{
	ibsa__table_mft(arg, node, block, position, out);
}

void ibsa__multicast_init(struct sa *sa)
{
	sa->subnet->multicast = (struct multicast_source){
		.block = source_block,
		.arg = sa,
	};
}
