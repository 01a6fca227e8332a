/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * InformInfo and InformInfoRecord: subscriptions to events, kept and shown.
 *
 * Source: IBA vol 1, 13.4.8.3, 15.2.5.12; OpenSM 3.3, osm_sa_informinfo.c.
 */
#include "sim/sa/notice.h"
#include "sim/sa/sa.h"

enum {
	TRAP_SECURITY_FIRST = 256,
	TRAP_SECURITY_LAST = 259,
	AT_QPN = 28, /* three bytes */
};

/* Offsets of InformInfoRecord. */
enum {
	RECORD_AT_ENUM = 16,
	RECORD_AT_INFO = 24,
	GID_BYTES = 16,
};

static void put_qpn(uint8_t *inform_info, uint32_t qpn)
{
	inform_info[AT_QPN] = (uint8_t)(qpn >> 16);
	inform_info[AT_QPN + 1] = (uint8_t)(qpn >> 8);
	inform_info[AT_QPN + 2] = (uint8_t)qpn;
}

static bool shares_pkey(const struct sa_work *work, const struct end_port *end)
{
	return sa_share_pkey(work, work->from, end);
}

/* LIDs up to the last in use, of ports that the requester may know. */
static bool is_known_range(const struct sa_work *work,
			   const struct ibsa_inform_info *info)
{
	const uint32_t first = info->lid_range_begin;
	uint32_t last = info->lid_range_end ? info->lid_range_end : first;

	if (first == LID_RANGE_ALL)
		return true;
	if (first > work->fabric->lids.top)
		return false;
	if (last > work->fabric->lids.top)
		last = work->fabric->lids.top;
	for (uint32_t lid = first; lid <= last; lid++) {
		const struct end_port *end = end_by_lid(work->fabric, lid);

		if (end && !shares_pkey(work, end))
			return false;
	}
	return true;
}

/* Whether what is subscribed to is there, and nothing to be hidden. */
static bool is_known_source(const struct sa_work *work,
			    const struct ibsa_inform_info *info)
{
	const struct end_port *end;

	if (!inform_names_gid(info))
		return is_known_range(work, info);
	end = end_by_guid(work->fabric, ibsa_be64(info->gid.raw + 8));
	return end && shares_pkey(work, end);
}

static bool is_security(const struct ibsa_inform_info *info)
{
	return info->is_generic && info->trap_number >= TRAP_SECURITY_FIRST &&
	       info->trap_number <= TRAP_SECURITY_LAST;
}

static void refuse(struct sa_work *work, uint16_t status)
{
	work->ends_subscription = true;
	sa_fail(work, status);
}

/*
 * Whom a new SA has in its list again, it tells of all ports: they are new to
 * it, too.
 */
static void tell_all(const struct sa_work *work)
{
	struct end_setup *setup = end_setup(work->fabric, work->from);

	if (setup->is_forgotten &&
	    ibsa__notice_all_ports(work->fabric, work->now_ns))
		setup->is_forgotten = false;
}

/* Whether the SM keeps no more. */
static bool is_full(const struct sa_work *work)
{
	enum { FEW_MAX = 32 };

	return work->fabric->like == IBSA_LIKE_FEW &&
	       work->fabric->subscriptions.count >= FEW_MAX;
}

static void subscribe(struct sa_work *work, const struct subscription *like)
{
	struct subscriptions *all = &work->fabric->subscriptions;
	struct subscription *one = ibsa__subscriptions_find(all, like);

	if (!is_known_source(work, &like->info))
		refuse(work, IBSA_STATUS_REQ_INVALID);
	else if (one)
		*one = *like;
	else if (is_full(work) || ibsa__subscriptions_add(all, like))
		refuse(work, IBSA_STATUS_NO_RESOURCES);
	else
		tell_all(work);
}

static void unsubscribe(struct sa_work *work, const struct subscription *like)
{
	struct subscriptions *all = &work->fabric->subscriptions;
	struct subscription *one = ibsa__subscriptions_find(all, like);

	if (one)
		ibsa__subscriptions_remove(all, one);
	else
		refuse(work, IBSA_STATUS_REQ_INVALID);
}

/* What is asked for, and by whom: both make the subscription. */
static struct subscription asked(const struct sa_work *work)
{
	const struct end_setup *setup = end_setup(work->fabric, work->from);
	struct subscription like = {
		.end = (uint32_t)(work->from - work->fabric->ends),
		.lid = work->from->lid +
		       (work->to->path_bits & (work->from->lid_count - 1u)),
		.pkey = setup_pkey(setup, work->to->pkey_index),
		.sa = *work->to,
	};

	memcpy(like.inform_info, work->bytes, INFORM_INFO_BYTES);
	ibsa_inform_info_record.decode(work->bytes, &like.info);
	return like;
}

void ibsa__sa_inform_info(struct sa_work *work)
{
	struct subscription like = asked(work);
	uint8_t *record;

	if (work->method != IBSA_METHOD_SET) {
		sa_fail(work, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
		return;
	}
	if (like.info.subscribe > 1) {
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
		return;
	}
	if (is_security(&like.info) && !work->is_trusted) {
		sa_fail_untrusted(work);
		return;
	}
	if (like.info.subscribe) {
		/* Kept with the QP that asks, whatever QPN it writes. */
		put_qpn(like.inform_info, IBSA_QPN_GSI);
		subscribe(work, &like);
	} else {
		unsubscribe(work, &like);
	}
	if (work->status)
		return;
	record = ibsa__sa_add(work);
	if (record)
		memcpy(record, work->bytes, INFORM_INFO_BYTES);
}

static void add_record(struct sa_work *work, const struct subscription *one)
{
	const struct ibsa_fabric *fabric = work->fabric;
	const struct end_port *subscriber = &fabric->ends[one->end];
	uint8_t gid[GID_BYTES];
	uint8_t *out;

	if (!subscriber->is_seen || !shares_pkey(work, subscriber))
		return;
	end_gid(fabric, subscriber, gid);
	if (work->mask & IBSA_INFORM_INFO_REC_CM(subscriber_gid) &&
	    memcmp(gid, work->bytes, GID_BYTES))
		return;
	/* There is one subscriber at each port: number 0. */
	if (work->mask & IBSA_INFORM_INFO_REC_CM(subscriber_enum) &&
	    ibsa_be16(work->bytes + RECORD_AT_ENUM))
		return;
	out = ibsa__sa_add(work);
	if (!out)
		return;
	memcpy(out, gid, GID_BYTES);
	memcpy(out + RECORD_AT_INFO, one->inform_info, INFORM_INFO_BYTES);
	if (!work->is_trusted)
		put_qpn(out + RECORD_AT_INFO, 0);
}

void ibsa__sa_inform_info_record(struct sa_work *work)
{
	const struct subscriptions *all = &work->fabric->subscriptions;

	if (!ibsa__sa_is_query(work))
		return;
	for (size_t i = all->count; i > 0 && !sa_is_full(work); i--)
		add_record(work, &all->all[i - 1]);
}
