/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of the packets and errors of each port. A counter with a rate is
 * brought up to date when it is read, so that rates need no timer. IBA vol 1,
 * 7.7 and 9.2: headers of a packet.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "fabric/mad/counters.h"
#include "fabric/mad/queue.h"
#include "fabric/subnet/forward.h"

/*
 * Bytes of a packet that the counters include in addition to the MAD: LRH, BTH,
 * DETH and ICRC.
 */
enum {
	HEADER_BYTES = 8 + 12 + 8 + 4,
	GRH_BYTES = 40,
	WORD_BYTES = 4,
};

struct counter_rate {
	struct counter_rate *next;
	enum counted what;
	uint64_t per_s;
	uint64_t since_ns;
	uint64_t added; /* since then */
};

#define COUNTED_NAME(name, text) [COUNT_##name] = text,

static const char *const names[COUNTS_NAMED] = { COUNTED(COUNTED_NAME) };

/*
 * Compare a text with the name of a counter, which may lack "Counter" at its
 * end, or end in "s" instead.
 */
static bool name_matches(const char *name, const char *text)
{
	static const char last[] = "Counter";
	const char *end = strstr(name, last);
	const size_t len = end ? (size_t)(end - name) : strlen(name);

	if (!strcmp(name, text))
		return true;
	return end && !strncmp(name, text, len) &&
	       (!text[len] || !strcmp(text + len, "s"));
}

bool ibsa__counter_find(const char *text, enum counted *out)
{
	for (int what = 0; what < COUNTS_NAMED; what++) {
		if (name_matches(names[what], text)) {
			*out = (enum counted)what;
			return true;
		}
	}
	return false;
}

/* Return: the counters of @port without what its rates have added since then. */
static struct counters *counters_of(struct mad_net *net,
				    const struct topo_port *port)
{
	if (!net->counters)
		net->counters = ibsa__calloc(net->subnet->topo.port_count,
					     sizeof(*net->counters));
	if (!net->counters)
		return NULL;
	return &net->counters[port - net->subnet->topo.ports];
}

static uint64_t sum_limit(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void counter_add(struct counters *counters, enum counted what,
			uint64_t by)
{
	counters->plain[what] = sum_limit(counters->plain[what], by);
	if (what < COUNTS_EXTENDED)
		counters->extended[what] = sum_limit(counters->extended[what],
						     by);
}

/*
 * Return: what a rate adds in a time, rounded down; UINT64_MAX: at least that.
 * Both are split into a multiple of 10^9 and a rest, so that no product but the
 * first can overflow.
 */
static uint64_t rate_sum(uint64_t per_s, uint64_t time_ns)
{
	const uint64_t seconds = time_ns / NS_PER_S;
	const uint64_t rest_ns = time_ns % NS_PER_S;
	uint64_t whole;

	if (__builtin_mul_overflow(per_s, seconds, &whole))
		return UINT64_MAX;
	return sum_limit(whole, per_s / NS_PER_S * rest_ns +
					per_s % NS_PER_S * rest_ns / NS_PER_S);
}

/* Add what a rate has added since the counter was read before. */
static void rate_apply(struct counters *counters, struct counter_rate *rate,
		       uint64_t now_ns)
{
	uint64_t sum;

	/* A MAD may be handled at the time at which it was due. */
	if (now_ns <= rate->since_ns)
		return;
	sum = rate_sum(rate->per_s, now_ns - rate->since_ns);
	if (sum <= rate->added)
		return;
	counter_add(counters, rate->what, sum - rate->added);
	rate->added = sum;
}

struct counters *ibsa__counters(struct mad_net *net,
				const struct topo_port *port, uint64_t now_ns)
{
	struct counters *counters = counters_of(net, port);
	struct counter_rate *rate = counters ? counters->rates : NULL;

	for (; rate; rate = rate->next)
		rate_apply(counters, rate, now_ns);
	return counters;
}

int ibsa__counter_increase(struct mad_net *net, const struct topo_port *port,
			   enum counted what, uint64_t by)
{
	struct counters *counters = counters_of(net, port);

	if (!counters)
		return -ENOMEM;
	counter_add(counters, what, by);
	return 0;
}

static void rate_end(struct counters *counters, enum counted what)
{
	struct counter_rate **at = &counters->rates;
	struct counter_rate *rate;

	while (*at && (*at)->what != what)
		at = &(*at)->next;
	rate = *at;
	if (!rate)
		return;
	*at = rate->next;
	ibsa__free(rate);
}

int ibsa__counter_rate_set(struct mad_net *net, const struct topo_port *port,
			   enum counted what, uint64_t by, uint64_t now_ns)
{
	struct counters *counters = ibsa__counters(net, port, now_ns);
	struct counter_rate *rate = NULL;

	if (counters && by)
		rate = ibsa__calloc(1, sizeof(*rate));
	if (!counters || (by && !rate))
		return -ENOMEM;
	rate_end(counters, what);
	if (!by)
		return 0;
	*rate = (struct counter_rate){ counters->rates, what, by, now_ns, 0 };
	counters->rates = rate;
	return 0;
}

void ibsa__counters_free(struct mad_net *net)
{
	const uint32_t count = net->counters ? net->subnet->topo.port_count : 0;

	for (uint32_t i = 0; i < count; i++)
		while (net->counters[i].rates)
			rate_end(&net->counters[i],
				 net->counters[i].rates->what);
	ibsa__free(net->counters);
}

void ibsa__count_event(struct mad_net *net, const struct topo_port *port,
		       enum counted what)
{
	struct counters *counters = counters_of(net, port);

	if (!counters)
		return;
	counter_add(counters, what, 1);
	/* A fabric has no other reasons for these errors. */
	if (what == COUNT_RELAY_ERRORS)
		counter_add(counters, COUNT_DLID_ERRORS, 1);
	if (what == COUNT_DISCARDS)
		counter_add(counters, COUNT_INACTIVE_DISCARDS, 1);
	if (what == COUNT_RCV_ERRORS) {
		counter_add(counters, COUNT_LOCAL_PHYSICAL, 1);
		counter_add(counters, COUNT_SYMBOL_ERRORS, 1);
	}
}

void ibsa__count_packet(struct mad_net *net, const struct topo_port *port,
			const struct message *message, bool is_multicast)
{
	const size_t len = message->body.len;
	const size_t packets = len ? (len + IBSA_MAD_BYTES - 1) / IBSA_MAD_BYTES
				   : 1;
	const size_t each = IBSA_MAD_BYTES + HEADER_BYTES +
			    (message->mad.has_grh ? GRH_BYTES : 0);
	const uint64_t words = packets * each / WORD_BYTES;
	const uint8_t sl = message->mad.sl % SL_COUNT;
	struct counters *out = counters_of(net, port);
	struct counters *in;

	if (!out)
		return;
	in = counters_of(net, &net->subnet->topo.ports[port->peer]);
	counter_add(out, COUNT_XMIT_PKTS, packets);
	counter_add(out, COUNT_XMIT_DATA, words);
	counter_add(out, COUNT_XMIT_DATA_SL + sl, words);
	counter_add(out,
		    is_multicast ? COUNT_MULTICAST_XMIT : COUNT_UNICAST_XMIT,
		    packets);
	counter_add(in, COUNT_RCV_PKTS, packets);
	counter_add(in, COUNT_RCV_DATA, words);
	counter_add(in, COUNT_RCV_DATA_SL + sl, words);
	counter_add(in, is_multicast ? COUNT_MULTICAST_RCV : COUNT_UNICAST_RCV,
		    packets);
}

/*
 * Return: the number of the port by which a MAD leaves the switch that sends
 * it; 0: the MAD does not leave it.
 */
static uint8_t switch_exit(const struct mad_net *net,
			   const struct message *message,
			   const struct topo_node *node)
{
	const uint8_t *smp = message->body.bytes;
	const uint8_t pointer = smp[SMP_HOP_POINTER];

	if (smp[MAD_CLASS] != CLASS_SMP_DIRECT)
		return message->mad.dlid < net->subnet->lids.limit
			       ? ibsa__switch_exit(net->subnet, node,
						   message->mad.dlid)
			       : 0;
	if (!(smp[MAD_STATUS] & SMP_DIRECTION))
		return smp[SMP_HOP_COUNT] ? smp[SMP_INITIAL_PATH + 1] : 0;
	return pointer > 1 && pointer <= SMP_PATH_BYTES
		       ? smp[SMP_RETURN_PATH + pointer - 1]
		       : 0;
}

static bool is_to_itself(const struct mad_net *net,
			 const struct message *message,
			 const struct topo_port *from)
{
	if (message->body.bytes[MAD_CLASS] == CLASS_SMP_DIRECT)
		return !message->body.bytes[SMP_HOP_COUNT];
	return end_by_lid(net->subnet, message->mad.dlid) ==
	       &net->subnet->ends[from->end];
}

void ibsa__count_damage(struct mad_net *net, const struct message *message)
{
	const struct topology *topo = &net->subnet->topo;
	const struct topo_port *from = &topo->ports[message->mad.from];
	const struct topo_node *node = &topo->nodes[from->node];

	if (is_to_itself(net, message, from))
		return;
	if (!from->number) {
		const uint8_t number = switch_exit(net, message, node);

		if (!number || number > node->port_count)
			return;
		from = &topo->ports[node->first_port + number];
	}
	if (from->peer != NO_INDEX)
		ibsa__count_event(net, &topo->ports[from->peer],
				  COUNT_RCV_ERRORS);
}

void ibsa__counters_observe(void *arg, const struct subnet_change *change)
{
	if (change->kind == CHANGE_LINK_DOWNED)
		ibsa__count_event(arg, change->port, COUNT_LINK_DOWNED);
}
