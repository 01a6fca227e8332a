/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A way that MADs take: faults strike on it, by the fabric's seed. */
#include "base/clock.h"
#include "sim/mad/net.h"
#include "sim/mad/way.h"

enum { FLIPPED_BITS_MAX = 8 };

bool ibsa__way_is_faulty(const struct mad_net *net)
{
	for (int kind = IBSA_FAULT_LOSE; kind <= IBSA_FAULT_CORRUPT; kind++) {
		if (net->faults[kind].active)
			return true;
	}
	return false;
}

struct message *ibsa__way_take(struct way *way, uint64_t until_ns)
{
	struct message *first = way_head(way);

	if (!first || first->due_ns > until_ns)
		return NULL;
	if (first != way->held)
		return ibsa__queue_pop(&way->queue);
	way->held = NULL;
	return first;
}

/* From 0 to @limit - 1, which may be above what random_below() takes. */
static uint64_t random_up_to(struct mad_net *net, uint64_t limit)
{
	return random_next(&net->random) % limit;
}

static uint64_t random_delay(struct mad_net *net, enum ibsa_fault_kind kind)
{
	const uint64_t most = net->faults[kind].fault.delay_ms * NS_PER_MS;

	return 1 + random_up_to(net, most);
}

static void flip_bits(struct mad_net *net, struct sa_reply *body)
{
	const uint64_t count = 1 + random_up_to(net, FLIPPED_BITS_MAX);

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t bit = random_up_to(net, 8 * body->len);

		body->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* The same bytes once more, or NULL. */
static struct message *copy(struct way *way, const struct message *message)
{
	struct message *twin = ibsa__queue_new(way->pool);

	if (!twin)
		return NULL;
	twin->due_ns = message->due_ns;
	twin->mad = message->mad;
	if (!ibsa__sa_reply_put(&twin->body, message->body.bytes,
				message->body.len)) {
		ibsa__queue_release(way->pool, twin);
		return NULL;
	}
	return twin;
}

/* Put it in the queue, and behind it what it was to overtake. */
static int enqueue(struct way *way, struct message *message)
{
	struct message *late = way->held;
	const uint64_t due_ns = message->due_ns;
	int err;

	message->number = way->sent++;
	if (!ibsa__queue_has_room(&way->queue, message->body.len)) {
		ibsa__drop(way->net, IBSA_DROP_QUEUE_FULL);
		ibsa__queue_release(way->pool, message);
		return 0;
	}
	err = ibsa__queue_push(&way->queue, message);
	if (!late || err)
		return err;
	way->held = NULL;
	late->due_ns = due_ns;
	late->number = way->sent++;
	return ibsa__queue_push(&way->queue, late);
}

int ibsa__way_carry(struct way *way, struct message *message)
{
	struct mad_net *net = way->net;
	struct message *twin = NULL;
	int err;

	if (ibsa__fault_strikes(net, IBSA_FAULT_LOSE)) {
		ibsa__queue_release(way->pool, message);
		return 0;
	}
	if (ibsa__fault_strikes(net, IBSA_FAULT_CORRUPT))
		flip_bits(net, &message->body);
	if (ibsa__fault_strikes(net, IBSA_FAULT_DELAY))
		message->due_ns += random_delay(net, IBSA_FAULT_DELAY);
	if (ibsa__fault_strikes(net, IBSA_FAULT_DUPLICATE))
		twin = copy(way, message);
	if (!way->held && ibsa__fault_strikes(net, IBSA_FAULT_REORDER)) {
		message->due_ns +=
			net->faults[IBSA_FAULT_REORDER].fault.delay_ms *
			NS_PER_MS;
		way->held = message;
		err = 0;
	} else {
		err = enqueue(way, message);
	}
	if (twin && !err)
		err = enqueue(way, twin);
	else if (twin)
		ibsa__queue_release(way->pool, twin);
	return err;
}

void ibsa__way_done(struct way *way)
{
	if (way->held)
		ibsa__queue_release(way->pool, way->held);
	way->held = NULL;
	ibsa__queue_done(&way->queue);
}
