/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the path between two ports, and checks that it has the values which
 * the request selects.
 *
 * Source: OpenSM 3.3, osm_sa_path_record.c.
 */
#include <errno.h>

#include "fabric/sa/path.h"

/* PacketLifeTime of every path between two different ports. */
enum { LIFE_TIME = 18 };

/*
 * Lower the largest possible value *@have to the largest value that satisfies
 * the selector; values begin at 1. Return: false: no value satisfies it.
 */
static bool select_up_to(unsigned int selector, uint8_t want, uint8_t *have)
{
	switch (selector) {
	case IBSA_SELECT_GREATER:
		return *have > want;
	case IBSA_SELECT_LESS:
		if (*have >= want)
			*have = want - 1;
		return want > 1;
	case IBSA_SELECT_EXACTLY:
		if (*have < want)
			return false;
		*have = want;
		return true;
	default:
		return true;
	}
}

static bool select_mtu(const struct path_query *query, struct path *path)
{
	if (!HAS(query, mtu_selector) || !HAS(query, mtu))
		return true;
	return select_up_to(query->want->mtu_selector, query->want->mtu,
			    &path->mtu);
}

/*
 * Check the path's rate. Unlike the MTU, the rate is not lowered to the wanted
 * one if the selector is "exactly", because the links of the path may not
 * support this rate.
 */
static bool select_rate(const struct path_query *query, struct path *path)
{
	uint8_t want;

	if (!HAS(query, rate_selector) || !HAS(query, rate))
		return true;
	want = ibsa__rate_rank_of_code(query->want->rate);
	if (query->want->rate_selector == IBSA_SELECT_EXACTLY)
		return path->rate == want;
	return select_up_to(query->want->rate_selector, want, &path->rate);
}

static bool select_life_time(const struct path_query *query, struct path *path)
{
	const uint8_t how = query->want->packet_life_time_selector;
	const uint8_t want = query->want->packet_life_time;

	if (!HAS(query, packet_life_time_selector) ||
	    !HAS(query, packet_life_time))
		return true;
	/*
	 * The life time of a path from a port to itself is 0, which is a valid
	 * value only here: select_up_to() would refuse it as not less than 1.
	 */
	if (how == IBSA_SELECT_LESS && path->life_time < want)
		return true;
	return select_up_to(how, want, &path->life_time);
}

bool ibsa__path_choose_pkey(struct path_query *query)
{
	query->pkey = IBSA_PKEY_DEFAULT;
	if (HAS(query, raw_traffic) && query->want->raw_traffic) {
		query->pkey = 0;
		return true;
	}
	if (!HAS(query, pkey))
		return true;
	query->pkey = query->want->pkey;
	if (!query->work->subnet->pkey_tables)
		return (query->pkey | IBSA_PKEY_FULL) == IBSA_PKEY_DEFAULT;
	return query->pkey & ~IBSA_PKEY_FULL;
}

/*
 * Whether two ports share a P_Key, so that the SA shows records of one of them
 * to the other.
 */
static bool may_know(const struct end_setup *asks, const struct end_setup *end)
{
	return asks == end || ibsa__pkey_shared(asks, end);
}

/*
 * If ports have P_Key tables: choose the wanted P_Key for the path, or the
 * lowest that both ports share. Return: false: the ports share no P_Key, or
 * one of them shares none with the requester.
 */
static bool share_pkey(const struct path_query *query, struct path *path)
{
	const struct subnet *subnet = query->work->subnet;
	const struct end_setup *asks = end_setup(subnet, query->work->from);
	const struct end_setup *from = end_setup(subnet, path->from.end);
	const struct end_setup *to = end_setup(subnet, path->to.end);

	if (!may_know(asks, from) || !may_know(asks, to))
		return false;
	if (!query->pkey) /* raw traffic has no P_Key */
		return true;
	if (HAS(query, pkey))
		return ibsa__pkey_is_usable(from, to, query->pkey);
	path->pkey = ibsa__pkey_shared(from, to);
	return path->pkey;
}

bool ibsa__path_find(const struct path_query *query,
		     const struct port_name *from, const struct port_name *to,
		     struct path *out)
{
	struct span span;
	const int err = ibsa__route_span(query->work->subnet, from->end,
					 to->end, &span);

	if (err == -ENOMEM)
		sa_fail(query->work, IBSA_STATUS_NO_RESOURCES);
	if (err)
		return false;
	*out = (struct path){
		.from = *from,
		.to = *to,
		.pkey = query->pkey,
		.rate = span.rate,
		.mtu = span.mtu,
		.life_time = from->end == to->end ? 0 : LIFE_TIME,
	};
	if (query->work->subnet->pkey_tables && !share_pkey(query, out))
		return false;
	return select_mtu(query, out) && select_rate(query, out) &&
	       select_life_time(query, out);
}
