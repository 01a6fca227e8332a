/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Traps, which a node sends to the SM that has configured it, if this SM is
 * outside of the fabric. A trap is sent until the SM represses it, at most
 * TRIES times. Each port has at most one trap of each number; a newer one has
 * another TransactionID, and a repress of the older one does not end it.
 *
 * Source: IBA vol 1, 13.4.9 (repetition), 14.2.5.1 (details); Linux
 * drivers/infiniband/hw/qib/qib_mad.c and rdma/ib_mad.h for trap 256, and
 * drivers/infiniband/hw/hfi1/mad.c for the TransactionID of a repress.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "fabric/mad/queue.h"
#include "fabric/node/sma.h"

enum {
	NOTICE_ATTRIBUTE = 0x0002,
	TRAP_M_KEY = 256,
	TRIES = 10,
	/*
	 * Number of bytes of a notice; an SMP has room for only the first 64.
	 */
	NOTICE_BYTES = 80,
	TYPE_URGENT = 1,
	TYPE_SECURITY = 2,
	TYPE_INFORMATIONAL = 4,
	PATH_BYTES = 30, /* of the return path in trap 256 */
	/* bit of a trap 256: the request was a directed-route SMP */
	DIRECTED = 0x80,
	TRUNCATED = 0x40, /* its path was truncated */
};

/*
 * Time between two tries of a trap: the default response time of a port, 4.096
 * us * 2^18.
 */
#define RETRY_NS (UINT64_C(4096) << 18)

struct trap_sent {
	struct list in_all;
	uint64_t due_ns;
	uint32_t end;
	uint32_t id;
	uint16_t number;
	uint8_t tries;
	uint8_t data[SMP_DATA_BYTES];
};

void ibsa__traps_init(struct nodes *nodes)
{
	list_init(&nodes->traps);
}

static struct trap_sent *trap_of_list(struct list *at)
{
	return list_object(at, struct trap_sent, in_all);
}

static void end_trap(struct trap_sent *trap_sent)
{
	list_remove(&trap_sent->in_all);
	ibsa__free(trap_sent);
}

void ibsa__traps_done(struct nodes *nodes)
{
	while (!list_is_empty(&nodes->traps))
		end_trap(trap_of_list(nodes->traps.next));
}

static struct trap_sent *trap_find(struct nodes *nodes, uint32_t end,
				   uint16_t number)
{
	struct list *at = nodes->traps.next;

	for (; at != &nodes->traps; at = at->next) {
		if (trap_of_list(at)->end == end &&
		    trap_of_list(at)->number == number)
			return trap_of_list(at);
	}
	return NULL;
}

/* Send a trap from the port to its SM. */
static void trap_send(struct mad_net *net, const struct trap_sent *trap_sent,
		      uint64_t now_ns)
{
	const struct end_port *end = &net->subnet->ends[trap_sent->end];
	const struct end_setup *setup = &net->subnet->setups[trap_sent->end];
	struct message *message = ibsa__mad_new(net);
	uint8_t *mad;

	/* Without memory, the trap is lost. */
	if (!message)
		return;
	message->mad = (struct mad_headers){
		.from = end->port,
		.slid = end->lid,
		.dlid = setup->sm_lid,
		.sl = setup->sm_sl,
	};
	message->due_ns = now_ns;
	message->body.len = IBSA_MAD_BYTES;
	mad = message->body.bytes;
	memset(mad, 0, IBSA_MAD_BYTES);
	mad[MAD_BASE_VERSION] = 1;
	mad[MAD_CLASS] = CLASS_SMP_LID;
	mad[MAD_CLASS_VERSION] = 1;
	mad[MAD_METHOD] = METHOD_TRAP;
	ibsa_put_be32(mad + MAD_TID + 4, trap_sent->id);
	ibsa_put_be16(mad + MAD_ATTRIBUTE, NOTICE_ATTRIBUTE);
	memcpy(mad + SMP_DATA, trap_sent->data, SMP_DATA_BYTES);
	ibsa__mad_post(net, message, now_ns);
}

/*
 * Send a trap and append it to the list, which is in order of time because all
 * intervals are equal.
 */
static void trap_send_and_wait(struct nodes *nodes, struct trap_sent *trap_sent,
			       uint64_t now_ns)
{
	trap_sent->tries++;
	trap_sent->due_ns = now_ns + RETRY_NS;
	list_remove(&trap_sent->in_all);
	list_append(&nodes->traps, &trap_sent->in_all);
	trap_send(nodes->net, trap_sent, now_ns);
}

/*
 * Whether the SM that has configured the port is outside of the fabric: the
 * embedded SM does not need traps.
 */
static bool port_has_outer_sm(const struct subnet *subnet, uint32_t end)
{
	const uint32_t sm_lid = subnet->setups[end].sm_lid;

	return subnet->ends[end].lid && sm_lid &&
	       (!subnet->sa_running ||
		sm_lid != subnet->ends[subnet->sa_end].lid);
}

static void trap_post(struct nodes *nodes, uint32_t end,
		      const struct ibsa_notice *notice)
{
	struct trap_sent *trap_sent = trap_find(nodes, end,
						notice->trap_number);
	uint8_t wire[NOTICE_BYTES];
	uint64_t over;

	if (!trap_sent) {
		trap_sent = ibsa__calloc(1, sizeof(*trap_sent));
		if (!trap_sent)
			return;
		list_init(&trap_sent->in_all);
		trap_sent->end = end;
		trap_sent->number = notice->trap_number;
	}
	trap_sent->id = ++nodes->trap_ids;
	trap_sent->tries = 0;
	ibsa_notice_record.encode(notice, wire, &over);
	memcpy(trap_sent->data, wire, SMP_DATA_BYTES);
	trap_send_and_wait(nodes, trap_sent,
			   fabric_clock_now(nodes->subnet->clock));
}

static struct ibsa_notice notice_start(const struct subnet *subnet,
				       const struct end_port *end, uint8_t type,
				       uint16_t number)
{
	return (struct ibsa_notice){
		.is_generic = 1,
		.type = type,
		.producer_type = end_topo_node(subnet, end)->type,
		.trap_number = number,
		.issuer_lid = lid_in_16_bits(end->lid),
	};
}

static void trap_link(struct nodes *nodes, const struct end_port *end)
{
	struct ibsa_notice notice = notice_start(nodes->subnet, end,
						 TYPE_URGENT, TRAP_LINK_STATE);
	const uint32_t index = (uint32_t)(end - nodes->subnet->ends);

	if (!port_has_outer_sm(nodes->subnet, index))
		return;
	ibsa_put_be16(notice.data_details, notice.issuer_lid);
	trap_post(nodes, index, &notice);
}

void ibsa__trap_capabilities(struct nodes *nodes, const struct end_port *end)
{
	struct ibsa_notice notice = notice_start(
		nodes->subnet, end, TYPE_INFORMATIONAL, TRAP_LOCAL_CHANGES);
	const uint32_t index = (uint32_t)(end - nodes->subnet->ends);

	if (!port_has_outer_sm(nodes->subnet, index))
		return;
	ibsa_put_be16(notice.data_details + 2, notice.issuer_lid);
	ibsa_put_be32(notice.data_details + 6,
		      ibsa__port_capabilities(nodes->subnet, end));
	trap_post(nodes, index, &notice);
}

/*
 * Send trap 256 (wrong M_Key): requester, method, attribute, M_Key and return
 * path.
 */
void ibsa__trap_m_key(struct nodes *nodes, const struct end_port *end,
		      const struct message *tried)
{
	struct ibsa_notice notice = notice_start(nodes->subnet, end,
						 TYPE_SECURITY, TRAP_M_KEY);
	const uint32_t index = (uint32_t)(end - nodes->subnet->ends);
	const uint8_t *mad = tried->body.bytes;
	uint8_t *details = notice.data_details;
	uint8_t hops;

	if (!port_has_outer_sm(nodes->subnet, index))
		return;
	ibsa_put_be16(details + 2, (uint16_t)tried->mad.slid);
	details[6] = mad[MAD_METHOD];
	memcpy(details + 8, mad + MAD_ATTRIBUTE, 2);
	memcpy(details + 10, mad + MAD_MODIFIER, 4);
	memcpy(details + 14, mad + SMP_M_KEY, 8);
	if (mad[MAD_CLASS] == CLASS_SMP_DIRECT) {
		hops = mad[SMP_HOP_COUNT] < PATH_BYTES ? mad[SMP_HOP_COUNT]
						       : PATH_BYTES;
		memcpy(details + 4, mad + SMP_DR_SLID, 2);
		details[23] =
			(uint8_t)(DIRECTED | hops |
				  (hops < mad[SMP_HOP_COUNT] ? TRUNCATED : 0));
		memcpy(details + 24, mad + SMP_RETURN_PATH + 1, hops);
	}
	trap_post(nodes, index, &notice);
}

void ibsa__trap_repressed(struct nodes *nodes, const struct message *message,
			  const struct end_port *end)
{
	const uint32_t index = (uint32_t)(end - nodes->subnet->ends);
	const uint64_t id = ibsa_be64(message->body.bytes + MAD_TID);
	struct list *at = nodes->traps.next;

	for (; at != &nodes->traps; at = at->next) {
		if (trap_of_list(at)->end == index &&
		    trap_of_list(at)->id == id) {
			end_trap(trap_of_list(at));
			return;
		}
	}
}

void ibsa__traps_settle(void *arg, uint64_t now_ns)
{
	struct nodes *nodes = arg;

	while (!list_is_empty(&nodes->traps)) {
		struct trap_sent *trap_sent = trap_of_list(nodes->traps.next);

		if (trap_sent->due_ns > now_ns)
			return;
		if (trap_sent->tries == TRIES ||
		    !port_has_outer_sm(nodes->subnet, trap_sent->end))
			end_trap(trap_sent);
		else
			trap_send_and_wait(nodes, trap_sent, trap_sent->due_ns);
	}
}

uint64_t ibsa__traps_due(void *arg, uint32_t end)
{
	const struct nodes *nodes = arg;

	(void)end;
	if (list_is_empty(&nodes->traps))
		return UINT64_MAX;
	return trap_of_list(nodes->traps.next)->due_ns;
}

void ibsa__traps_observe(void *arg, const struct subnet_change *change)
{
	if (change->kind == CHANGE_LINK)
		trap_link(arg, change->end);
	else if (change->kind == CHANGE_CAPABILITIES)
		ibsa__trap_capabilities(arg, change->end);
}
