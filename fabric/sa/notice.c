/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes notices (traps) about changes in the subnet, and finds the subscribers
 * to which the SA sends them as Reports.
 *
 * Source: IBA vol 1, 13.4.8.2 and 13.4.11 (forwarding), 14.2.5.1 (details);
 * OpenSM 3.3, osm_inform.c, for the rules of matching.
 */
#include <string.h>

#include "base/clock.h"
#include "fabric/sa/notice.h"
#include "fabric/sa/report.h"

/* Values of a subscription that stand for all types, traps and producers. */
enum {
	ANY_TYPE = 0xffff,
	ANY_TRAP = 0xffff,
	ANY_PRODUCER = 0xffffff,
};

enum notice_type {
	TYPE_URGENT = 1,
	TYPE_SUBNET = 3,
	TYPE_INFORMATIONAL = 4,
};

enum { PRODUCER_CLASS_MANAGER = 4 };

/* Offsets in DataDetails. IBA vol 1, 14.2.5.1. */
enum {
	DETAIL_GID = 6,		 /* traps 64 to 67 */
	DETAIL_SWITCH_LID = 0,	 /* trap 128 */
	DETAIL_LID = 2,		 /* trap 144 */
	DETAIL_CAPABILITIES = 6, /* trap 144 */
	/* Time that the SM takes to discover all ports after its start. */
	FIND_ALL_NS = NS_PER_MS,
};

/*
 * A notice, and the partitions of its receivers: a subscriber must be a member
 * of a partition of the port @source; if @source is NULL, of the partition of
 * @pkey.
 */
struct notice {
	struct sa *sa;
	struct ibsa_notice body;
	const struct end_setup *source; /* any P_Key of this port, or */
	uint16_t pkey;			/* this P_Key */
	uint64_t now_ns;
};

/*
 * Whether the issuer of the notice is in the GID or LID range of a
 * subscription.
 */
static bool subscription_has_issuer(const struct ibsa_inform_info *want,
				    const struct ibsa_notice *body)
{
	if (inform_names_gid(want))
		return !memcmp(want->gid.raw, body->issuer_gid.raw,
			       sizeof(want->gid.raw));
	return want->lid_range_begin == LID_RANGE_ALL ||
	       (want->lid_range_begin <= body->issuer_lid &&
		body->issuer_lid <= want->lid_range_end);
}

static bool subscription_matches(const struct ibsa_inform_info *want,
				 const struct ibsa_notice *body)
{
	return want->is_generic &&
	       (want->type == ANY_TYPE || want->type == body->type) &&
	       (want->trap_number == ANY_TRAP ||
		want->trap_number == body->trap_number) &&
	       (want->producer_type == ANY_PRODUCER ||
		want->producer_type == body->producer_type) &&
	       subscription_has_issuer(want, body);
}

static bool subscriber_may_receive(const struct notice *notice,
				   const struct end_port *end)
{
	const struct end_setup *setup = end_setup(notice->sa->subnet, end);

	if (notice->source)
		return ibsa__pkey_shared(notice->source, setup);
	return ibsa__pkey_has(setup, notice->pkey);
}

/*
 * Send a notice to a subscriber, at the port that currently has the
 * subscriber's LID. A subscription to a range of LIDs is deleted if its port
 * may not receive notices about a port of the range (IBA o13-17.1.2; OpenSM).
 * Return: whether the subscription still exists.
 */
static bool subscription_notify(const struct notice *notice,
				struct subscription *one)
{
	struct sa *sa = notice->sa;
	const struct end_port *end = end_by_lid(sa->subnet, one->lid);

	if (!end)
		return true;
	if (subscriber_may_receive(notice, end)) {
		ibsa__report_send(sa, (uint32_t)(end - sa->subnet->ends),
				  &one->sa, &notice->body, notice->now_ns);
		return true;
	}
	if (!notice->source || one->info.lid_range_begin == LID_RANGE_ALL)
		return true;
	ibsa__subscriptions_remove(&sa->subscriptions, one);
	return false;
}

/*
 * Send a Report to each subscriber whose subscription matches the notice and
 * which may receive it (see subscription_notify()), the newest subscription
 * first.
 */
static void subscribers_notify(const struct notice *notice)
{
	struct subscriptions *all = &notice->sa->subscriptions;

	for (size_t i = all->count; i > 0; i--) {
		struct subscription *one = &all->all[i - 1];

		if (subscription_matches(&one->info, &notice->body))
			(void)subscription_notify(notice, one);
	}
}

/* Make a notice whose issuer is @issuer. */
static struct notice notice_start(struct sa *sa, enum trap trap,
				  enum notice_type type,
				  const struct end_port *issuer)
{
	struct notice notice = {
		.sa = sa,
		.body = {
			.is_generic = 1,
			.type = (uint8_t)type,
			.producer_type = end_topo_node(sa->subnet, issuer)->type,
			.trap_number = (uint16_t)trap,
			.issuer_lid = lid_in_16_bits(issuer->lid),
		},
		.source = end_setup(sa->subnet, issuer),
	};

	end_gid(sa->subnet, issuer, notice.body.issuer_gid.raw);
	return notice;
}

/*
 * Return: a notice about a GID, such as one of a new port, with the SM as its
 * issuer.
 */
static struct notice notice_about_gid(struct sa *sa, enum trap trap,
				      const uint8_t *gid)
{
	struct notice notice = notice_start(
		sa, trap, TYPE_SUBNET, &sa->subnet->ends[sa->subnet->sa_end]);

	notice.body.producer_type = PRODUCER_CLASS_MANAGER;
	memcpy(notice.body.data_details + DETAIL_GID, gid, MGID_BYTES);
	return notice;
}

static struct notice notice_about_port(struct sa *sa, enum trap trap,
				       const struct end_port *end)
{
	struct notice notice;
	uint8_t gid[16];

	end_gid(sa->subnet, end, gid);
	notice = notice_about_gid(sa, trap, gid);
	notice.source = end_setup(sa->subnet, end);
	return notice;
}

static void notice_port(struct sa *sa, enum trap trap,
			const struct end_port *end, uint64_t now_ns)
{
	struct notice notice = notice_about_port(sa, trap, end);

	notice.now_ns = now_ns;
	subscribers_notify(&notice);
}

void ibsa__notice_group(struct sa *sa, enum trap trap,
			const struct group *group, uint64_t now_ns)
{
	struct notice notice = notice_about_gid(sa, trap,
						group->record.mgid.raw);

	notice.source = NULL;
	notice.pkey = group->record.pkey;
	notice.now_ns = now_ns;
	subscribers_notify(&notice);
}

static void notice_link(struct sa *sa, const struct end_port *own_port,
			uint64_t now_ns)
{
	struct notice notice = notice_start(sa, TRAP_LINK_STATE, TYPE_URGENT,
					    own_port);

	ibsa_put_be16(notice.body.data_details + DETAIL_SWITCH_LID,
		      notice.body.issuer_lid);
	notice.now_ns = now_ns;
	subscribers_notify(&notice);
}

static void notice_capabilities(struct sa *sa, const struct end_port *end,
				uint32_t mask, uint64_t now_ns)
{
	struct notice notice = notice_start(sa, TRAP_LOCAL_CHANGES,
					    TYPE_INFORMATIONAL, end);

	ibsa_put_be16(notice.body.data_details + DETAIL_LID,
		      notice.body.issuer_lid);
	ibsa_put_be32(notice.body.data_details + DETAIL_CAPABILITIES, mask);
	notice.now_ns = now_ns;
	subscribers_notify(&notice);
}

bool ibsa__notice_all_ports(struct sa *sa, uint64_t now_ns)
{
	const struct subscriptions *all = &sa->subscriptions;
	struct subscription *one = &all->all[all->count - 1];

	for (uint32_t i = sa->subnet->ends_from; i < sa->subnet->ends_to; i++) {
		struct notice notice = notice_about_port(
			sa, TRAP_GID_IN_SERVICE, &sa->subnet->ends[i]);

		if (!subscription_matches(&one->info, &notice.body))
			return false;
		notice.now_ns = now_ns + FIND_ALL_NS;
		if (sa->subnet->ends[i].is_seen &&
		    !subscription_notify(&notice, one))
			break;
	}
	return true;
}

/*
 * Whether the embedded SM runs, has discovered an end port, and so receives
 * its traps.
 */
static bool sm_receives_from(const struct subnet *subnet,
			     const struct end_port *end)
{
	return subnet->sa_running && end->is_seen &&
	       end_setup(subnet, end)->is_known;
}

void ibsa__sa_observe(void *arg, const struct subnet_change *change)
{
	struct sa *sa = arg;
	const uint64_t now_ns = fabric_clock_now(sa->subnet->clock);

	switch (change->kind) {
	case CHANGE_LINK:
		if (sm_receives_from(sa->subnet, change->end))
			notice_link(sa, change->end, now_ns);
		break;
	case CHANGE_CAPABILITIES:
		if (sm_receives_from(sa->subnet, change->end))
			notice_capabilities(sa, change->end,
					    change->capability_mask, now_ns);
		break;
	case CHANGE_PORT_LOST:
		notice_port(sa, TRAP_GID_OUT_OF_SERVICE, change->end, now_ns);
		break;
	case CHANGE_PORTS_LOST:
		ibsa__names_forget_lost(sa, now_ns);
		break;
	case CHANGE_PORT_FOUND:
		notice_port(sa, TRAP_GID_IN_SERVICE, change->end, now_ns);
		break;
	default:
		break;
	}
}
