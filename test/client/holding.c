/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A transport that holds requests as the kernel does. */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>
#include <ibsa/records.h>

#include "base/clock.h"
#include "test/client/holding.h"
#include "wire/mad.h"

enum { TID_BYTES = 8 };

static struct holding *holding_of(struct ibsa_transport *transport)
{
	return (struct holding *)(void *)transport;
}

static uint64_t holding_now(struct ibsa_transport *transport)
{
	return holding_of(transport)->now_ns;
}

unsigned int holding_count(const struct holding *holding)
{
	unsigned int count = 0;

	for (int i = 0; i < HOLDING_MAX; i++)
		count += holding->held[i].is_used;
	return count;
}

/*
 * Whether the transport still holds a request. A request whose timeout has
 * passed is no longer held, even before the timeout is reported.
 */
static bool is_held(const struct holding *holding, const uint8_t *mad)
{
	for (int i = 0; i < HOLDING_MAX; i++) {
		const struct held *held = &holding->held[i];

		if (held->is_used && held->until_ns > holding->now_ns &&
		    !memcmp(held->mad + MAD_TID, mad + MAD_TID, TID_BYTES))
			return true;
	}
	return false;
}

static int holding_send(struct ibsa_transport *transport,
			const struct ibsa_address *to, const uint8_t *mad,
			size_t len, unsigned int timeout_ms)
{
	struct holding *holding = holding_of(transport);
	unsigned int count;
	int free = 0;

	if (is_held(holding, mad)) {
		holding->refused++;
		return -EALREADY;
	}
	while (free < HOLDING_MAX && holding->held[free].is_used)
		free++;
	if (free == HOLDING_MAX)
		return -ENOMEM;
	holding->held[free] = (struct held){
		.is_used = true,
		.until_ns = holding->now_ns + timeout_ms * NS_PER_MS,
		.answer_ns = holding->is_silent
				     ? UINT64_MAX
				     : holding->now_ns + holding->sa_ns,
		.sa = *to,
	};
	memcpy(holding->held[free].mad, mad, len);
	holding->sent++;
	count = holding_count(holding);
	if (holding->most_held < count)
		holding->most_held = count;
	return 0;
}

static uint64_t end_of(const struct held *held)
{
	return held->answer_ns < held->until_ns ? held->answer_ns
						: held->until_ns;
}

/* Return: the request that ends first; NULL: none is held. */
static struct held *first_of(struct holding *holding)
{
	struct held *first = NULL;

	for (int i = 0; i < HOLDING_MAX; i++) {
		struct held *held = &holding->held[i];

		if (held->is_used && (!first || end_of(held) < end_of(first)))
			first = held;
	}
	return first;
}

static int holding_recv(struct ibsa_transport *transport,
			struct ibsa_message *out)
{
	struct holding *holding = holding_of(transport);
	struct held *first = first_of(holding);
	bool is_answered;

	if (!first || end_of(first) > holding->now_ns)
		return 0;
	is_answered = first->answer_ns < first->until_ns;
	first->is_used = false;
	memcpy(holding->arrived, first->mad, sizeof(holding->arrived));
	if (is_answered)
		holding->arrived[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	*out = (struct ibsa_message){
		.from = first->sa,
		.mad = holding->arrived,
		.len = is_answered ? sizeof(holding->arrived)
				   : MAD_HEADER_BYTES,
		.err = is_answered ? 0 : -ETIMEDOUT,
	};
	return 1;
}

static int no_fd(struct ibsa_transport *transport)
{
	(void)transport;
	return -1;
}

static void do_nothing(struct ibsa_transport *transport)
{
	(void)transport;
}

static int holding_wait(struct ibsa_transport *transport, int timeout_ms)
{
	struct holding *holding = holding_of(transport);
	const struct held *first = first_of(holding);
	uint64_t until = first ? end_of(first) : UINT64_MAX;
	const uint64_t at_most = holding->now_ns +
				 (uint64_t)timeout_ms * NS_PER_MS;

	if (timeout_ms >= 0 && at_most < until)
		until = at_most;
	if (until != UINT64_MAX && until > holding->now_ns)
		holding->now_ns = until;
	return 0;
}

static int holding_port(struct ibsa_transport *transport,
			struct ibsa_port_state *out, size_t size)
{
	(void)transport;
	(void)size;
	*out = (struct ibsa_port_state){
		.lid = 3,
		.sm_lid = 7,
		.port_state = IBSA_PORT_ACTIVE,
	};
	return 0;
}

static bool holding_holds(struct ibsa_transport *transport)
{
	(void)transport;
	return true;
}

static const struct ibsa_transport_ops holding_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = holding_now,
	.send = holding_send,
	.holds = holding_holds,
	.recv = holding_recv,
	.fd = no_fd,
	.wait = holding_wait,
	.wake = do_nothing,
	.port = holding_port,
	.close = do_nothing,
};

void holding_init(struct holding *holding, uint64_t sa_ns)
{
	memset(holding, 0, sizeof(*holding));
	holding->transport.ops = &holding_ops;
	holding->now_ns = NS_PER_S;
	holding->sa_ns = sa_ns;
}
