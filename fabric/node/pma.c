/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Performance management agents of the nodes: ClassPortInfo, PortCounters and
 * PortCountersExtended.
 *
 * Source: IBA vol 1, 16.1.3 (attributes).
 */
#include <string.h>

#include <ibsa/records.h>
#include "fabric/mad/counters.h"
#include "fabric/mad/queue.h"
#include "fabric/node/pma.h"

enum {
	CLASS_PORT_INFO = 0x0001,
	PORT_COUNTERS = 0x0012,
	PORT_COUNTERS_EXTENDED = 0x001d,
	PERF_DATA = 64, /* offset of the attribute's data in the MAD */
	PERF_DATA_BYTES = 192,
	ALL_PORTS = 0xff,
	CAP_ALL_PORTS = 1 << 8,
	CAP_EXTENDED = 1 << 9,
	RESP_TIME_VALUE = 18,
	STATUS_BAD_VERSION = 0x0004,
	STATUS_UNSUPPORTED = 0x000c,
	STATUS_INVALID = 0x001c,
};

/*
 * A counter in an attribute: offset and width in bytes, its bit in
 * CounterSelect, and what it counts.
 */
struct field {
	uint8_t at;
	uint8_t bytes;
	uint8_t bit;
	uint8_t what; /* enum counted */
};

/* clang-format off */
static const struct field port_counters[] = {
	{ 7,  1, 2,  COUNT_LINK_DOWNED },
	{ 12, 2, 5,  COUNT_RELAY_ERRORS },
	{ 14, 2, 6,  COUNT_DISCARDS },
	{ 24, 4, 12, COUNT_XMIT_DATA },
	{ 28, 4, 13, COUNT_RCV_DATA },
	{ 32, 4, 14, COUNT_XMIT_PKTS },
	{ 36, 4, 15, COUNT_RCV_PKTS },
};

static const struct field extended_counters[] = {
	{ 8,  8, 0, COUNT_XMIT_DATA },
	{ 16, 8, 1, COUNT_RCV_DATA },
	{ 24, 8, 2, COUNT_XMIT_PKTS },
	{ 32, 8, 3, COUNT_RCV_PKTS },
	{ 40, 8, 4, COUNT_UNICAST_XMIT },
	{ 48, 8, 5, COUNT_UNICAST_RCV },
	{ 56, 8, 6, COUNT_MULTICAST_XMIT },
	{ 64, 8, 7, COUNT_MULTICAST_RCV },
};
/* clang-format on */

/* An attribute with counters. */
struct table {
	const struct field *fields;
	size_t count;
	bool is_extended;
};

static uint64_t *base_of(struct counters *counters, const struct table *table)
{
	return table->is_extended ? counters->base_extended : counters->base;
}

/*
 * Limit a value to the width of its counter: a counter that is too narrow for
 * its value stays at its maximum.
 */
static uint64_t value_limit(uint64_t value, const struct field *field)
{
	const uint64_t most = UINT64_MAX >> (64 - 8 * field->bytes);

	return value < most ? value : most;
}

static uint64_t value_of(struct counters *counters, const struct table *table,
			 const struct field *field)
{
	return value_limit(counters->total[field->what] -
				   base_of(counters, table)[field->what],
			   field);
}

static uint64_t number_get(const uint8_t *bytes, uint8_t count)
{
	uint64_t value = 0;

	for (uint8_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

static void number_put(uint8_t *bytes, uint8_t count, uint64_t value)
{
	for (uint8_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(value >> 8 * (count - 1 - i));
}

/* A MAD that is being answered. */
struct request {
	struct nodes *nodes;
	const struct topo_node *node;
	uint8_t *data;
	uint16_t status;
	uint16_t select;
	uint8_t first; /* first and last port */
	uint8_t last;  /* by number */
	bool is_set;
};

static struct counters *counters_of(const struct request *request,
				    uint32_t number)
{
	struct topology *topo = &request->nodes->subnet->topo;

	return ibsa__counters(request->nodes->net,
			      &topo->ports[request->node->first_port + number]);
}

/*
 * Handle a Set: write the values in the MAD, usually 0, to the counters that
 * CounterSelect selects.
 */
static void set_counters(const struct request *request,
			 const struct table *table, struct counters *counters)
{
	uint64_t *base = base_of(counters, table);

	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];

		if (request->select >> field->bit & 1)
			base[field->what] =
				counters->total[field->what] -
				number_get(request->data + field->at,
					   field->bytes);
	}
}

/*
 * Find the ports that a Get or Set selects. Return: false: they do not exist.
 */
static bool choose_ports(struct request *request)
{
	const bool is_switch = request->node->type == IBSA_NODE_SWITCH;
	const uint8_t number = request->data[1];

	if (number == ALL_PORTS && is_switch) {
		request->first = 1;
		request->last = request->node->port_count;
		return true;
	}
	request->first = number;
	request->last = number;
	return number <= request->node->port_count && (number || is_switch);
}

static void answer_counters(struct request *request, const struct table *table)
{
	uint8_t head[4];

	memcpy(head, request->data, sizeof(head));
	request->select = ibsa_be16(request->data + 2);
	if (!choose_ports(request)) {
		request->status = STATUS_INVALID;
		return;
	}
	for (uint32_t i = request->first; request->is_set && i <= request->last;
	     i++) {
		struct counters *counters = counters_of(request, i);

		if (counters)
			set_counters(request, table, counters);
	}
	memset(request->data, 0, PERF_DATA_BYTES);
	memcpy(request->data, head, sizeof(head));
	for (size_t k = 0; k < table->count; k++) {
		const struct field *field = &table->fields[k];
		uint64_t sum = 0;

		for (uint32_t i = request->first; i <= request->last; i++) {
			struct counters *counters = counters_of(request, i);

			if (counters)
				sum += value_of(counters, table, field);
		}
		number_put(request->data + field->at, field->bytes,
			   value_limit(sum, field));
	}
}

static void answer_class_port_info(struct request *request)
{
	const bool is_switch = request->node->type == IBSA_NODE_SWITCH;
	const struct ibsa_class_port_info info = {
		.base_version = 1,
		.class_version = 1,
		.capability_mask = CAP_EXTENDED |
				   (is_switch ? CAP_ALL_PORTS : 0),
		.resp_time_value = RESP_TIME_VALUE,
	};
	uint64_t over;

	if (request->is_set) {
		request->status = STATUS_UNSUPPORTED;
		return;
	}
	memset(request->data, 0, PERF_DATA_BYTES);
	ibsa_class_port_info_record.encode(&info, request->data, &over);
}

static void request_answer(struct request *request, uint16_t attribute)
{
	static const struct table counters = {
		port_counters,
		sizeof(port_counters) / sizeof(port_counters[0]),
		false,
	};
	static const struct table extended = {
		extended_counters,
		sizeof(extended_counters) / sizeof(extended_counters[0]),
		true,
	};

	switch (attribute) {
	case CLASS_PORT_INFO:
		answer_class_port_info(request);
		break;
	case PORT_COUNTERS:
		answer_counters(request, &counters);
		break;
	case PORT_COUNTERS_EXTENDED:
		answer_counters(request, &extended);
		break;
	default:
		request->status = STATUS_UNSUPPORTED;
	}
}

bool ibsa__pma_take(void *arg, const struct message *message,
		    const struct arrival *at, uint64_t now_ns)
{
	struct nodes *nodes = arg;
	const struct topology *topo = &nodes->subnet->topo;
	const uint8_t *mad = message->body.bytes;
	struct request request = {
		.nodes = nodes,
		.node = &topo->nodes[topo->ports[at->port].node],
		.is_set = mad[MAD_METHOD] == IBSA_METHOD_SET,
	};
	struct message *reply;

	if (mad[MAD_CLASS] != CLASS_PERF ||
	    (mad[MAD_METHOD] != IBSA_METHOD_GET && !request.is_set))
		return false;
	reply = ibsa__mad_answer(nodes->net, message, at->port, now_ns);
	/* Without memory, the answer is lost. */
	if (!reply)
		return true;
	memcpy(reply->body.bytes, mad, IBSA_MAD_BYTES);
	reply->body.len = IBSA_MAD_BYTES;
	request.data = reply->body.bytes + PERF_DATA;
	if (mad[MAD_BASE_VERSION] != 1 || mad[MAD_CLASS_VERSION] != 1)
		request.status = STATUS_BAD_VERSION;
	else
		request_answer(&request, ibsa_be16(mad + MAD_ATTRIBUTE));
	reply->body.bytes[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	ibsa_put_be16(reply->body.bytes + MAD_STATUS, request.status);
	ibsa__mad_post(nodes->net, reply, now_ns);
	return true;
}
