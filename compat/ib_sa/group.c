/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A multicast group of a port, from its first member to its last. A group has
 * at most one request to join or leave in flight. After each event, the group's
 * next step is determined anew.
 *
 * Source: Linux drivers/infiniband/core/multicast.c.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "client/client.h"
#include "ib_sa/group.h"
#include "ib_sa/mcmember.h"

enum {
	LEAVE_RETRIES = 3,
	PKEY_BITS = 0x7fff, /* the P_Key without its membership bit */
};

static bool gid_is_zero(const union ib_gid *gid)
{
	return !gid->global.subnet_prefix && !gid->global.interface_id;
}

static bool gids_are_same(const union ib_gid *a, const union ib_gid *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static uint64_t mgid_key(const union ib_gid *mgid)
{
	struct random random = { mgid->global.subnet_prefix };

	random.state = random_next(&random) ^ mgid->global.interface_id;
	return random_next(&random);
}

struct mc_group *ibsa__mc_group_find(const struct sa_port *port,
				     const union ib_gid *mgid)
{
	const uint64_t key = mgid_key(mgid);
	struct hash_node *node = hash_find(&port->mgids, key);

	for (; node; node = hash_from(node->next, key)) {
		struct mc_group *group = hash_object(node, struct mc_group,
						     node);

		if (gids_are_same(&group->rec.mgid, mgid))
			return group;
	}
	return NULL;
}

static void group_set_mgid(struct mc_group *group, const union ib_gid *mgid)
{
	group->rec.mgid = *mgid;
	if (!gid_is_zero(mgid))
		ibsa__hash_add(&group->port->mgids, &group->node,
			       mgid_key(mgid));
}

void ibsa__mc_group_free(struct mc_group *group)
{
	ibsa__sa_withdraw(group->port->device, &group->job);
	group->joined = 0;
	group->is_waiting = false;
	ibsa__mc_group_audit(group);
	if (!gid_is_zero(&group->rec.mgid))
		ibsa__hash_remove(&group->port->mgids, &group->node);
	list_remove(&group->link);
	ibsa__free(group);
}

static void group_run_job(struct sa_job *job);

static struct mc_group *group_new(struct sa_port *port,
				  const union ib_gid *mgid)
{
	struct mc_group *group = ibsa__calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	list_init(&group->job.link);
	group->job.run = group_run_job;
	group->port = port;
	group->pkey_index = NO_PKEY_INDEX;
	list_init(&group->pending);
	list_init(&group->active);
	ibsa__mc_group_audit_init(group);
	list_append(&port->groups, &group->link);
	group_set_mgid(group, mgid);
	return group;
}

/*
 * If the MGID is 0, the SA chooses an MGID, a new one for each request; the
 * member therefore gets a group of its own. The port is read before the join
 * is sent: a change of the port that is detected later ends the membership,
 * and would do so even if it was earlier than the join.
 */
int ibsa__mc_group_add(struct sa_port *port, struct mc_member *member)
{
	const union ib_gid *mgid = &member->multicast.rec.mgid;
	struct mc_group *group = NULL;

	if (!gid_is_zero(mgid))
		group = ibsa__mc_group_find(port, mgid);
	if (!group)
		group = group_new(port, mgid);
	if (!group)
		return -ENOMEM;
	member->group = group;
	list_append(&group->pending, &member->link);
	ibsa__sa_submit(port->device, &port->refresh);
	ibsa__sa_submit(port->device, &group->job);
	return 0;
}

static void group_count_holder(struct mc_group *group, uint8_t states, int by)
{
	for (int i = 0; i < NUM_JOIN_MEMBERSHIP_TYPES; i++) {
		if (states >> i & 1)
			group->holders[i] += (unsigned int)by;
	}
}

static void member_detach(struct mc_member *member)
{
	struct mc_group *group = member->group;

	if (member->holds)
		group_count_holder(group, member->states, -1);
	if (group->requester == member)
		group->requester = NULL;
	member->holds = false;
	member->group = NULL;
	list_remove(&member->link);
}

void ibsa__mc_group_remove(struct mc_member *member)
{
	struct mc_group *group = member->group;

	if (!group)
		return;
	member_detach(member);
	ibsa__sa_submit(group->port->device, &group->job);
}

/*
 * Report @status to @member and remove it from its group. @member may be
 * waiting for its membership still.
 */
void ibsa__mc_member_end(struct mc_member *member, int status)
{
	struct ib_device *device = member->group->port->device;

	member_detach(member);
	ibsa__mc_member_call(member, device, status);
}

/*
 * Submit a request of the group. @lock is released while the query is
 * submitted. Meanwhile members may be freed, but not the group.
 */
static int group_query(struct mc_group *group, uint8_t method,
		       const struct ibsa_mcmember *match, uint64_t mask,
		       ibsa_reply_fn done)
{
	const struct ibsa_query query = {
		.record = &ibsa_mcmember_record,
		.match = match,
		.mask = mask & ibsa_mcmember_record.mask,
		.method = method,
		.deadline_ms = SA_TOTAL_MS,
		.first_interval_ms = SA_FIRST_INTERVAL_MS,
		.no_sharing = true,
	};
	struct ibsa__sa *sa = group->port->device->sa;
	int err;

	group->registration.is_stale = group->registration.query_id;
	pthread_mutex_unlock(&sa->lock);
	err = ibsa_query_start(group->port->client, &query, done, group, NULL);
	pthread_mutex_lock(&sa->lock);
	return err;
}

/*
 * The join request has failed. Report @status to the member for which it was
 * sent, if this member still waits.
 */
static void group_refuse_requester(struct mc_group *group, int status)
{
	struct mc_member *member = group->requester;

	if (member)
		ibsa__mc_member_end(member, status);
}

static void group_note_join(const struct ibsa_reply *reply, void *arg);

static void group_join(struct mc_group *group, struct mc_member *member)
{
	struct ibsa_mcmember match;
	int err;

	ibsa__sa_mcmember_to_host(&member->multicast.rec, &match);
	match.join_state = member->states;
	group->rec.port_gid = member->multicast.rec.port_gid;
	group->requester = member;
	group->asked = member->states;
	group->is_leaving = false;
	err = group_query(group, IBSA_METHOD_SET, &match,
			  be64toh(member->multicast.comp_mask),
			  group_note_join);
	if (!err)
		return;
	group->asked = 0;
	group_refuse_requester(group, err == -ENETDOWN ? -EAGAIN : err);
}

static void group_note_leave(const struct ibsa_reply *reply, void *arg);

/*
 * Submit a request to leave @states at the SA. From now on, the group does not
 * count @states as joined: a member that needs them joins again.
 */
int ibsa__mc_group_leave(struct mc_group *group, uint8_t states,
			 ibsa_reply_fn done)
{
	const uint64_t mask = IBSA_MCMEMBER_CM(mgid) |
			      IBSA_MCMEMBER_CM(port_gid) |
			      IBSA_MCMEMBER_CM(join_state);
	const struct ibsa_mcmember match = ibsa__sa_membership(&group->rec,
							       states);
	int err;

	group->joined &= (uint8_t)~states;
	ibsa__mc_group_audit(group);
	group->asked = states;
	group->is_leaving = true;
	err = group_query(group, IBSA_METHOD_DELETE, &match, mask, done);
	if (err)
		group->asked = 0;
	return err;
}

static void group_accept(struct mc_group *group, struct mc_member *member)
{
	struct ib_sa_multicast *multicast = &member->multicast;

	if (!ibsa__sa_mcmember_fits(&group->rec, &multicast->rec,
				    multicast->comp_mask)) {
		ibsa__mc_member_end(member, -EINVAL);
		return;
	}
	group_count_holder(group, member->states, 1);
	member->holds = true;
	multicast->rec = group->rec;
	multicast->rec.join_state = member->states;
	list_remove(&member->link);
	list_append(&group->active, &member->link);
	ibsa__mc_member_call(member, group->port->device, 0);
}

/*
 * End the membership of all members of the group; they may join again. The
 * reply to an audit query in flight is ignored, because the query is about the
 * ended membership.
 */
static void group_lose(struct mc_group *group)
{
	group->is_lost = false;
	group->is_pkey_suspect = false;
	group->joined = 0;
	ibsa__mc_group_audit(group);
	group->pkey_index = NO_PKEY_INDEX;
	while (!list_is_empty(&group->active))
		ibsa__mc_member_end(list_object(group->active.next,
						struct mc_member, link),
				    -ENETRESET);
}

/*
 * Whether the group's P_Key is no longer at its index in the port's P_Key
 * table. @lock is released during the lookup.
 */
static bool group_pkey_moved(struct mc_group *group)
{
	struct ibsa__sa *sa = group->port->device->sa;
	const uint16_t pkey = be16toh(group->rec.pkey);
	uint16_t entry = 0;
	int err;

	if (group->pkey_index == NO_PKEY_INDEX)
		return false;
	pthread_mutex_unlock(&sa->lock);
	err = ibsa_pkey_get(group->port->client, group->pkey_index, &entry);
	pthread_mutex_lock(&sa->lock);
	if (err && err != -EINVAL)
		return false;
	return (entry ^ pkey) & PKEY_BITS;
}

/*
 * Return: the join states that the port has in the group at the SA, but for
 * which the group has no member any more.
 */
static uint8_t group_unheld_states(const struct mc_group *group)
{
	uint8_t states = 0;

	for (int i = 0; i < NUM_JOIN_MEMBERSHIP_TYPES; i++) {
		if (!group->holders[i])
			states |= (uint8_t)(1 << i);
	}
	return states & group->joined;
}

bool ibsa__mc_group_is_lost(struct mc_group *group)
{
	if (group->is_pkey_suspect) {
		group->is_pkey_suspect = false;
		group->is_lost |= group_pkey_moved(group);
	}
	return group->is_lost;
}

/*
 * Do the next step of the group: a request, or a callback. Return: false if
 * there was nothing to do.
 */
static bool group_step(struct mc_group *group)
{
	struct mc_member *member;

	if (ibsa__mc_group_is_lost(group)) {
		group_lose(group);
		return true;
	}
	if (group->is_waiting)
		return false;
	if (!list_is_empty(&group->pending)) {
		member = list_object(group->pending.next, struct mc_member,
				     link);
		if (member->states & ~group->joined)
			group_join(group, member);
		else
			group_accept(group, member);
		return true;
	}
	if (!group_unheld_states(group))
		return false;
	group->retries = LEAVE_RETRIES;
	(void)ibsa__mc_group_leave(group, group_unheld_states(group),
				   group_note_leave);
	return true;
}

/* Whether the group can be freed. */
static bool group_is_unused(const struct mc_group *group)
{
	return !group->asked && !group->registration.query_id &&
	       !group->joined && !group->is_waiting &&
	       list_is_empty(&group->pending) &&
	       list_is_empty(&group->active) && list_is_empty(&group->job.link);
}

/*
 * Do all steps of the group that are possible. Stop when the device is
 * closing.
 */
void ibsa__mc_group_work(struct mc_group *group)
{
	const struct ib_device *device = group->port->device;

	while (!group->asked && !device->closing && group_step(group))
		;
	if (!device->closing && group_is_unused(group))
		ibsa__mc_group_free(group);
}

static void group_run_job(struct sa_job *job)
{
	struct mc_group *group = list_object(job, struct mc_group, job);
	struct ibsa__sa *sa = group->port->device->sa;

	pthread_mutex_lock(&sa->lock);
	ibsa__mc_group_work(group);
	pthread_mutex_unlock(&sa->lock);
}

/*
 * Store the SA's reply to a join request in the group. Return: 0; -EIO the
 * reply is about another group than the request.
 */
static int group_take_record(struct mc_group *group,
			     const struct ibsa_reply *reply)
{
	struct ibsa_mcmember host;
	struct ib_sa_mcmember_rec rec;

	reply->record->decode(ibsa_reply_at(reply, 0), &host);
	ibsa__sa_mcmember_from_host(&host, &rec);
	if (gid_is_zero(&rec.mgid))
		return -EIO;
	if (gid_is_zero(&group->rec.mgid))
		group_set_mgid(group, &rec.mgid);
	else if (!gids_are_same(&group->rec.mgid, &rec.mgid))
		return -EIO;
	group->rec = rec;
	group->joined |= group->asked;
	return 0;
}

/*
 * Store the index of the group's P_Key in the port's P_Key table, to detect
 * later that the P_Key has moved.
 */
static void group_note_pkey(struct mc_group *group)
{
	struct ibsa__sa *sa = group->port->device->sa;
	const uint16_t pkey = be16toh(group->rec.pkey);
	uint16_t index = NO_PKEY_INDEX;

	if (group->pkey_index != NO_PKEY_INDEX)
		return;
	pthread_mutex_unlock(&sa->lock);
	(void)!ibsa__engine_pkey_find(ibsa__client_engine(group->port->client),
				      pkey, &index);
	pthread_mutex_lock(&sa->lock);
	group->pkey_index = index;
}

/*
 * A join request has ended. If it failed, the member for which the request was
 * sent ends with the error. Otherwise this member is still in @pending: it
 * becomes a member in the same way as the other waiting members, if its record
 * fits the group's record.
 */
static void group_end_join(struct mc_group *group,
			   const struct ibsa_reply *reply)
{
	int status = ibsa__sa_status(reply);

	if (!status)
		status = reply->count ? group_take_record(group, reply) : -EIO;
	group->asked = 0;
	if (group->port->device->closing)
		return;
	if (status) {
		group_refuse_requester(group, status);
	} else {
		group->requester = NULL;
		group_note_pkey(group);
		ibsa__mc_group_audit(group);
	}
	ibsa__mc_group_work(group);
}

static void group_note_join(const struct ibsa_reply *reply, void *arg)
{
	struct mc_group *group = arg;
	struct ib_device *device = group->port->device;

	device->reply = reply;
	pthread_mutex_lock(&device->sa->lock);
	group_end_join(group, reply);
	pthread_mutex_unlock(&device->sa->lock);
	device->reply = NULL;
}

/*
 * A leave request has ended. After an error, such as a timeout, the request is
 * sent again, at most LEAVE_RETRIES times. If the SA refused the request, the
 * SA has no membership of this port, so nothing is left to do.
 */
static void group_note_leave(const struct ibsa_reply *reply, void *arg)
{
	struct mc_group *group = arg;
	struct ibsa__sa *sa = group->port->device->sa;
	uint8_t states;

	pthread_mutex_lock(&sa->lock);
	states = group->asked;
	group->asked = 0;
	if (!group->port->device->closing) {
		if (reply->err && group->retries) {
			group->retries--;
			(void)ibsa__mc_group_leave(group, states,
						   group_note_leave);
		}
		ibsa__mc_group_work(group);
	}
	pthread_mutex_unlock(&sa->lock);
}
