/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * InformInfo and InformInfoRecord: creates, deletes and lists subscriptions.
 *
 * Source: IBA vol 1, 13.4.8.3, 15.2.5.12; OpenSM 3.3, osm_sa_informinfo.c.
 */
#include "fabric/sa/notice.h"
#include "fabric/sa/sa.h"

enum {
	TRAP_SECURITY_FIRST = 256,
	TRAP_SECURITY_LAST = 259,
};

static bool shares_pkey(const struct sa_work *work, const struct end_port *end)
{
	return sa_share_pkey(work, work->from, end);
}

/*
 * Whether the subscription's LID range begins within the LIDs in use, and the
 * requester shares a partition with each port in the range. The range that
 * stands for all LIDs is always accepted.
 */
static bool is_known_range(const struct sa_work *work,
			   const struct ibsa_inform_info *info)
{
	const uint32_t first = info->lid_range_begin;
	uint32_t last = info->lid_range_end ? info->lid_range_end : first;

	if (first == LID_RANGE_ALL)
		return true;
	if (first > work->subnet->lids.top)
		return false;
	if (last > work->subnet->lids.top)
		last = work->subnet->lids.top;
	for (uint32_t lid = first; lid <= last; lid++) {
		const struct end_port *end = end_by_lid(work->subnet, lid);

		if (end && !shares_pkey(work, end))
			return false;
	}
	return true;
}

/*
 * Whether the issuer that the subscription names exists, and shares a
 * partition with the requester.
 */
static bool is_known_source(const struct sa_work *work,
			    const struct ibsa_inform_info *info)
{
	const struct end_port *end;

	if (!inform_names_gid(info))
		return is_known_range(work, info);
	end = end_by_guid(work->subnet, ibsa_be64(info->gid.raw + 8));
	return end && shares_pkey(work, end);
}

static bool is_security(const struct ibsa_inform_info *info)
{
	return info->is_generic && info->trap_number >= TRAP_SECURITY_FIRST &&
	       info->trap_number <= TRAP_SECURITY_LAST;
}

static void request_refuse(struct sa_work *work, uint16_t status)
{
	work->ends_subscription = true;
	sa_fail(work, status);
}

/*
 * Send Reports about all ports to a client that subscribes again after the SA
 * was restarted: to a new SM, all ports are new. See ibsa__notice_all_ports().
 */
static void all_ports_report(const struct sa_work *work)
{
	struct end_setup *setup = end_setup(work->subnet, work->from);

	if (setup->is_forgotten &&
	    ibsa__notice_all_ports(work->sa, work->now_ns))
		setup->is_forgotten = false;
}

/*
 * Whether the SA stores no more subscriptions: with the SM profile "few", it
 * stores 32.
 */
static bool subscriptions_are_full(const struct sa_work *work)
{
	enum { FEW_MAX = 32 };

	return work->sa->profile == IBSA_SM_PROFILE_FEW &&
	       work->sa->subscriptions.count >= FEW_MAX;
}

static void subscription_set(struct sa_work *work,
			     const struct subscription *wanted)
{
	struct subscriptions *all = &work->sa->subscriptions;
	struct subscription *one = ibsa__subscriptions_find(all, wanted);

	if (!is_known_source(work, &wanted->info))
		request_refuse(work, IBSA_STATUS_REQ_INVALID);
	else if (one)
		*one = *wanted;
	else if (subscriptions_are_full(work) ||
		 ibsa__subscriptions_add(all, wanted))
		request_refuse(work, IBSA_STATUS_NO_RESOURCES);
	else
		all_ports_report(work);
}

static void subscription_delete(struct sa_work *work,
				const struct subscription *wanted)
{
	struct subscriptions *all = &work->sa->subscriptions;
	struct subscription *one = ibsa__subscriptions_find(all, wanted);

	if (one)
		ibsa__subscriptions_remove(all, one);
	else
		request_refuse(work, IBSA_STATUS_REQ_INVALID);
}

/* Return: the subscription that the request describes. */
static struct subscription subscription_of_request(const struct sa_work *work)
{
	const struct end_setup *setup = end_setup(work->subnet, work->from);
	return (struct subscription){
		.end = (uint32_t)(work->from - work->subnet->ends),
		.lid = work->from->lid +
		       (work->to->path_bits & (work->from->lid_count - 1u)),
		.pkey = setup_pkey(setup, work->to->pkey_index),
		.sa = *work->to,
		.info = work->want->inform_info,
	};
}

void ibsa__sa_inform_info(struct sa_work *work)
{
	struct subscription wanted = subscription_of_request(work);

	if (work->method != IBSA_METHOD_SET) {
		sa_fail(work, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
		return;
	}
	if (wanted.info.subscribe > 1) {
		sa_fail(work, IBSA_STATUS_REQ_INVALID);
		return;
	}
	if (is_security(&wanted.info) && !work->is_trusted) {
		sa_fail_untrusted(work);
		return;
	}
	if (wanted.info.subscribe) {
		/*
		 * Reports are sent to QP 1, from which the request came; the
		 * QPN in the request is ignored.
		 */
		wanted.info.qpn = IBSA_QPN_GSI;
		subscription_set(work, &wanted);
	} else {
		subscription_delete(work, &wanted);
	}
	if (!work->status)
		ibsa__sa_append(work, &work->want->inform_info);
}

/*
 * Return: the InformInfoRecord of a subscription. Each port has a single
 * subscriber, number 0.
 */
static struct ibsa_inform_info_rec inform_record(const struct subnet *subnet,
						 const struct subscription *one)
{
	const struct ibsa_inform_info *info = &one->info;
	struct ibsa_inform_info_rec row = {
		.gid = info->gid,
		.lid_range_begin = info->lid_range_begin,
		.lid_range_end = info->lid_range_end,
		.is_generic = info->is_generic,
		.subscribe = info->subscribe,
		.type = info->type,
		.trap_number = info->trap_number,
		.qpn = info->qpn,
		.resp_time_value = info->resp_time_value,
		.producer_type = info->producer_type,
	};

	end_gid(subnet, &subnet->ends[one->end], row.subscriber_gid.raw);
	return row;
}

static void inform_add(struct sa_work *work, const struct sa_match *match,
		       const struct subscription *one)
{
	const struct end_port *subscriber = &work->subnet->ends[one->end];
	struct ibsa_inform_info_rec row;

	if (!subscriber->is_seen || !shares_pkey(work, subscriber))
		return;
	row = inform_record(work->subnet, one);
	if (!ibsa__sa_agree(match, &row, work->want))
		return;
	if (!work->is_trusted)
		row.qpn = 0;
	ibsa__sa_append(work, &row);
}

void ibsa__sa_inform_info_record(struct sa_work *work)
{
	const uint64_t exact = IBSA_INFORM_INFO_REC_CM(subscriber_gid) |
			       IBSA_INFORM_INFO_REC_CM(subscriber_enum);
	const struct subscriptions *all = &work->sa->subscriptions;
	struct sa_match match;
	size_t i;

	if (!ibsa__sa_is_query(work))
		return;
	ibsa__sa_select(work->record, work->mask & exact, &match);
	while (sa_next(work, all->count, &i))
		inform_add(work, &match, &all->all[all->count - 1 - i]);
}
