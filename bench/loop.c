/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport for benchmarks that answers every request at once, from memory.
 */
#include <stdlib.h>

#include <ibsa/records.h>

#include "bench.h"
#include "loop.h"

enum { SM_LID = 1, NS_PER_CLOCK_READ = 25 };

static uint64_t loop_now_ns(struct ibsa_transport *transport)
{
	struct loop *loop = (struct loop *)transport;

	return loop->now_ns += NS_PER_CLOCK_READ;
}

static int loop_send(struct ibsa_transport *transport,
		     const struct ibsa_address *to, const uint8_t *mad,
		     size_t len, unsigned int timeout_ms)
{
	struct loop *loop = (struct loop *)transport;

	(void)to;
	(void)len;
	(void)timeout_ms;
	loop->ids[loop->sent++ & loop->mask] = IBSA_GET(sa_header,
							transaction_id, mad);
	return 0;
}

static int loop_recv(struct ibsa_transport *transport, struct ibsa_message *out)
{
	struct loop *loop = (struct loop *)transport;

	if (loop->received == loop->sent)
		return 0;
	ibsa_put_be64(loop->answer + 8,
		      loop->ids[loop->received++ & loop->mask]);
	*out = (struct ibsa_message){
		.from = { .lid = SM_LID, .qpn = IBSA_QPN_GSI },
		.mad = loop->answer,
		.len = sizeof(loop->answer),
	};
	return 1;
}

static int loop_port(struct ibsa_transport *transport,
		     struct ibsa_port_state *out, size_t size)
{
	(void)transport;
	(void)size;
	*out = (struct ibsa_port_state){
		.lid = SM_LID + 1,
		.sm_lid = SM_LID,
		.port_state = IBSA_PORT_ACTIVE,
	};
	return 0;
}

static const struct ibsa_transport_ops loop_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = loop_now_ns,
	.send = loop_send,
	.recv = loop_recv,
	.port = loop_port,
};

static void answer_fill(uint8_t *mad)
{
	const struct ibsa_sa_header header = {
		.base_version = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = IBSA_CLASS_VERSION,
		.method = IBSA_METHOD_GET_RESP,
		.attribute_id = ibsa_path_record.attribute,
		.attribute_offset = ibsa_path_record.size / 8,
	};
	uint64_t over;

	ibsa_sa_header_record.encode(&header, mad, &over);
	BENCH_USE(&over);
}

int loop_init(struct loop *loop, uint64_t size)
{
	*loop = (struct loop){
		.transport.ops = &loop_ops,
		.ids = calloc(size, sizeof(*loop->ids)),
		.mask = size - 1,
	};
	answer_fill(loop->answer);
	return loop->ids ? 0 : -1;
}
