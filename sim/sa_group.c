/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MCMemberRecord: the groups that there are, read only.
 *
 * Source: IBA vol 1, 15.2.5.17; RFC 4391, 4 (the broadcast group).
 */
#include "sim/sa.h"

/* The broadcast group of IPoIB in the default partition. */
static const struct sa_group groups[] = {
	{
		.mgid = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff,
			  0xff, 0xff },
		.qkey = 0x0b1b,
		.mlid = IBSA_LID_MULTICAST_MIN,
		.pkey = IBSA_PKEY_DEFAULT,
		.mtu = 4,
		.rate = 3,
		.packet_life_time = 18,
		.scope = 2,
	},
};

enum { GROUP_COUNT = sizeof(groups) / sizeof(groups[0]) };

const struct sa_group *ibsa__sa_group_find(const uint8_t *mgid)
{
	for (int i = 0; i < GROUP_COUNT; i++) {
		if (!memcmp(groups[i].mgid, mgid, sizeof(groups[i].mgid)))
			return &groups[i];
	}
	return NULL;
}

#define HAS(work, field) ((work)->mask & IBSA_MCMEMBER_CM(field))
#define WANT(work, field) \
	((unsigned int)IBSA_GET(mcmember, field, (work)->want))

/* Whether a quantity is greater than, less than or equal to a wanted one. */
static bool is_selected(unsigned int selector, unsigned int have,
			unsigned int want)
{
	switch (selector) {
	case IBSA_SELECT_GREATER:
		return have > want;
	case IBSA_SELECT_LESS:
		return have < want;
	case IBSA_SELECT_EXACTLY:
		return have == want;
	default:
		return true;
	}
}

/*
 * OpenSM takes a selector's bit for its quantity's too, and does not look at
 * the packet life time.
 */
static bool is_wanted(const struct sa_work *work, const struct sa_group *group)
{
	if (HAS(work, mtu_selector) &&
	    !is_selected(WANT(work, mtu_selector), group->mtu, WANT(work, mtu)))
		return false;
	return !HAS(work, rate_selector) ||
	       is_selected(WANT(work, rate_selector),
			   ibsa__rate_rank_of_code(group->rate),
			   ibsa__rate_rank_of_code(WANT(work, rate)));
}

static void encode_group(const struct sa_group *group, uint8_t *out)
{
	struct ibsa_mcmember host = {
		.qkey = group->qkey,
		.mlid = group->mlid,
		.mtu_selector = IBSA_SELECT_EXACTLY,
		.mtu = group->mtu,
		.pkey = group->pkey,
		.rate_selector = IBSA_SELECT_EXACTLY,
		.rate = group->rate,
		.packet_life_time_selector = IBSA_SELECT_EXACTLY,
		.packet_life_time = group->packet_life_time,
		.scope = group->scope,
	};
	uint64_t over;

	memcpy(&host.mgid, group->mgid, sizeof(host.mgid));
	ibsa_mcmember_record.encode(&host, out, &over);
}

static void add_group(struct sa_work *work, const struct sa_filter *filter,
		      const struct sa_group *group)
{
	uint8_t wire[SA_RECORD_BYTES_MAX];
	uint8_t *record;

	encode_group(group, wire);
	if (!is_wanted(work, group) || !ibsa__sa_matches(filter, work, wire))
		return;
	record = ibsa__sa_add(work);
	if (record)
		memcpy(record, wire, ibsa_mcmember_record.size);
}

void ibsa__sa_group(struct sa_work *work)
{
	const uint64_t exact =
		IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(qkey) |
		IBSA_MCMEMBER_CM(mlid) | IBSA_MCMEMBER_CM(tclass) |
		IBSA_MCMEMBER_CM(pkey) | IBSA_MCMEMBER_CM(sl) |
		IBSA_MCMEMBER_CM(flow_label) | IBSA_MCMEMBER_CM(hop_limit) |
		IBSA_MCMEMBER_CM(scope) | IBSA_MCMEMBER_CM(join_state) |
		IBSA_MCMEMBER_CM(proxy_join);
	struct sa_filter filter;

	/* Nobody can join: a request to is one that is not permitted. */
	if (work->method == IBSA_METHOD_SET ||
	    work->method == IBSA_METHOD_DELETE) {
		sa_fail(work, IBSA_STATUS_REQ_DENIED);
		return;
	}
	/* Nor is there a member to name, or to show to the trusted. */
	if (!ibsa__sa_is_query(work) || work->is_trusted || HAS(work, port_gid))
		return;
	ibsa__sa_filter(&ibsa_mcmember_record, exact, work, &filter);
	for (int i = 0; i < GROUP_COUNT && !sa_is_full(work); i++)
		add_group(work, &filter, &groups[i]);
}
