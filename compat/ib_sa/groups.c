/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All multicast groups of a port: the effects of port changes, the audit that
 * detects memberships which the SA has lost, and the end of the groups.
 */
#include <errno.h>

#include "client/client.h"
#include "ib_sa/group.h"
#include "ib_sa/mcmember.h"

static struct mc_group *group_of(struct ibsa__registration *registration)
{
	return list_object(registration, struct mc_group, registration);
}

int ibsa__mc_groups_init(struct sa_port *port)
{
	list_init(&port->groups);
	ibsa__registrations_init(&port->memberships,
				 ibsa__client_engine(port->client), NULL);
	return ibsa__hash_init(&port->mgids);
}

/*
 * End the membership of a multicast group for all its members. @lock is held.
 * The call may free @group.
 */
static void group_end(struct mc_group *group)
{
	group->is_lost = true;
	ibsa__mc_group_work(group);
}

/*
 * Prepare the audit of a multicast group: look up its P_Key, and send a join if
 * that is due. Return: true if no query to the SA is needed; @group may then
 * have been freed.
 */
static bool group_settle(struct mc_group *group)
{
	struct ibsa__sa *sa = group->port->device->sa;
	bool is_over;

	pthread_mutex_lock(&sa->lock);
	group->is_pkey_suspect = true;
	is_over = ibsa__mc_group_is_lost(group) || group->is_waiting;
	group->is_waiting = false;
	ibsa__mc_group_audit(group);
	if (is_over)
		ibsa__mc_group_work(group);
	pthread_mutex_unlock(&sa->lock);
	return is_over;
}

/*
 * Query the SA for the port's membership in the group. The reply's join states
 * are not compared with ours: OpenSM shows any requester whether a port is a
 * member, but not the join states.
 */
static int group_read(struct ibsa__registration *registration)
{
	struct mc_group *group = group_of(registration);
	struct ibsa_mcmember match;
	const struct ibsa_query query = {
		.record = &ibsa_mcmember_record,
		.match = &match,
		.mask = IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(port_gid),
		.method = IBSA_METHOD_GET,
		.first_interval_ms = SA_FIRST_INTERVAL_MS,
		.no_sharing = true,
	};

	if (group_settle(group))
		return 0;
	if (group->asked) {
		ibsa__registration_soon(registration);
		return 0;
	}
	match = ibsa__sa_membership(&group->rec, 0);
	return ibsa__registration_query(registration, &query);
}

/*
 * Handle the reply to an audit of the membership. A timeout, or a reply to a
 * query from before the membership changed, does not end the membership. @lock
 * is held. The call may free @group.
 */
static void group_answer(struct mc_group *group, const struct ibsa_reply *reply)
{
	struct ibsa__registration *registration = &group->registration;

	if (!group->joined && !group->is_waiting)
		ibsa__mc_group_work(group);
	else if (registration->is_stale)
		ibsa__registration_schedule(registration, IBSA__STEP_READ,
					    UINT64_MAX);
	else if (ibsa_reply_outcome(reply) == IBSA_OUTCOME_NONE)
		group_end(group);
	else if (is_refusal(reply->err, reply->status))
		ibsa__registration_present(registration);
	else
		ibsa__registration_failed(registration, reply->err,
					  reply->status);
}

static void group_answered(struct ibsa__registration *registration,
			   const struct ibsa_reply *reply)
{
	struct mc_group *group = group_of(registration);
	struct ibsa__sa *sa = group->port->device->sa;

	pthread_mutex_lock(&sa->lock);
	if (!group->port->device->closing)
		group_answer(group, reply);
	pthread_mutex_unlock(&sa->lock);
}

void ibsa__mc_group_audit_init(struct mc_group *group)
{
	static const struct ibsa__registration_ops ops = {
		.read = group_read,
		.answered = group_answered,
	};
	const unsigned int ms = group->port->device->options.audit_ms;
	struct ibsa__registration *registration = &group->registration;

	ibsa__registration_init(registration, &group->port->memberships, &ops);
	if (ms)
		registration->audit_ms = ms;
	registration->retry_max_ms = registration->audit_ms;
	registration->deadline_ms = SA_TOTAL_MS;
}

void ibsa__mc_group_audit(struct mc_group *group)
{
	struct ibsa__registration *registration = &group->registration;
	const bool is_wanted = group->joined || group->is_waiting;
	const bool is_audited = !list_is_empty(&registration->link);

	if (is_wanted && !is_audited) {
		ibsa__registration_add(registration);
		ibsa__registration_read_next(registration);
	} else if (!is_wanted && is_audited) {
		ibsa__registration_remove(registration);
	}
}

/*
 * The SA may have lost the group's membership. A group that the port had joined
 * waits to be joined again, unless the port is down. An audit query in flight
 * is cancelled, since it is about the old membership.
 */
static void group_note_loss(struct mc_group *group, bool is_down)
{
	group->is_lost = true;
	if (is_down || list_is_empty(&group->registration.link))
		return;
	group->is_waiting = true;
	if (group->registration.query_id)
		ibsa__registration_cancel(&group->registration);
}

/*
 * Schedule the jobs of all groups whose membership @events have ended, or may
 * have ended by a change of P_Keys; the jobs report the end to the members.
 */
static void groups_note_event(struct sa_port *port, unsigned int events,
			      bool is_down)
{
	const unsigned int losses = SA_PORT_ERR | SA_LID_CHANGE |
				    SA_CLIENT_REREGISTER;
	struct ibsa__sa *sa = port->device->sa;
	struct mc_group *group;

	pthread_mutex_lock(&sa->lock);
	LIST_EACH(group, &port->groups, link) {
		if (events & losses)
			group_note_loss(group, is_down);
		if (events & SA_PKEY_CHANGE)
			group->is_pkey_suspect = true;
		if (events & (losses | SA_PKEY_CHANGE))
			ibsa__sa_submit(port->device, &group->job);
	}
	pthread_mutex_unlock(&sa->lock);
}

/*
 * Handle a change of the port. A new SM that does not have the memberships
 * sets the port's bit ClientReregister. Some transports do not report this
 * bit, so the memberships are also audited soon.
 */
void ibsa__mc_groups_event(struct sa_port *port, unsigned int events,
			   unsigned int changes,
			   const struct ibsa_port_state *now)
{
	groups_note_event(port, events, is_port_down(now));
	ibsa__registrations_changed(&port->memberships, changes, now);
}

/*
 * Return: the join states that the SA has for the group, or will have after
 * the request in flight; 0 while the MGID is unknown.
 */
static uint8_t group_states(const struct mc_group *group)
{
	const union ib_gid *mgid = &group->rec.mgid;

	if (!mgid->global.subnet_prefix && !mgid->global.interface_id)
		return 0;
	return group->joined | (group->is_leaving ? 0 : group->asked);
}

void ibsa__mc_groups_leave(struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;
	struct mc_group *group;

	pthread_mutex_lock(&sa->lock);
	LIST_EACH(group, &port->groups, link) {
		const uint8_t states = group_states(group);

		group->is_waiting = false;
		ibsa__mc_group_audit(group);
		if (states)
			(void)ibsa__mc_group_leave(group, states, NULL);
	}
	pthread_mutex_unlock(&sa->lock);
}

static void members_end(struct list *members)
{
	while (!list_is_empty(members))
		ibsa__mc_member_end(list_object(members->next, struct mc_member,
						link),
				    -EINTR);
}

void ibsa__mc_groups_done(struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;

	pthread_mutex_lock(&sa->lock);
	while (!list_is_empty(&port->groups)) {
		struct mc_group *group = list_object(port->groups.next,
						     struct mc_group, link);

		members_end(&group->active);
		members_end(&group->pending);
		ibsa__mc_group_free(group);
	}
	pthread_mutex_unlock(&sa->lock);
}
