/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the engine with replies: the input is cut into messages that arrive
 * while a query of each kind is in flight.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "wire/mad.h"
#include "wire/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SM_LID = 7, QUERIES = 4 };

struct hostile {
	struct ibsa_transport transport;
	const uint8_t *data;
	size_t size;
	uint64_t now_ns;
	uint8_t sent[QUERIES][IBSA_MAD_BYTES];
	unsigned int sent_count;
	uint8_t *message;
	unsigned int called;
};

static uint64_t hostile_now(struct ibsa_transport *transport)
{
	return ((struct hostile *)(void *)transport)->now_ns;
}

static int hostile_send(struct ibsa_transport *transport,
			const struct ibsa_address *to, const uint8_t *mad,
			size_t len, unsigned int timeout_ms)
{
	struct hostile *hostile = (struct hostile *)(void *)transport;

	(void)to;
	(void)timeout_ms;
	memcpy(hostile->sent[hostile->sent_count++ % QUERIES], mad, len);
	return 0;
}

static uint8_t take(struct hostile *hostile)
{
	if (!hostile->size)
		return 0;
	hostile->size--;
	return *hostile->data++;
}

/*
 * Take the next message from the input: a control byte, a length byte, and as
 * many bytes, or 8 times as many if the highest bit of the control byte is
 * set. If the control byte says so, the values that the engine expects replace
 * the class, versions, method, transaction id and attribute id of the message,
 * since a fuzzer does not guess a transaction id.
 */
static int hostile_recv(struct ibsa_transport *transport,
			struct ibsa_message *out)
{
	struct hostile *hostile = (struct hostile *)(void *)transport;
	uint8_t control = take(hostile);
	size_t len = (size_t)take(hostile) * (control & 0x80 ? 8 : 1);
	const uint8_t *asked = hostile->sent[control % QUERIES];

	free(hostile->message);
	hostile->message = NULL;
	if (!hostile->size)
		return 0;
	len = len < hostile->size ? len : hostile->size;
	hostile->message = malloc(len + 1);
	if (!hostile->message)
		return 0;
	memcpy(hostile->message, hostile->data, len);
	hostile->data += len;
	hostile->size -= len;
	if (control & 0x40 && len >= 18) {
		memcpy(hostile->message, asked, 4);
		hostile->message[MAD_METHOD] =
			ibsa__response_method(asked[MAD_METHOD]);
		memcpy(hostile->message + MAD_TID, asked + MAD_TID, 10);
	}
	*out = (struct ibsa_message){
		.from = { .lid = control & 0x20 ? 1 : SM_LID, .qpn = 1 },
		.mad = hostile->message,
		.len = len,
		.err = control & 0x10 ? -EMSGSIZE : 0,
	};
	return 1;
}

static int hostile_port(struct ibsa_transport *transport,
			struct ibsa_port_state *out, size_t size)
{
	(void)transport;
	(void)size;
	*out = (struct ibsa_port_state){ .sm_lid = SM_LID };
	return 0;
}

static const struct ibsa_transport_ops hostile_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = hostile_now,
	.send = hostile_send,
	.recv = hostile_recv,
	.port = hostile_port,
};

/* Use all that a reply offers. */
static void use_reply(const struct ibsa_reply *reply, void *arg)
{
	union {
		struct ibsa_path path;
		struct ibsa_node node;
		struct ibsa_service service;
		struct ibsa_class_port_info info;
	} host;
	struct ibsa_error error;

	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &host,
				      reply->record->host_size))
			abort();
	}
	(void)ibsa_reply_outcome(reply);
	ibsa_reply_explain(reply, &error);
	++*(unsigned int *)arg;
}

static void queries_submit(struct ibsa__engine *engine, unsigned int *called)
{
	static const struct ibsa_query queries[QUERIES] = {
		{ .record = &ibsa_path_record },
		{ .record = &ibsa_node_record,
		  .method = IBSA_METHOD_GET_TABLE },
		{ .record = &ibsa_service_record,
		  .method = IBSA_METHOD_GET_TABLE },
		{ .record = &ibsa_class_port_info_record },
	};

	for (int i = 0; i < QUERIES; i++) {
		if (ibsa__engine_query(engine, &queries[i], use_reply, called,
				       NULL))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ibsa__engine_options options = {
		.seed = 1,
		.reply_bytes = 1 << 20,
		.window = 16,
		.queue = 16,
		.deadline_ms = 1000,
		.first_interval_ms = 100,
		.max_interval_ms = 400,
		.jitter_percent = -1,
		.sharing = true,
	};
	struct hostile hostile = {
		.transport.ops = &hostile_ops,
		.data = data,
		.size = size,
	};
	struct ibsa__engine *engine;

	if (ibsa__engine_new(&options, &hostile.transport, &engine))
		return 0;
	queries_submit(engine, &hostile.called);
	for (int i = 0; i < 3; i++) {
		ibsa__engine_dispatch(engine);
		hostile.now_ns += 150000000;
	}
	ibsa__engine_free(engine);
	free(hostile.message);
	if (hostile.called != QUERIES)
		abort();
	return 0;
}
