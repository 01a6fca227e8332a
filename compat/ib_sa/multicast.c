/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members of multicast groups: joining, callbacks, freeing. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "ib_sa/group.h"
#include "ib_sa/query.h"

enum { STATE_BITS = 0xf };

/*
 * Remove @member from the process-wide list of multicast members. @lock is
 * held.
 */
static void member_forget(struct mc_member *member)
{
	list_remove(&member->all);
	member->sa->member_count--;
	if (member->client)
		member->client->users--;
	pthread_cond_broadcast(&member->sa->ended);
}

/*
 * Free @member. @lock must not be held: the call puts a reference to the
 * process-wide object, which may destroy the lock.
 */
static void member_free(struct mc_member *member)
{
	struct ibsa__sa *sa = member->sa;

	ibsa__free(member);
	ibsa__sa_put(sa);
}

/*
 * Handle the result of a callback of @member: if @result is not 0, @member
 * leaves its group and is freed. Return: whether the caller must free @member.
 */
static bool member_leave_callback(struct mc_member *member,
				  struct ib_device *device, int result)
{
	member->is_called = false;
	ibsa__sa_callback_leave(device);
	if (result)
		ibsa__mc_group_remove(member);
	return (result || member->is_freed) && !member->is_awaited;
}

void ibsa__mc_member_call(struct mc_member *member, struct ib_device *device,
			  int status)
{
	struct ib_sa_multicast *multicast = &member->multicast;
	struct ibsa__sa *sa = device->sa;
	int result;

	member->is_called = true;
	ibsa__sa_callback_enter(device);
	pthread_mutex_unlock(&sa->lock);
	result = multicast->callback(status, multicast);
	pthread_mutex_lock(&sa->lock);
	if (!member_leave_callback(member, device, result))
		return;
	member_forget(member);
	pthread_mutex_unlock(&sa->lock);
	member_free(member);
	pthread_mutex_lock(&sa->lock);
}

/*
 * Check whether the process and @port accept one more multicast member. The
 * caller holds the lock of the process-wide object. Return: 0 or a negative errno.
 */
static int port_check(const struct sa_port *port)
{
	const struct ib_device *device = port->device;

	if (device->closing)
		return -ENODEV;
	return device->sa->member_count < MEMBERS_MAX ? 0 : -ENOBUFS;
}

/* @lock is held. */
static int member_join(struct sa_port *port, struct mc_member *member)
{
	struct ibsa__sa *sa = member->sa;
	int err = port_check(port);

	if (!err)
		err = ibsa__mc_group_add(port, member);
	if (err)
		return err;
	list_append(&sa->members, &member->all);
	sa->member_count++;
	member->client->users++;
	return 0;
}

static struct mc_member *member_new(struct ib_sa_client *client)
{
	struct mc_member *member = ibsa__calloc(1, sizeof(*member));

	if (!member)
		return NULL;
	member->sa = ibsa__sa_get();
	if (!member->sa) {
		ibsa__free(member);
		return NULL;
	}
	list_init(&member->all);
	list_init(&member->link);
	member->client = client;
	return member;
}

static int member_join_new(struct sa_port *port, struct ib_sa_client *client,
			   const struct ib_sa_multicast *wanted,
			   struct ib_sa_multicast **out)
{
	struct mc_member *member = member_new(client);
	struct ibsa__sa *sa = port->device->sa;
	int err;

	if (!member)
		return -ENOMEM;
	member->multicast = *wanted;
	member->states = wanted->rec.join_state & STATE_BITS;
	pthread_mutex_lock(&sa->lock);
	err = member_join(port, member);
	pthread_mutex_unlock(&sa->lock);
	if (err) {
		member_free(member);
		return err;
	}
	*out = &member->multicast;
	return 0;
}

struct ib_sa_multicast *ib_sa_join_multicast(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	struct ib_sa_mcmember_rec *rec, ib_sa_comp_mask comp_mask,
	unsigned int gfp_mask,
	int (*callback)(int status, struct ib_sa_multicast *multicast),
	void *context)
{
	const struct ib_sa_multicast wanted = {
		.rec = *rec,
		.comp_mask = comp_mask,
		.callback = callback,
		.context = context,
	};
	struct ib_sa_multicast *multicast = NULL;
	struct sa_port *port;
	int err = ibsa__sa_query_port(client, device, port_num, &port);

	(void)gfp_mask;
	err = ibsa__sa_argument_error(
		err, callback && rec->join_state & STATE_BITS &&
			     ibsa__sa_mask_is_defined(&ibsa_mcmember_record,
						      comp_mask));
	if (!err)
		err = member_join_new(port, client, &wanted, &multicast);
	return err ? (struct ib_sa_multicast *)(intptr_t)err : multicast;
}

/*
 * If the callback of @member runs in another thread, wait until it has
 * returned. Return: whether @member can be freed now: false within a callback,
 * because it may be the callback of @member, or one for which the callback of
 * @member waits.
 */
static bool callback_await(struct mc_member *member)
{
	struct ibsa__sa *sa = member->sa;

	if (!member->is_called)
		return true;
	if (ibsa__sa_in_callback(sa)) {
		member->is_freed = true;
		return false;
	}
	member->is_awaited = true;
	while (member->is_called)
		pthread_cond_wait(&sa->ended, &sa->lock);
	return true;
}

void ib_sa_free_multicast(struct ib_sa_multicast *multicast)
{
	struct mc_member *member = list_object(multicast, struct mc_member,
					       multicast);
	struct ibsa__sa *sa;
	bool ends;

	if (!multicast || !ibsa__sa_is_ours(member->sa))
		return;
	sa = member->sa;
	pthread_mutex_lock(&sa->lock);
	ibsa__mc_group_remove(member);
	ends = callback_await(member);
	if (ends)
		member_forget(member);
	pthread_mutex_unlock(&sa->lock);
	if (ends)
		member_free(member);
}

/*
 * Remove @member because its client unregisters. Return: whether the caller
 * frees @member now; if not, @member is freed when its running callback has
 * returned.
 */
static bool member_take(struct mc_member *member)
{
	ibsa__mc_group_remove(member);
	if (!member->is_called && !member->is_awaited)
		return true;
	member->is_freed = true;
	if (ibsa__sa_in_callback(member->sa))
		member->client = NULL;
	return false;
}

void ibsa__mc_members_end(struct ibsa__sa *sa, struct ib_sa_client *client)
{
	struct mc_member *member, *next;
	struct list ended;

	list_init(&ended);
	LIST_EACH_SAFE(member, next, &sa->members, all) {
		if (member->client != client || !member_take(member))
			continue;
		member_forget(member);
		list_append(&ended, &member->all);
	}
	pthread_mutex_unlock(&sa->lock);
	LIST_EACH_SAFE(member, next, &ended, all)
		member_free(member);
	pthread_mutex_lock(&sa->lock);
}

int ib_sa_get_mcmember_rec(struct ib_device *device, uint8_t port_num,
			   union ib_gid *mgid, struct ib_sa_mcmember_rec *rec)
{
	const struct mc_group *group;
	struct sa_port *port;
	int err = -EADDRNOTAVAIL;

	if (!ibsa__sa_is_ours(device->sa))
		return -EINVAL;
	port = ibsa__sa_port_find(device, port_num);
	if (!port)
		return err;
	pthread_mutex_lock(&device->sa->lock);
	group = ibsa__mc_group_find(port, mgid);
	if (group && group->joined && !group->is_lost) {
		*rec = group->rec;
		rec->join_state = group->joined;
		err = 0;
	}
	pthread_mutex_unlock(&device->sa->lock);
	return err;
}
