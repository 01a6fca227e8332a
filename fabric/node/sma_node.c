/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SMPs for NodeDescription, NodeInfo, GUIDInfo, and SMInfo of the embedded SM.
 *
 * Source: IBA vol 1, 14.2.5.2, 14.2.5.3 and 14.2.5.5.
 */
#include <string.h>

#include "fabric/mad/queue.h"
#include "fabric/node/sma.h"

/* Offsets of NodeInfo and NodeDescription in a NodeRecord, in bytes. */
enum {
	NODE_INFO_AT = 4,
	DESCRIPTION_AT = 44,
	NODE_INFO_BYTES = 40,
	NODE_RECORD_BYTES = 112,
};

static void node_record_encode(const struct smp *smp,
			       uint8_t wire[NODE_RECORD_BYTES])
{
	struct ibsa_node host;
	uint64_t over;

	ibsa__node_info(smp->nodes->subnet,
			&smp->nodes->subnet->ends[smp->port->end], &host);
	host.local_port_num = smp->number;
	ibsa_node_record.encode(&host, wire, &over);
}

void ibsa__sma_node_description(struct smp *smp)
{
	uint8_t wire[NODE_RECORD_BYTES];

	node_record_encode(smp, wire);
	memcpy(smp->data, wire + DESCRIPTION_AT, SMP_DATA_BYTES);
}

void ibsa__sma_node_info(struct smp *smp)
{
	uint8_t wire[NODE_RECORD_BYTES];

	node_record_encode(smp, wire);
	memset(smp->data, 0, SMP_DATA_BYTES);
	memcpy(smp->data, wire + NODE_INFO_AT, NODE_INFO_BYTES);
}

/*
 * Set an entry of a port's GUID table to an alias GUID, or clear it if @guid
 * is 0. A GUID that any port already has is refused. @entry is not 0: entry 0
 * cannot be set.
 */
static void guid_set(struct smp *smp, unsigned int entry, uint64_t guid)
{
	struct subnet *subnet = smp->nodes->subnet;
	struct aliases *aliases = &subnet->aliases;
	const uint64_t own = smp->port->guid;
	struct guid_table *table = ibsa__aliases_table(aliases, own);
	int err = 0;

	if ((table ? table->guids[entry] : 0) == guid)
		return;
	if (guid && (map_find(&subnet->end_of_guid, guid) != NO_INDEX ||
		     ibsa__aliases_find(aliases, guid))) {
		smp->status = SMP_INVALID;
		return;
	}
	table = ibsa__aliases_make(aliases, own);
	if (!table)
		err = -1;
	else if (guid)
		err = ibsa__aliases_set(aliases, table, entry, guid);
	else
		ibsa__aliases_clear(aliases, table, entry);
	if (err)
		smp->status = SMP_BUSY;
}

void ibsa__sma_guid_info(struct smp *smp)
{
	const bool is_switch = smp->node->type == IBSA_NODE_SWITCH;
	const uint32_t first = smp->modifier * GUIDS_PER_BLOCK;
	const struct guid_table *table;

	if (smp->modifier >=
	    (is_switch ? 1 : GUID_CAP_ADAPTER / GUIDS_PER_BLOCK)) {
		smp->status = SMP_INVALID;
		return;
	}
	for (uint32_t i = 0; smp->is_set && !is_switch && i < GUIDS_PER_BLOCK;
	     i++) {
		if (first + i)
			guid_set(smp, first + i, ibsa_be64(smp->data + 8 * i));
	}
	table = ibsa__aliases_table(&smp->nodes->subnet->aliases,
				    smp->port->guid);
	memset(smp->data, 0, SMP_DATA_BYTES);
	for (uint32_t i = 0; table && i < GUIDS_PER_BLOCK; i++)
		ibsa_put_be64(smp->data + 8 * i, table->guids[first + i]);
	if (!first)
		ibsa_put_be64(smp->data, smp->port->guid);
}

/* Answer a Get with the SMInfo of the embedded SM. IBA vol 1, 14.2.5.13. */
static void sm_info_answer(struct nodes *nodes, const struct message *message,
			   const struct arrival *at, uint64_t now_ns)
{
	/*
	 * The SM_Key that is OpenSM's default; OpenSM ignores SMs with other
	 * SM_Keys.
	 */
	enum { SM_KEY = 1 };
	struct ibsa_sm_info have = {
		.guid = nodes->subnet->topo.ports[at->port].guid,
		.sm_key = SM_KEY,
		.priority = SM_PRIORITY,
		.sm_state = SM_STATE_MASTER,
	};
	struct message *reply = ibsa__mad_answer(nodes->net, message, at->port,
						 now_ns);

	/* Without memory, the answer is lost. */
	if (!reply)
		return;
	memcpy(reply->body.bytes, message->body.bytes, IBSA_MAD_BYTES);
	reply->body.len = IBSA_MAD_BYTES;
	have.act_count = ++nodes->sm_act_count;
	SMA_ENCODE(sm_info, guid, &have, reply->body.bytes + SMP_DATA);
	reply->body.bytes[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	if (reply->body.bytes[MAD_CLASS] == CLASS_SMP_DIRECT)
		reply->body.bytes[MAD_STATUS] = 0x80;
	ibsa__mad_post(nodes->net, reply, now_ns);
}

bool ibsa__sma_take_sm_info(void *arg, const struct message *message,
			    const struct arrival *at, uint64_t now_ns)
{
	struct nodes *nodes = arg;
	const uint8_t *mad = message->body.bytes;

	if (!mad_is_smp(mad) || mad[MAD_METHOD] != IBSA_METHOD_GET ||
	    ibsa_be16(mad + MAD_ATTRIBUTE) != SMP_SM_INFO ||
	    !nodes->subnet->sa_running ||
	    nodes->subnet->topo.ports[at->port].end != nodes->subnet->sa_end)
		return false;
	sm_info_answer(nodes, message, at, now_ns);
	return true;
}
