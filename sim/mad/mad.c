/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs between ports of the fabric, on one way with the faults of all. One
 * that nothing delays arrives within the call that sends it.
 */
#include "sim/mad/port.h"
#include "sim/subnet/fabric.h"

void ibsa__mads_init(struct ibsa_fabric *fabric)
{
	fabric->mads.fabric = fabric;
	fabric->mads.pool = &fabric->mads.queue;
}

void ibsa__mads_done(struct ibsa_fabric *fabric)
{
	ibsa__way_done(&fabric->mads);
}

struct message *ibsa__mad_new(struct ibsa_fabric *fabric)
{
	return ibsa__queue_new(fabric->mads.pool);
}

void ibsa__drop(struct ibsa_fabric *fabric, enum ibsa_drop_reason reason)
{
	fabric->stats.drops[reason]++;
}

/* It has left its port, and goes as far as it comes. */
static void arrive(struct ibsa_fabric *fabric, struct message *message,
		   uint64_t now_ns)
{
	const bool is_direct = message->body.bytes[MAD_CLASS] ==
			       CLASS_SMP_DIRECT;
	struct arrival at;

	if (!is_direct && message->mad.dlid >= IBSA_LID_MULTICAST_MIN &&
	    !fabric->is_opa)
		ibsa__mad_fan_out(fabric, message, now_ns);
	else if (is_direct ? ibsa__mad_direct(fabric, message, &at)
			   : ibsa__mad_forward(fabric, message,
					       message->mad.dlid, &at))
		ibsa__mad_deliver(fabric, message, &at, now_ns);
	ibsa__queue_release(fabric->mads.pool, message);
}

void ibsa__mad_post(struct ibsa_fabric *fabric, struct message *message,
		    uint64_t now_ns)
{
	struct way *way = &fabric->mads;

	if (fabric->mad_tap.seen)
		fabric->mad_tap.seen(fabric->mad_tap.arg, message, now_ns);
	if (message->due_ns <= now_ns && !way->held &&
	    !ibsa__way_is_faulty(fabric)) {
		arrive(fabric, message, now_ns);
		return;
	}
	/* Without memory it is as if it had been lost. */
	(void)!ibsa__way_carry(way, message);
	ibsa__mads_settle(fabric, now_ns);
}

struct message *ibsa__mad_answer(struct ibsa_fabric *fabric,
				 const struct message *request, uint32_t port,
				 uint64_t now_ns)
{
	const struct sim_mad *asked = &request->mad;
	const struct topo_port *at = &fabric->topo.ports[port];
	const struct end_setup *setup = &fabric->setups[at->end];
	struct message *answer = ibsa__mad_new(fabric);

	if (!answer)
		return NULL;
	answer->mad = (struct sim_mad){
		.from = port,
		.slid = asked->dlid,
		.dlid = asked->slid,
		.src_qpn = asked->dst_qpn,
		.dst_qpn = asked->src_qpn,
		.pkey = setup_pkey(setup, ibsa__pkey_index(setup, asked->pkey)),
		.sl = asked->sl,
		.has_grh = asked->has_grh,
		.sgid = asked->dgid,
		.dgid = asked->sgid,
		.flow_label = asked->flow_label,
		.traffic_class = asked->traffic_class,
		.hop_limit = asked->hop_limit,
	};
	answer->due_ns = now_ns + fabric->latency_ns;
	return answer;
}

static void handlers_settle(const struct ibsa_fabric *fabric, uint64_t now_ns)
{
	const struct port_handler *handler = fabric->handlers;

	for (; handler; handler = handler->next) {
		if (handler->settle)
			handler->settle(handler->arg, now_ns);
	}
}

/* Reports are sent before what is due later, and answers end them. */
static void settle(struct ibsa_fabric *fabric, uint64_t now_ns)
{
	struct message *message;

	while ((message = ibsa__way_take(&fabric->mads, now_ns))) {
		handlers_settle(fabric, message->due_ns);
		arrive(fabric, message, message->due_ns);
	}
	handlers_settle(fabric, now_ns);
}

/* What is sent meanwhile does not go deeper: it arrives one by one. */
void ibsa__mads_settle(struct ibsa_fabric *fabric, uint64_t now_ns)
{
	const struct message *first;

	if (fabric->is_settling)
		return;
	fabric->is_settling = true;
	do {
		settle(fabric, now_ns);
		first = way_head(&fabric->mads);
	} while (first && first->due_ns <= now_ns);
	fabric->is_settling = false;
}

uint64_t ibsa__mads_due(const struct ibsa_fabric *fabric, uint32_t end)
{
	const struct message *first = way_head(&fabric->mads);
	const struct port_handler *handler = fabric->handlers;
	uint64_t due_ns = first ? first->due_ns : UINT64_MAX;

	for (; handler; handler = handler->next) {
		const uint64_t next_ns =
			handler->due ? handler->due(handler->arg, end)
				     : UINT64_MAX;

		if (next_ns < due_ns)
			due_ns = next_ns;
	}
	return due_ns;
}
