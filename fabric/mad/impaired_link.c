/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applies faults to the MADs on an impaired link, at random by the fabric's
 * seed.
 */
#include "base/clock.h"
#include "fabric/mad/counters.h"
#include "fabric/mad/net.h"
#include "fabric/mad/impaired_link.h"

enum { FLIPPED_BITS_MAX = 8 };

bool ibsa__impaired_link_has_faults(const struct mad_net *net)
{
	for (int kind = IBSA_FAULT_LOSE; kind <= IBSA_FAULT_CORRUPT; kind++) {
		if (net->faults[kind].active)
			return true;
	}
	return false;
}

struct message *ibsa__impaired_link_take(struct impaired_link *link,
					 uint64_t until_ns)
{
	struct message *first = impaired_link_head(link);

	if (!first || first->due_ns > until_ns)
		return NULL;
	if (first != link->held)
		return ibsa__queue_pop(&link->queue);
	link->held = NULL;
	return first;
}

/*
 * Return: a random number from 0 to @limit - 1; @limit may exceed the maximum
 * of random_below().
 */
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

/* Return: a copy of a message; NULL: memory is short. */
static struct message *message_copy(struct impaired_link *link,
				    const struct message *message)
{
	struct message *twin = ibsa__queue_new(link->pool);

	if (!twin)
		return NULL;
	twin->due_ns = message->due_ns;
	twin->mad = message->mad;
	if (!ibsa__sa_reply_put(&twin->body, message->body.bytes,
				message->body.len)) {
		ibsa__queue_release(link->pool, twin);
		return NULL;
	}
	return twin;
}

/*
 * Queue a message. If another message was held back, queue that one after it,
 * so that the new message overtakes it.
 */
static int message_queue(struct impaired_link *link, struct message *message)
{
	struct message *late = link->held;
	const uint64_t due_ns = message->due_ns;
	int err;

	message->number = link->sent++;
	if (!ibsa__queue_has_room(&link->queue, message->body.len)) {
		ibsa__drop(link->net, IBSA_DROP_QUEUE_FULL);
		ibsa__queue_release(link->pool, message);
		return 0;
	}
	err = ibsa__queue_push(&link->queue, message);
	if (!late || err)
		return err;
	link->held = NULL;
	late->due_ns = due_ns;
	late->number = link->sent++;
	return ibsa__queue_push(&link->queue, late);
}

int ibsa__impaired_link_carry(struct impaired_link *link,
			      struct message *message)
{
	struct mad_net *net = link->net;
	struct message *twin = NULL;
	int err;

	if (ibsa__fault_strikes(net, IBSA_FAULT_LOSE)) {
		ibsa__count_damage(net, message);
		ibsa__queue_release(link->pool, message);
		return 0;
	}
	if (ibsa__fault_strikes(net, IBSA_FAULT_CORRUPT)) {
		ibsa__count_damage(net, message);
		flip_bits(net, &message->body);
	}
	if (ibsa__fault_strikes(net, IBSA_FAULT_DELAY))
		message->due_ns += random_delay(net, IBSA_FAULT_DELAY);
	if (ibsa__fault_strikes(net, IBSA_FAULT_DUPLICATE))
		twin = message_copy(link, message);
	if (!link->held && ibsa__fault_strikes(net, IBSA_FAULT_REORDER)) {
		message->due_ns +=
			net->faults[IBSA_FAULT_REORDER].fault.delay_ms *
			NS_PER_MS;
		link->held = message;
		err = 0;
	} else {
		err = message_queue(link, message);
	}
	if (twin && !err)
		err = message_queue(link, twin);
	else if (twin)
		ibsa__queue_release(link->pool, twin);
	return err;
}

void ibsa__impaired_link_done(struct impaired_link *link)
{
	if (link->held)
		ibsa__queue_release(link->pool, link->held);
	link->held = NULL;
	ibsa__queue_done(&link->queue);
}
