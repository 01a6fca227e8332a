/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes a client that watches for events, with Reports and with replies to
 * its subscriptions. The input is cut into messages. Checked: each Report is
 * answered once, by a valid response, and no two events have the same number.
 */
#include <errno.h>
#include <stdlib.h>

#include "event/event.h"
#include "wire/mad.h"
#include "wire/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SM_LID = 7, ROUNDS = 8 };

struct hostile {
	struct ibsa_transport transport;
	const uint8_t *data;
	size_t size;
	uint64_t now_ns;
	uint8_t sent[IBSA_MAD_BYTES]; /* the last request */
	uint8_t *message;
	size_t len;
	unsigned int reports, answers;
	bool listening;
	bool is_down;
	uint64_t sequence;
};

static void must(bool so)
{
	if (!so)
		abort();
}

static struct hostile *hostile_of(struct ibsa_transport *transport)
{
	return (struct hostile *)(void *)transport;
}

static uint64_t hostile_now(struct ibsa_transport *transport)
{
	return hostile_of(transport)->now_ns;
}

/*
 * Receive what the client sends: the response to the last Report, or a
 * request.
 */
static int hostile_send(struct ibsa_transport *transport,
			const struct ibsa_address *to, const uint8_t *mad,
			size_t len, unsigned int timeout_ms)
{
	struct hostile *hostile = hostile_of(transport);

	(void)to;
	must(len == IBSA_MAD_BYTES);
	if (mad[MAD_METHOD] != IBSA_METHOD_REPORT_RESP) {
		memcpy(hostile->sent, mad, len);
		return 0;
	}
	must(!timeout_ms && hostile->message);
	must(!memcmp(mad + MAD_TID, hostile->message + MAD_TID, 8));
	hostile->answers++;
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
 * Write into the message the values that the client expects, because a fuzzer
 * does not guess them.
 */
static void disguise(struct hostile *hostile, uint8_t control)
{
	static const uint8_t report[] = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION,
					  IBSA_METHOD_REPORT };

	if (control & 0x40 && hostile->len >= 18) {
		memcpy(hostile->message, report, sizeof(report));
		ibsa_put_be16(hostile->message + MAD_ATTRIBUTE, 2);
	} else if (control & 0x80 && hostile->len >= 18) {
		memcpy(hostile->message, hostile->sent, 18);
		hostile->message[MAD_METHOD] =
			ibsa__response_method(hostile->sent[MAD_METHOD]);
	}
}

static bool is_report(const struct hostile *hostile)
{
	return hostile->listening && hostile->len >= IBSA_SA_HEADER_BYTES &&
	       hostile->message[MAD_CLASS] == IBSA_CLASS_SA &&
	       hostile->message[MAD_METHOD] == IBSA_METHOD_REPORT;
}

/*
 * Take the next message from the input: a control byte, a length byte, and as
 * many bytes.
 */
static int hostile_recv(struct ibsa_transport *transport,
			struct ibsa_message *out)
{
	struct hostile *hostile = hostile_of(transport);
	const uint8_t control = take(hostile);
	const size_t len = take(hostile) + (control & 0x08 ? 256u : 0);

	must(hostile->answers == hostile->reports);
	free(hostile->message);
	hostile->message = NULL;
	if (!hostile->size || control & 0x04)
		return control & 0x02 ? -ENOBUFS : 0;
	hostile->len = len < hostile->size ? len : hostile->size;
	hostile->message = malloc(hostile->len + 1);
	if (!hostile->message)
		return 0;
	memcpy(hostile->message, hostile->data, hostile->len);
	hostile->data += hostile->len;
	hostile->size -= hostile->len;
	disguise(hostile, control);
	*out = (struct ibsa_message){
		.from = { .lid = control & 0x20 ? 1 : SM_LID, .qpn = 1 },
		.mad = hostile->message,
		.len = hostile->len,
		.err = control & 0x10 ? -EMSGSIZE : 0,
	};
	hostile->reports += !out->err && is_report(hostile);
	return 1;
}

static int hostile_port(struct ibsa_transport *transport,
			struct ibsa_port_state *out, size_t size)
{
	(void)size;
	*out = (struct ibsa_port_state){
		.sm_lid = SM_LID,
		.port_state = hostile_of(transport)->is_down ? IBSA_PORT_DOWN
							     : IBSA_PORT_ACTIVE,
	};
	return 0;
}

static int hostile_listen(struct ibsa_transport *transport, bool on)
{
	hostile_of(transport)->listening = on;
	return 0;
}

static const struct ibsa_transport_ops hostile_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = hostile_now,
	.send = hostile_send,
	.recv = hostile_recv,
	.port = hostile_port,
	.listen = hostile_listen,
};

static void happened(const struct ibsa_event *event, void *arg)
{
	struct hostile *hostile = arg;

	must(event->sequence > hostile->sequence);
	must(ibsa_event_name(event->kind));
	must(!event->notice == !(event->kind & IBSA_EVENT_ALL));
	hostile->sequence = event->sequence;
}

/*
 * Dispatch, advance the clock by half a minute and change the port, in each
 * round.
 */
static void run(struct ibsa__events *events, struct hostile *hostile)
{
	const struct ibsa_event_options all = { .kinds = IBSA_EVENT_ALL };
	struct ibsa_event_watch *watch;

	must(!ibsa__events_add(events, &all, happened, hostile, NULL, &watch));
	for (int i = 0; i < ROUNDS; i++) {
		(void)ibsa__engine_dispatch(events->engine);
		hostile->now_ns += i % 2 ? UINT64_C(30000000000) : 600000000;
		hostile->is_down = i == ROUNDS / 2;
	}
	if (hostile->sequence % 2)
		ibsa_event_watch_stop(watch);
	ibsa__events_close(events);
	(void)ibsa__engine_dispatch(events->engine);
	ibsa__events_end(events);
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
	};
	struct hostile hostile = {
		.transport.ops = &hostile_ops,
		.data = data,
		.size = size,
	};
	struct ibsa__events events;
	struct ibsa__engine *engine;

	if (ibsa__engine_new(&options, &hostile.transport, &engine))
		return 0;
	ibsa__events_init(&events, engine);
	run(&events, &hostile);
	ibsa__engine_free(engine);
	must(hostile.answers == hostile.reports);
	must(!hostile.listening);
	free(hostile.message);
	return 0;
}
