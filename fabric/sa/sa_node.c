/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries for NodeRecords and for the SA's ClassPortInfo.
 *
 * Source: IBA vol 1, 15.2.5.2 (NodeRecord), 13.4.8.1 and 15.2.5.1
 * (ClassPortInfo).
 */
#include "fabric/sa/sa.h"
#include "fabric/node/sma.h"

/*
 * The capabilities in the ClassPortInfo of OpenSM: IBA vol 1, tables 126 and
 * 186.
 */
enum {
	CAPABILITY_MASK = 0x2602,
	CAPABILITY_MASK2 = 0xb5e8,
	RESP_TIME_VALUE = 16,
};

/*
 * The capabilities in the ClassPortInfo of an Omni-Path SA: multicast,
 * capability masks in PortInfo queries, full PortInfo. For Linux,
 * CAP2_OPA_PATHS means support of Omni-Path PathRecords.
 */
enum {
	CAPABILITY_MASK_OPA = 0x2200,
	CAPABILITY_MASK2_OPA = 0x0000040,
	CAP2_OPA_PATHS = 1 << 26,
};

/*
 * Answer a request for ClassPortInfo: it has a single record, and only Get is
 * allowed.
 */
static void class_port_info_put(struct sa_work *work, const void *info)
{
	if (work->method == IBSA_METHOD_GET)
		ibsa__sa_append(work, info);
	else
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
}

void ibsa__sa_class_port_info(struct sa_work *work)
{
	const struct ibsa_class_port_info info = {
		.base_version = 1,
		.class_version = IBSA_CLASS_VERSION,
		.capability_mask = CAPABILITY_MASK,
		.capability_mask2 = CAPABILITY_MASK2,
		.resp_time_value = RESP_TIME_VALUE,
		.redirect_qp = IBSA_QPN_GSI,
		.redirect_qkey = IBSA_QKEY_GSI,
		.trap_qkey = IBSA_QKEY_GSI,
	};

	class_port_info_put(work, &info);
}

void ibsa__sa_opa_class_port_info(struct sa_work *work)
{
	const struct ibsa_opa_class_port_info info = {
		.base_version = IBSA_CLASS_VERSION_OPA,
		.class_version = IBSA_CLASS_VERSION_OPA,
		.capability_mask = CAPABILITY_MASK_OPA,
		.capability_mask2 = CAPABILITY_MASK2_OPA |
				    (work->sa->has_opa_paths ? CAP2_OPA_PATHS
							     : 0),
		.resp_time_value = RESP_TIME_VALUE,
		.redirect_qp = IBSA_QPN_GSI,
		.redirect_qkey = IBSA_QKEY_GSI,
		.trap_qkey = IBSA_QKEY_GSI,
	};

	class_port_info_put(work, &info);
}

/* Compare descriptions up to the first NUL. */
static bool has_description(const struct sa_work *work,
			    const struct ibsa_node *node)
{
	return !sa_has_any(work, IBSA_NODE_CM(node_description)) ||
	       !strcmp(node->node_description,
		       work->want->node.node_description);
}

static void node_add(struct sa_work *work, const struct sa_match *match,
		     const struct end_port *end)
{
	struct ibsa_node row;

	if (!sa_may_know_port(work, end_topo_port(work->subnet, end)))
		return;
	ibsa__node_info(work->subnet, end, &row);
	if (ibsa__sa_agree(match, &row, work->want) &&
	    has_description(work, &row))
		ibsa__sa_append(work, &row);
}

/* Add all end ports of a node. */
static void node_add_ports(struct sa_work *work, const struct sa_match *match,
			   const struct topo_node *node)
{
	const struct subnet *subnet = work->subnet;

	for (uint32_t i = 0; i <= node->port_count; i++) {
		const struct topo_port *port =
			&subnet->topo.ports[node->first_port + i];

		if (subnet_port_lid(subnet, port))
			node_add(work, match, &subnet->ends[port->end]);
	}
}

void ibsa__sa_node(struct sa_work *work)
{
	const struct subnet *subnet = work->subnet;
	const uint64_t special = IBSA_NODE_CM(lid) |
				 IBSA_NODE_CM(node_description);
	struct sa_match match;
	size_t i;

	if (!ibsa__sa_is_query(work))
		return;
	/*
	 * The LID field is not compared as a number: each LID of a port with
	 * an LMC selects its record.
	 */
	ibsa__sa_select(&ibsa_node_record, work->mask & ~special, &match);
	if (sa_has_any(work, IBSA_NODE_CM(lid))) {
		const struct end_port *end = end_by_lid(
			subnet, lid_in_16_bits(work->want->node.lid));

		if (end)
			node_add(work, &match, end);
		return;
	}
	while (sa_next(work, subnet->topo.node_count, &i))
		node_add_ports(work, &match,
			       &subnet->topo.nodes[subnet->nodes_by_guid[i]]);
}
