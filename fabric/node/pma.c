/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Performance management agents of the nodes: ClassPortInfo and the attributes
 * with counters.
 *
 * Source: IBA vol 1, 16.1.3, 16.1.4 and A10; OptionMask: opa-ff ib_pm.h;
 * PortExtendedSpeedsCounters and CounterSelect2: libibmad fields.c.
 */
#include <string.h>

#include <ibsa/records.h>
#include "fabric/mad/counters.h"
#include "fabric/mad/queue.h"
#include "fabric/node/pma.h"

enum {
	CLASS_PORT_INFO = 0x0001,
	PORT_SAMPLES_CONTROL = 0x0010,
	PORT_COUNTERS = 0x0012,
	PORT_COUNTERS_EXTENDED = 0x001d,
	PERF_DATA = 64, /* offset of the attribute's data in the MAD */
	PERF_DATA_BYTES = 192,
	ALL_PORTS = 0xff,
	CAP_ALL_PORTS = 1 << 8,
	CAP_EXTENDED = 1 << 9,
	CAP_XMIT_WAIT = 1 << 12,
	CAP_QP1_DROPPED = 1 << 15,
	CAP2_EXTENDED_ERRORS = 1 << 1,
	RESP_TIME_VALUE = 18,
	STATUS_BAD_VERSION = 0x0004,
	STATUS_UNSUPPORTED = 0x000c,
	STATUS_INVALID = 0x001c,
};

/*
 * @many counters of an attribute, one behind the other: offset of the first one
 * in bytes, width of each in bits, the bit of the first one in CounterSelect,
 * and what it counts. CounterSelect2 begins at bit SELECT2.
 */
struct field {
	uint8_t at;
	uint8_t nbits;
	uint8_t bit;
	uint8_t what; /* enum counted */
	uint8_t many;
};

enum {
	SELECT2 = 16,
	COUNTER_SELECT2 = 18, /* offset in PortCounters */
};

/* clang-format off */
static const struct field port_counters[] = {
	{ 4,  16, 0,  COUNT_SYMBOL_ERRORS, 1 },
	{ 6,  8,  1,  COUNT_LINK_RECOVERY, 2 },
	{ 8,  16, 3,  COUNT_RCV_ERRORS, 4 },
	{ 16, 8,  7,  COUNT_XMIT_CONSTRAINT, 2 },
	{ 19, 4,  9,  COUNT_LINK_INTEGRITY, 2 },
	{ 20, 16, SELECT2 + 1, COUNT_QP1_DROPPED, 1 },
	{ 22, 16, 11, COUNT_VL15_DROPPED, 1 },
	{ 24, 32, 12, COUNT_XMIT_DATA, 4 },
	{ 40, 32, SELECT2, COUNT_XMIT_WAIT, 1 },
};

static const struct field extended_counters[] = {
	{ 8,  64, 0, COUNT_XMIT_DATA, 8 },
	{ 72, 64, SELECT2, COUNT_SYMBOL_ERRORS, 14 },
};

static const struct field rcv_error_details[] = {
	{ 4, 16, 0, COUNT_LOCAL_PHYSICAL, 6 },
};

static const struct field xmit_discard_details[] = {
	{ 4, 16, 0, COUNT_INACTIVE_DISCARDS, 4 },
};

static const struct field xmit_data_sl[] = {
	{ 4, 32, 0, COUNT_XMIT_DATA_SL, SL_COUNT },
};

static const struct field rcv_data_sl[] = {
	{ 4, 32, 0, COUNT_RCV_DATA_SL, SL_COUNT },
};

/* Bits of PortSamplesControl:OptionMask. */
#define OPTIONS(first, last) \
	((UINT64_MAX << (first)) & (UINT64_MAX >> (63 - (last))))

#define FIELDS(name) name, sizeof(name) / sizeof((name)[0])

/* An attribute with counters; those that are not in @fields are always 0. */
static const struct table {
	uint16_t attribute;
	uint8_t head; /* number of bytes that a response repeats */
	bool is_switch_only;
	uint64_t options; /* its counters in OptionMask */
	const struct field *fields;
	size_t count;
} tables[] = {
	{ PORT_SAMPLES_CONTROL, 2, false, 0, NULL, 0 },
	{ PORT_COUNTERS, 4, false, 0, FIELDS(port_counters) },
	{ 0x0015, 4, false, OPTIONS(6, 11), FIELDS(rcv_error_details) },
	{ 0x0016, 4, false, OPTIONS(12, 15), FIELDS(xmit_discard_details) },
	{ 0x0017, 4, false, OPTIONS(16, 17), NULL, 0 }, /* OpRcvCounters */
	{ 0x0018, 4, false, OPTIONS(18, 19), NULL, 0 }, /* FlowCtlCounters */
	{ 0x0019, 4, false, OPTIONS(20, 20), NULL, 0 }, /* VLOpPackets */
	{ 0x001a, 4, false, OPTIONS(21, 21), NULL, 0 }, /* VLOpData */
	{ 0x001b, 4, false, OPTIONS(22, 22), NULL, 0 }, /* VLXmitFlowCtl... */
	{ 0x001c, 4, false, OPTIONS(23, 23), NULL, 0 }, /* VLXmitWait... */
	{ PORT_COUNTERS_EXTENDED, 8, false, 0, FIELDS(extended_counters) },
	{ 0x001f, 16, false, 0, NULL, 0 }, /* ExtendedSpeedsCounters */
	{ 0x0030, 4, true, OPTIONS(48, 48), NULL, 0 }, /* SwPortVLCongestion */
	{ 0x0031, 4, false, OPTIONS(49, 50), NULL, 0 }, /* RcvConCtrl */
	{ 0x0032, 4, false, OPTIONS(51, 51), NULL, 0 }, /* SLRcvFECN */
	{ 0x0033, 4, false, OPTIONS(52, 52), NULL, 0 }, /* SLRcvBECN */
	{ 0x0034, 4, false, OPTIONS(53, 53), NULL, 0 }, /* XmitConCtrl */
	{ 0x0035, 4, false, OPTIONS(54, 54), NULL, 0 }, /* VLXmitTimeCong */
	{ 0x0036, 4, false, OPTIONS(55, 55), FIELDS(xmit_data_sl) },
	{ 0x0037, 4, false, OPTIONS(56, 56), FIELDS(rcv_data_sl) },
};
/* clang-format on */

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* The counters of an attribute, by enum counted. */
static uint64_t *values_of(struct counters *counters, const struct table *table)
{
	return table->attribute == PORT_COUNTERS_EXTENDED ? counters->extended
							  : counters->plain;
}

/*
 * Limit a value to the width of its counter: a counter that is too narrow for
 * its value stays at its maximum.
 */
static uint64_t value_limit(uint64_t value, const struct field *field)
{
	const uint64_t most = UINT64_MAX >> (64 - field->nbits);

	return value < most ? value : most;
}

/*
 * Read or write counter @i of a field. Two counters of 4 bits share a byte, the
 * first one in its upper bits.
 */
static uint64_t number_get(const uint8_t *data, const struct field *field,
			   uint8_t i)
{
	const uint8_t *bytes = data + field->at + i * field->nbits / 8;
	uint64_t value = 0;

	if (field->nbits < 8)
		return i ? *bytes & 0xf : *bytes >> 4;
	for (uint8_t k = 0; k < field->nbits / 8; k++)
		value = value << 8 | bytes[k];
	return value;
}

static void number_put(uint8_t *data, const struct field *field, uint8_t i,
		       uint64_t value)
{
	uint8_t *bytes = data + field->at + i * field->nbits / 8;

	if (field->nbits < 8)
		*bytes |= (uint8_t)(i ? value : value << 4);
	for (uint8_t k = 0; k < field->nbits / 8; k++)
		bytes[k] = (uint8_t)(value >> (field->nbits - 8 * (k + 1)));
}

/* A MAD that is being answered. */
struct request {
	struct nodes *nodes;
	const struct topo_node *node;
	uint8_t *data;
	uint64_t now_ns;
	uint64_t select; /* CounterSelect, and CounterSelect2 from SELECT2 on */
	uint16_t status;
	uint8_t first; /* first and last port */
	uint8_t last;  /* by number */
	bool is_set;
};

static struct counters *counters_of(const struct request *request,
				    uint32_t number)
{
	struct topology *topo = &request->nodes->subnet->topo;

	return ibsa__counters(request->nodes->net,
			      &topo->ports[request->node->first_port + number],
			      request->now_ns);
}

/*
 * Handle a Set: write the values in the MAD, usually 0, to the counters that
 * CounterSelect selects.
 */
static void field_set(const struct request *request, const struct field *field,
		      uint64_t *values)
{
	for (uint8_t i = 0; i < field->many; i++)
		if (request->select >> (field->bit + i) & 1)
			values[field->what + i] = number_get(request->data,
							     field, i);
}

static void set_counters(const struct request *request,
			 const struct table *table)
{
	for (uint32_t port = request->first; port <= request->last; port++) {
		struct counters *counters = counters_of(request, port);

		for (size_t i = 0; counters && i < table->count; i++)
			field_set(request, &table->fields[i],
				  values_of(counters, table));
	}
}

/* The sum of a counter over the selected ports. */
static uint64_t sum_of(const struct request *request, const struct table *table,
		       const struct field *field, uint8_t i)
{
	uint64_t sum = 0;
	uint64_t value;

	for (uint32_t port = request->first; port <= request->last; port++) {
		struct counters *counters = counters_of(request, port);

		if (!counters)
			continue;
		value = value_limit(values_of(counters, table)[field->what + i],
				    field);
		sum = sum < UINT64_MAX - value ? sum + value : UINT64_MAX;
	}
	return value_limit(sum, field);
}

static void get_counters(const struct request *request,
			 const struct table *table)
{
	memset(request->data + table->head, 0, PERF_DATA_BYTES - table->head);
	for (size_t k = 0; k < table->count; k++) {
		const struct field *field = &table->fields[k];

		for (uint8_t i = 0; i < field->many; i++)
			number_put(request->data, field, i,
				   sum_of(request, table, field, i));
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

static bool is_supported(const struct request *request,
			 const struct table *table)
{
	return !table->is_switch_only ||
	       request->node->type == IBSA_NODE_SWITCH;
}

/*
 * PortSamplesControl of an agent that takes no samples; OptionMask tells which
 * optional counters it has.
 */
static void answer_samples_control(const struct request *request)
{
	enum { OPTION_MASK = 12 /* offset */ };
	uint64_t options = 0;

	for (size_t i = 0; i < TABLES; i++)
		if (is_supported(request, &tables[i]))
			options |= tables[i].options;
	ibsa_put_be64(request->data + OPTION_MASK, options);
}

static void answer_counters(struct request *request, const struct table *table)
{
	const bool is_samples = table->attribute == PORT_SAMPLES_CONTROL;

	if (!is_supported(request, table) || (is_samples && request->is_set)) {
		request->status = STATUS_UNSUPPORTED;
		return;
	}
	request->select = ibsa_be16(request->data + 2);
	if (table->attribute == PORT_COUNTERS)
		request->select |= (uint64_t)request->data[COUNTER_SELECT2]
				   << SELECT2;
	if (table->attribute == PORT_COUNTERS_EXTENDED)
		request->select |= (uint64_t)ibsa_be32(request->data + 4)
				   << SELECT2;
	if (!choose_ports(request)) {
		request->status = STATUS_INVALID;
		return;
	}
	if (request->is_set)
		set_counters(request, table);
	get_counters(request, table);
	if (is_samples)
		answer_samples_control(request);
}

static void answer_class_port_info(struct request *request)
{
	const bool is_switch = request->node->type == IBSA_NODE_SWITCH;
	const struct ibsa_class_port_info info = {
		.base_version = 1,
		.class_version = 1,
		.capability_mask = CAP_EXTENDED | CAP_XMIT_WAIT |
				   CAP_QP1_DROPPED |
				   (is_switch ? CAP_ALL_PORTS : 0),
		.capability_mask2 = CAP2_EXTENDED_ERRORS,
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
	if (attribute == CLASS_PORT_INFO) {
		answer_class_port_info(request);
		return;
	}
	for (size_t i = 0; i < TABLES; i++) {
		if (tables[i].attribute == attribute) {
			answer_counters(request, &tables[i]);
			return;
		}
	}
	request->status = STATUS_UNSUPPORTED;
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
		.now_ns = now_ns,
		.is_set = mad[MAD_METHOD] == IBSA_METHOD_SET,
	};
	struct message *reply;

	if (mad[MAD_CLASS] != CLASS_PERF)
		return false;
	if (method_is_refused(mad)) {
		ibsa__mad_refuse(nodes->net, message, at->port,
				 IBSA_STATUS_BAD_METHOD, now_ns);
		return true;
	}
	if (mad[MAD_METHOD] != IBSA_METHOD_GET && !request.is_set)
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
