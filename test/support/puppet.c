/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A transport that the test controls. */
#include <errno.h>
#include <assert.h>

#include "test/support/puppet.h"
#include "wire/mad.h"
#include "wire/request.h"

enum { NS_PER_MS = 1000000, TID_BYTES = 8 };

static struct puppet *puppet_of(struct ibsa_transport *transport)
{
	return (struct puppet *)(void *)transport;
}

static uint64_t puppet_now(struct ibsa_transport *transport)
{
	return puppet_of(transport)->now_ns;
}

/*
 * Whether an id is held: like a kernel that waits for the answers to all
 * requests.
 */
static bool is_held(const struct puppet *puppet, const uint8_t *mad)
{
	for (unsigned int i = 0; i < puppet->sent_count; i++) {
		if (!memcmp(puppet_sent(puppet, i)->mad + MAD_TID,
			    mad + MAD_TID, TID_BYTES))
			return true;
	}
	return false;
}

static int puppet_send(struct ibsa_transport *transport,
		       const struct ibsa_address *to, const uint8_t *mad,
		       size_t len, unsigned int timeout_ms)
{
	struct puppet *puppet = puppet_of(transport);
	struct puppet_mad *sent;

	if (puppet->send_err)
		return puppet->send_err;
	if (puppet->send_limit && puppet->sent_count >= puppet->send_limit)
		return -EBUSY;
	if (puppet->holds_ids && is_held(puppet, mad))
		return -EALREADY;
	sent = &puppet->sent[puppet->sent_count++ % PUPPET_SENT];
	memcpy(sent->mad, mad, len);
	sent->len = len;
	sent->address = *to;
	sent->at_ns = puppet->now_ns;
	sent->timeout_ms = timeout_ms;
	return 0;
}

static bool puppet_holds(struct ibsa_transport *transport)
{
	return puppet_of(transport)->holds;
}

static int puppet_recv(struct ibsa_transport *transport,
		       struct ibsa_message *out)
{
	struct puppet *puppet = puppet_of(transport);
	struct puppet_mad *mad;

	if (puppet->inbox_head == puppet->inbox_count)
		return puppet->recv_err;
	mad = &puppet->inbox[puppet->inbox_head++ % PUPPET_INBOX];
	*out = (struct ibsa_message){
		.from = mad->address,
		.mad = mad->mad,
		.len = mad->len,
		.err = mad->err,
	};
	return 1;
}

static int puppet_port(struct ibsa_transport *transport,
		       struct ibsa_port_state *out, size_t size)
{
	struct puppet *puppet = puppet_of(transport);

	puppet->port_reads++;
	if (puppet->port_err)
		return puppet->port_err;
	memcpy(out, &puppet->port, size);
	return 0;
}

static bool puppet_changed(struct ibsa_transport *transport)
{
	struct puppet *puppet = puppet_of(transport);
	bool changed = puppet->port_changed;

	puppet->port_changed = false;
	return changed;
}

/* The default P_Key, another, and one with both memberships. */
static int puppet_pkey(struct ibsa_transport *transport, uint32_t index,
		       uint16_t *out)
{
	static const uint16_t pkeys[] = { 0xffff, 0x8001, 0x7003, 0xf003 };

	(void)transport;
	if (index >= sizeof(pkeys) / sizeof(pkeys[0]))
		return -EINVAL;
	*out = pkeys[index];
	return 0;
}

static int puppet_listen(struct ibsa_transport *transport, bool on)
{
	struct puppet *puppet = puppet_of(transport);

	if (!puppet->listen_err)
		puppet->listening = on;
	return puppet->listen_err;
}

static const struct ibsa_transport_ops puppet_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = puppet_now,
	.send = puppet_send,
	.holds = puppet_holds,
	.recv = puppet_recv,
	.port = puppet_port,
	.changed = puppet_changed,
	.pkey = puppet_pkey,
	.listen = puppet_listen,
};

const struct ibsa__engine_options puppet_options = {
	.seed = 1,
	.reply_bytes = PUPPET_BYTES,
	.window = 16,
	.queue = 64,
	.deadline_ms = 10000,
	.first_interval_ms = 100,
	.max_interval_ms = 800,
	.jitter_percent = -1,
	.sharing = true,
};

void puppet_init(struct puppet *puppet)
{
	*puppet = (struct puppet){
		.transport.ops = &puppet_ops,
		.port = { .lid = 3,
			  .sm_lid = PUPPET_SM_LID,
			  .sm_sl = 2,
			  .port_state = IBSA_PORT_ACTIVE },
	};
}

int puppet_setup(void **state)
{
	puppet_init(*state);
	return 0;
}

struct ibsa__engine *puppet_engine(struct puppet *puppet,
				   const struct ibsa__engine_options *options)
{
	struct ibsa__engine *engine = NULL;
	int err = ibsa__engine_new(options, &puppet->transport, &engine);

	assert(!err);
	return engine;
}

struct ibsa__engine *puppet_engine_of_one(struct puppet *puppet)
{
	struct ibsa__engine_options options = puppet_options;

	options.window = 1;
	return puppet_engine(puppet, &options);
}

const struct puppet_mad *puppet_sent(const struct puppet *puppet,
				     unsigned int n)
{
	assert(n < puppet->sent_count);
	assert(n + PUPPET_SENT >= puppet->sent_count);
	return &puppet->sent[n % PUPPET_SENT];
}

struct puppet_mad puppet_answer(const struct puppet_mad *request)
{
	struct puppet_mad answer = *request;

	answer.mad[MAD_METHOD] =
		ibsa__response_method(request->mad[MAD_METHOD]);
	return answer;
}

void puppet_deliver(struct puppet *puppet, const struct puppet_mad *answer)
{
	assert(puppet->inbox_count - puppet->inbox_head < PUPPET_INBOX);
	puppet->inbox[puppet->inbox_count++ % PUPPET_INBOX] = *answer;
}

void puppet_advance(struct puppet *puppet, struct ibsa__engine *engine,
		    unsigned int ms)
{
	puppet->now_ns += (uint64_t)ms * NS_PER_MS;
	ibsa__engine_dispatch(engine);
}

void puppet_note(const struct ibsa_reply *reply, void *arg)
{
	struct seen *seen = arg;

	seen->record = reply->record;
	seen->redirects = reply->redirects;
	if (reply->redirect)
		seen->redirect_lid = (uint16_t)IBSA_GET(
			class_port_info, redirect_lid, reply->redirect);
	seen->calls++;
	seen->err = reply->err;
	seen->status = reply->status;
	seen->tries = reply->tries;
	seen->count = reply->count;
	seen->stride = reply->stride;
	seen->rtt_ns = reply->rtt_ns;
	seen->id = reply->id;
}

int puppet_query(struct ibsa__engine *engine, uint16_t dlid, struct seen *seen)
{
	const struct ibsa_path match = { .dlid = dlid };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(dlid),
	};

	return ibsa__engine_query(engine, &query, puppet_note, seen, &seen->id);
}
