/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All multicast groups of a port: what a change of the port does to them, how
 * it is noticed that the SA has forgotten them, and their end.
 */
#include <errno.h>

#include "client/client.h"
#include "ib_sa/group.h"
#include "ib_sa/mcmember.h"

enum {
	DEFAULT_AUDIT_MS = 30000,
	SOON_MS = 1000, /* when there is another SM */
	TOTAL_MS = 3000,
	FIRST_INTERVAL_MS = 300,
};

static void audit(struct ibsa__alarm *alarm);

int ibsa__mc_groups_init(struct sa_port *port)
{
	list_init(&port->groups);
	ibsa__alarm_init(&port->audit, audit);
	return ibsa__hash_init(&port->mgids);
}

static void set_audit(struct sa_port *port, unsigned int ms)
{
	port->is_audited = true;
	ibsa__alarm_set(ibsa__client_engine(port->client), &port->audit, ms);
}

void ibsa__mc_audit_start(struct sa_port *port)
{
	const unsigned int ms = port->device->options.audit_ms;

	if (!port->is_audited)
		set_audit(port, ms ? ms : DEFAULT_AUDIT_MS);
}

static struct mc_group *group_at(struct list *link)
{
	return list_object(link, struct mc_group, link);
}

/* Have its members told, unless there is worse already. */
static void trouble_group(struct mc_group *group, enum mc_trouble trouble)
{
	if (group->trouble < trouble)
		group->trouble = trouble;
	ibsa__sa_submit(group->port->device, &group->job);
}

/* Nothing is concluded from silence, nor from what was asked before the
 * membership changed. */
static void note_read(const struct ibsa_reply *reply, void *arg)
{
	struct mc_group *group = arg;
	struct ibsa__sa *sa = group->port->device->sa;
	const bool is_lost = ibsa_outcome(reply) == IBSA_OUTCOME_NONE;

	pthread_mutex_lock(&sa->lock);
	group->is_read_back = false;
	trouble_group(group, is_lost && !group->is_read_stale ? GROUP_IS_LOST
							      : GROUP_IS_WELL);
	pthread_mutex_unlock(&sa->lock);
}

/*
 * OpenSM tells everybody whether a port is a member, if not in which states.
 * The lock is let go of meanwhile.
 */
static void read_back(struct mc_group *group)
{
	struct ibsa__sa *sa = group->port->device->sa;
	const struct ibsa_mcmember match = ibsa__sa_membership(&group->rec, 0);
	const struct ibsa_query question = {
		.record = &ibsa_mcmember_record,
		.match = &match,
		.mask = IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(port_gid),
		.method = IBSA_METHOD_GET,
		.deadline_ms = TOTAL_MS,
		.queue_ms = group->port->device->options.queue_ms,
		.first_interval_ms = FIRST_INTERVAL_MS,
		.no_sharing = true,
	};
	int err;

	group->is_read_back = true;
	group->is_read_stale = false;
	pthread_mutex_unlock(&sa->lock);
	err = ibsa_query(group->port->client, &question, note_read, group,
			 NULL);
	pthread_mutex_lock(&sa->lock);
	if (err)
		group->is_read_back = false;
}

/* Locked. */
static void audit_group(struct mc_group *group)
{
	trouble_group(group, GROUP_PKEY_CHANGE);
	if (!group->asked && !group->is_read_back)
		read_back(group);
}

/* New groups are appended meanwhile; only the dispatcher takes any away. */
static void audit(struct ibsa__alarm *alarm)
{
	struct sa_port *port = list_object(alarm, struct sa_port, audit);
	struct ibsa__sa *sa = port->device->sa;
	bool has_joined = false;

	port->is_audited = false;
	pthread_mutex_lock(&sa->lock);
	for (struct list *at = port->groups.next; at != &port->groups;
	     at = at->next) {
		if (!group_at(at)->joined)
			continue;
		has_joined = true;
		audit_group(group_at(at));
	}
	pthread_mutex_unlock(&sa->lock);
	if (has_joined)
		ibsa__mc_audit_start(port);
}

static enum mc_trouble trouble_of(unsigned int events)
{
	if (events & (SA_PORT_ERR | SA_LID_CHANGE | SA_CLIENT_REREGISTER))
		return GROUP_IS_LOST;
	return events & SA_PKEY_CHANGE ? GROUP_PKEY_CHANGE : GROUP_IS_WELL;
}

/* Another SM asks for all memberships anew if it does not know them; since
 * not every transport hears that, it is asked. */
void ibsa__mc_groups_event(struct sa_port *port, unsigned int events)
{
	const enum mc_trouble trouble = trouble_of(events);
	struct ibsa__sa *sa = port->device->sa;

	if (events & SA_SM_CHANGE && port->is_audited)
		set_audit(port, SOON_MS);
	if (trouble == GROUP_IS_WELL)
		return;
	pthread_mutex_lock(&sa->lock);
	for (struct list *at = port->groups.next; at != &port->groups;
	     at = at->next)
		trouble_group(group_at(at), trouble);
	pthread_mutex_unlock(&sa->lock);
}

/* What the SA has, or will have, us in; as far as it can be named. */
static uint8_t states_of(const struct mc_group *group)
{
	const union ib_gid *mgid = &group->rec.mgid;

	if (!mgid->global.subnet_prefix && !mgid->global.interface_id)
		return 0;
	return group->joined | (group->is_leaving ? 0 : group->asked);
}

void ibsa__mc_groups_leave(struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;

	pthread_mutex_lock(&sa->lock);
	for (struct list *at = port->groups.next; at != &port->groups;
	     at = at->next) {
		const uint8_t states = states_of(group_at(at));

		if (states)
			(void)ibsa__mc_group_give_up(group_at(at), states,
						     NULL);
	}
	pthread_mutex_unlock(&sa->lock);
}

static void turn_out_all(struct list *members)
{
	while (!list_is_empty(members))
		ibsa__mc_group_turn_out(list_object(members->next,
						    struct mc_member, link),
					-EINTR);
}

void ibsa__mc_groups_done(struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;

	pthread_mutex_lock(&sa->lock);
	while (!list_is_empty(&port->groups)) {
		struct mc_group *group = group_at(port->groups.next);

		turn_out_all(&group->active);
		turn_out_all(&group->pending);
		ibsa__mc_group_free(group);
	}
	pthread_mutex_unlock(&sa->lock);
}
