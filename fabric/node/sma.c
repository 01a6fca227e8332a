/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subnet management agents of the nodes: they select the SMPs for an agent,
 * check the M_Key, and write the header of the response.
 *
 * Source: IBA vol 1, 14.2.4 (M_Key), 14.2.5 (attributes), 13.4.7 (status).
 */
#include <string.h>

#include "base/clock.h"
#include "fabric/mad/queue.h"
#include "fabric/node/sma.h"

enum {
	STATUS_BAD_VERSION = 0x0004,
	STATUS_DIRECTION = 0x8000,
	PORT_INFO = 0x0015,
};

/*
 * If the M_Key protect bits have at least this value, a Get without the M_Key
 * is not answered.
 */
enum { PROTECT_READ = 2 };

struct attribute {
	uint16_t id;
	bool is_settable;
	bool is_of_switch;
	void (*answer)(struct smp *smp);
};

/* clang-format off */
static const struct attribute attributes[] = {
	{ 0x0010, false, false, ibsa__sma_node_description },
	{ 0x0011, false, false, ibsa__sma_node_info },
	{ 0x0012, true,  true,  ibsa__sma_switch_info },
	{ 0x0014, true,  false, ibsa__sma_guid_info },
	{ 0x0015, true,  false, ibsa__sma_port_info },
	{ 0x0016, true,  false, ibsa__sma_pkey_table },
	{ 0x0017, true,  false, ibsa__sma_sl_to_vl },
	{ 0x0018, true,  false, ibsa__sma_vl_arbitration },
	{ 0x0019, true,  true,  ibsa__sma_linear_forwarding },
	{ 0x001b, true,  true,  ibsa__sma_multicast_forwarding },
	{ 0xff90, true,  false, ibsa__sma_extended_port_info },
};
/* clang-format on */

void ibsa__sma_encode(const struct ibsa_record *record, size_t at,
		      const void *host, uint8_t *data)
{
	uint8_t wire[SMP_DATA + SMP_DATA_BYTES];
	uint64_t over;

	record->encode(host, wire, &over);
	memset(data, 0, SMP_DATA_BYTES);
	memcpy(data, wire + at, record->size - at);
}

static const struct attribute *find_attribute(const struct smp *smp)
{
	const uint16_t id = ibsa_be16(smp->mad + MAD_ATTRIBUTE);
	const bool is_switch = smp->node->type == IBSA_NODE_SWITCH;
	const size_t count = sizeof(attributes) / sizeof(attributes[0]);

	for (size_t i = 0; i < count; i++) {
		if (attributes[i].id == id)
			return is_switch || !attributes[i].is_of_switch
				       ? &attributes[i]
				       : NULL;
	}
	return NULL;
}

static void smp_answer(struct smp *smp)
{
	const struct attribute *attribute = find_attribute(smp);

	if (smp->mad[MAD_BASE_VERSION] != 1 || smp->mad[MAD_CLASS_VERSION] != 1)
		smp->status = STATUS_BAD_VERSION;
	else if (!attribute || (smp->is_set && !attribute->is_settable))
		smp->status = SMP_UNSUPPORTED;
	else
		attribute->answer(smp);
}

/*
 * If the lease of the M_Key has expired, clear the protect bits: the M_Key
 * protects nothing any more.
 */
static void m_key_end_lease(struct sma_port *sma, uint64_t now_ns)
{
	if (!sma->lease_end_ns || now_ns < sma->lease_end_ns)
		return;
	sma->set.m_key_protect_bits = 0;
	sma->lease_end_ns = 0;
}

static struct sma_port *sma_of(const struct smp *smp)
{
	struct sma_node *node = ibsa__sma_node(smp->nodes, smp->index);

	return node ? &node->ports[smp->port->number] : NULL;
}

/*
 * Handle an SMP with a wrong M_Key: count it, send a trap, and start the
 * M_Key's lease.
 */
static void m_key_note_violation(const struct smp *smp, struct sma_port *sma,
				 const struct message *message)
{
	if (sma->set.m_key_violations < UINT16_MAX)
		sma->set.m_key_violations++;
	if (sma->set.m_key_lease_period && !sma->lease_end_ns)
		sma->lease_end_ns = smp->now_ns +
				    sma->set.m_key_lease_period * NS_PER_S;
	ibsa__trap_m_key(smp->nodes, &smp->nodes->subnet->ends[smp->port->end],
			 message);
}

/*
 * Whether the M_Key allows the SMP. With protect bits 0 and 1, a Get without
 * the M_Key is allowed; with 1, *@shows_key is then false: the response does
 * not contain the M_Key.
 */
static bool smp_is_allowed(const struct smp *smp, const struct message *message,
			   bool *shows_key)
{
	const uint64_t key = ibsa_be64(smp->mad + SMP_M_KEY);
	struct sma_port *sma = sma_of(smp);

	*shows_key = true;
	if (!sma || !sma->set.m_key)
		return true;
	m_key_end_lease(sma, smp->now_ns);
	if (key == sma->set.m_key) {
		sma->lease_end_ns = 0;
		return true;
	}
	*shows_key = !sma->set.m_key_protect_bits;
	if (!smp->is_set && sma->set.m_key_protect_bits < PROTECT_READ)
		return true;
	m_key_note_violation(smp, sma, message);
	return false;
}

static void smp_finish(struct smp *smp, uint8_t *mad, bool shows_key)
{
	uint16_t status = smp->status;

	if (!shows_key && ibsa_be16(mad + MAD_ATTRIBUTE) == PORT_INFO)
		memset(smp->data, 0, sizeof(uint64_t));
	mad[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	if (mad[MAD_CLASS] == CLASS_SMP_DIRECT)
		status |= STATUS_DIRECTION;
	ibsa_put_be16(mad + MAD_STATUS, status);
}

static void smp_process(struct nodes *nodes, const struct message *message,
			const struct arrival *at, uint64_t now_ns)
{
	struct topo_port *port = &nodes->subnet->topo.ports[at->port];
	const uint8_t *mad = message->body.bytes;
	struct smp smp = {
		.nodes = nodes,
		.node = &nodes->subnet->topo.nodes[port->node],
		.port = port,
		.mad = mad,
		.now_ns = now_ns,
		.modifier = ibsa_be32(mad + MAD_MODIFIER),
		.index = port->node,
		.number = at->number,
		.is_set = mad[MAD_METHOD] == IBSA_METHOD_SET,
	};
	struct message *reply;
	bool shows_key;

	if (!smp_is_allowed(&smp, message, &shows_key))
		return;
	reply = ibsa__mad_answer(nodes->net, message, at->port, now_ns);
	/* Without memory, the answer is lost. */
	if (!reply)
		return;
	memcpy(reply->body.bytes, mad, IBSA_MAD_BYTES);
	reply->body.len = IBSA_MAD_BYTES;
	smp.data = reply->body.bytes + SMP_DATA;
	nodes->subnet->changes += smp.is_set;
	smp_answer(&smp);
	smp_finish(&smp, reply->body.bytes, shows_key);
	ibsa__mad_post(nodes->net, reply, now_ns);
}

bool ibsa__sma_take(void *arg, const struct message *message,
		    const struct arrival *at, uint64_t now_ns)
{
	struct nodes *nodes = arg;
	const uint8_t *mad = message->body.bytes;
	const uint32_t end = nodes->subnet->topo.ports[at->port].end;

	if (!mad_is_smp(mad))
		return false;
	if (mad[MAD_METHOD] == METHOD_TRAP_REPRESS) {
		ibsa__trap_repressed(nodes, message, &nodes->subnet->ends[end]);
		return true;
	}
	if (method_is_refused(mad)) {
		ibsa__mad_refuse(nodes->net, message, at->port,
				 IBSA_STATUS_BAD_METHOD, now_ns);
		return true;
	}
	if ((mad[MAD_METHOD] != IBSA_METHOD_GET &&
	     mad[MAD_METHOD] != IBSA_METHOD_SET) ||
	    ibsa_be16(mad + MAD_ATTRIBUTE) == SMP_SM_INFO)
		return false;
	smp_process(nodes, message, at, now_ns);
	return true;
}
