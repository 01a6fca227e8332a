/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NodeRecord and ClassPortInfo.
 *
 * Source: IBA vol 1, 15.2.5.2 (NodeRecord), 13.4.8.1 and 15.2.5.1
 * (ClassPortInfo).
 */
#include "sim/sa/sa.h"
#include "sim/node/sma.h"

/* What OpenSM says of itself: IBA vol 1, tables 126 and 186. */
enum {
	CAPABILITY_MASK = 0x2602,
	CAPABILITY_MASK2 = 0xb5e8,
	RESP_TIME_VALUE = 16,
};

/*
 * Of Omni-Path: multicast and capability masks in PortInfo queries; full
 * PortInfo. The last is what Linux takes for "knows OpaPathRecords".
 */
enum {
	CAPABILITY_MASK_OPA = 0x2200,
	CAPABILITY_MASK2_OPA = 0x0000040,
	CAP2_OPA_PATHS = 1 << 26,
};

/* The one record that there is, by Get alone. */
static void answer_get(struct sa_work *work, const struct ibsa_record *record,
		       const void *info)
{
	uint8_t *out;
	uint64_t over;

	if (work->method != IBSA_METHOD_GET) {
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
		return;
	}
	out = ibsa__sa_add(work);
	if (out)
		record->encode(info, out, &over);
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

	answer_get(work, &ibsa_class_port_info_record, &info);
}

void ibsa__sa_opa_class_port_info(struct sa_work *work)
{
	const struct ibsa_opa_class_port_info info = {
		.base_version = IBSA_CLASS_VERSION_OPA,
		.class_version = IBSA_CLASS_VERSION_OPA,
		.capability_mask = CAPABILITY_MASK_OPA,
		.capability_mask2 =
			CAPABILITY_MASK2_OPA |
			(work->fabric->has_opa_paths ? CAP2_OPA_PATHS : 0),
		.resp_time_value = RESP_TIME_VALUE,
		.redirect_qp = IBSA_QPN_GSI,
		.redirect_qkey = IBSA_QKEY_GSI,
		.trap_qkey = IBSA_QKEY_GSI,
	};

	answer_get(work, &ibsa_opa_class_port_info_record, &info);
}

/* Descriptions are the same up to a NUL. */
static bool has_description(const struct sa_work *work, const uint8_t *wire)
{
	enum {
		AT_DESCRIPTION = 44,
		DESCRIPTION_BYTES = 64,
	};

	return !(work->mask & IBSA_NODE_CM(node_description)) ||
	       !strncmp((const char *)wire + AT_DESCRIPTION,
			(const char *)work->want + AT_DESCRIPTION,
			DESCRIPTION_BYTES);
}

static void add_node(struct sa_work *work, const struct sa_filter *filter,
		     const struct end_port *end)
{
	uint8_t wire[SA_RECORD_BYTES_MAX];
	struct ibsa_node host;
	uint8_t *record;
	uint64_t over;

	if (!sa_may_know_port(work, end_topo_port(work->fabric, end)))
		return;
	ibsa__node_info(work->fabric, end, &host);
	ibsa_node_record.encode(&host, wire, &over);
	if (!ibsa__sa_matches(filter, work, wire) ||
	    !has_description(work, wire))
		return;
	record = ibsa__sa_add(work);
	if (record)
		memcpy(record, wire, ibsa_node_record.size);
}

/* All of a node's end ports. */
static void add_ports(struct sa_work *work, const struct sa_filter *filter,
		      const struct topo_node *node)
{
	const struct ibsa_fabric *fabric = work->fabric;

	for (uint32_t i = 0; i <= node->port_count; i++) {
		const struct topo_port *port =
			&fabric->topo.ports[node->first_port + i];

		if (port->lid)
			add_node(work, filter, &fabric->ends[port->end]);
	}
}

void ibsa__sa_node(struct sa_work *work)
{
	const struct ibsa_fabric *fabric = work->fabric;
	const uint64_t special = IBSA_NODE_CM(lid) |
				 IBSA_NODE_CM(node_description);
	const bool by_lid = work->mask & IBSA_NODE_CM(lid);
	struct sa_filter filter;

	if (!ibsa__sa_is_query(work))
		return;
	/* A LID means its port with any LMC, so it is no matter of bits. */
	ibsa__sa_filter(&ibsa_node_record, ~special, work, &filter);
	if (by_lid) {
		const uint16_t lid = (uint16_t)IBSA_GET(node, lid, work->want);
		const struct end_port *end = end_by_lid(fabric,
							lid_in_16_bits(lid));

		if (end)
			add_node(work, &filter, end);
		return;
	}
	for (uint32_t i = 0; i < fabric->topo.node_count; i++) {
		const uint32_t node = fabric->nodes_by_guid[i];

		if (sa_is_full(work))
			return;
		add_ports(work, &filter, &fabric->topo.nodes[node]);
	}
}
