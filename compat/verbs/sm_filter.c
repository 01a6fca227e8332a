/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SM events that are registered for. */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "verbs/sm_filter.h"

enum {
	LIST_KINDS = IBV_SM_EVENT_MGID | IBV_SM_EVENT_UGID,
	ALL_KINDS = IBV_SM_EVENT_MGID_ALL | IBV_SM_EVENT_UGID_ALL |
		    IBV_SM_EVENT_ALL,
};

/* The kinds that stand for all GIDs, in the order of sm_filter.all. */
static const unsigned int all_kinds[SM_FILTER_KINDS] = {
	IBV_SM_EVENT_MGID_ALL,
	IBV_SM_EVENT_UGID_ALL,
	IBV_SM_EVENT_ALL,
};

/*
 * A GID and its number of registrations. A row with the number 0 is about to
 * be removed.
 */
struct gid_row {
	struct hash_node node;
	union ibv_gid gid;
	unsigned int count;
};

int ibsa__sm_filter_init(struct sm_filter *filter)
{
	return ibsa__hash_init(&filter->gids);
}

static uint64_t gid_key(const uint8_t *raw)
{
	uint64_t mixed = ibsa_be64(raw) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ ibsa_be64(raw + 8)) * UINT64_C(0xbf58476d1ce4e5b9);
	return mixed ^ mixed >> 32;
}

static struct gid_row *row_find(const struct sm_filter *filter,
				const uint8_t *raw)
{
	const uint64_t key = gid_key(raw);
	struct hash_node *node = hash_find(&filter->gids, key);

	for (; node; node = hash_from(node->next, key)) {
		struct gid_row *row = hash_object(node, struct gid_row, node);

		if (!memcmp(row->gid.raw, raw, sizeof(row->gid)))
			return row;
	}
	return NULL;
}

static void row_remove(struct sm_filter *filter, struct gid_row *row)
{
	ibsa__hash_remove(&filter->gids, &row->node);
	filter->gid_count--;
	ibsa__free(row);
}

/* Increase the number of registrations of a GID by one. Return: 0; -ENOMEM. */
static int gid_add(struct sm_filter *filter, const union ibv_gid *gid)
{
	struct gid_row *row = row_find(filter, gid->raw);

	if (!row) {
		if (filter->gid_count >= IBSA_SM_EVENT_GIDS_MAX)
			return -ENOMEM;
		row = ibsa__calloc(1, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->gid = *gid;
		ibsa__hash_add(&filter->gids, &row->node, gid_key(gid->raw));
		filter->gid_count++;
	}
	row->count++;
	return 0;
}

/*
 * Reduce the number of registrations of a GID by one, and keep the row of the
 * GID. Return: 0; -EINVAL the GID has no registration.
 */
static int gid_uncount(const struct sm_filter *filter, const union ibv_gid *gid)
{
	struct gid_row *row = row_find(filter, gid->raw);

	if (!row || !row->count)
		return -EINVAL;
	row->count--;
	return 0;
}

/* Remove the rows of the GIDs @gids whose number of registrations is 0. */
static void gids_sweep(struct sm_filter *filter, const union ibv_gid *gids,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct gid_row *row = row_find(filter, gids[i].raw);

		if (row && !row->count)
			row_remove(filter, row);
	}
}

static int gids_add(struct sm_filter *filter, const union ibv_gid *gids,
		    size_t count)
{
	size_t done = 0;
	int err = 0;

	while (done < count && !err) {
		err = gid_add(filter, &gids[done]);
		done += !err;
	}
	if (!err)
		return 0;
	for (size_t i = 0; i < done; i++)
		(void)!gid_uncount(filter, &gids[i]);
	gids_sweep(filter, gids, done);
	return err;
}

static int gids_remove(struct sm_filter *filter, const union ibv_gid *gids,
		       size_t count)
{
	size_t done = 0;
	int err = 0;

	while (done < count && !err) {
		err = gid_uncount(filter, &gids[done]);
		done += !err;
	}
	for (size_t i = 0; err && i < done; i++)
		row_find(filter, gids[i].raw)->count++;
	gids_sweep(filter, gids, done);
	return err;
}

int ibsa__sm_filter_add(struct sm_filter *filter,
			const struct sm_request *request)
{
	int err = gids_add(filter, request->gids, request->gid_count);

	for (int i = 0; !err && i < SM_FILTER_KINDS; i++)
		filter->all[i] += !!(request->kinds & all_kinds[i]);
	return err;
}

int ibsa__sm_filter_remove(struct sm_filter *filter,
			   const struct sm_request *request)
{
	int err;

	for (int i = 0; i < SM_FILTER_KINDS; i++) {
		if (request->kinds & all_kinds[i] && !filter->all[i])
			return -EINVAL;
	}
	err = gids_remove(filter, request->gids, request->gid_count);
	for (int i = 0; !err && i < SM_FILTER_KINDS; i++)
		filter->all[i] -= !!(request->kinds & all_kinds[i]);
	return err;
}

void ibsa__sm_filter_clear(struct sm_filter *filter)
{
	for (size_t i = 0; i <= filter->gids.mask; i++) {
		while (filter->gids.chains[i])
			row_remove(filter, hash_object(filter->gids.chains[i],
						       struct gid_row, node));
	}
	memset(filter->all, 0, sizeof(filter->all));
}

void ibsa__sm_filter_done(struct sm_filter *filter)
{
	if (!filter->gids.chains)
		return;
	ibsa__sm_filter_clear(filter);
	ibsa__hash_done(&filter->gids);
}

bool ibsa__sm_filter_is_empty(const struct sm_filter *filter)
{
	for (int i = 0; i < SM_FILTER_KINDS; i++) {
		if (filter->all[i])
			return false;
	}
	return !filter->gid_count;
}

static bool gid_is_multicast(const uint8_t *raw)
{
	return raw[0] == 0xff;
}

bool ibsa__sm_filter_wants(const struct sm_filter *filter,
			   const struct ibsa_gid *gid)
{
	const unsigned int kinds = IBV_SM_EVENT_ALL |
				   (gid_is_multicast(gid->raw)
					    ? IBV_SM_EVENT_MGID_ALL
					    : IBV_SM_EVENT_UGID_ALL);

	for (int i = 0; i < SM_FILTER_KINDS; i++) {
		if (filter->all[i] && kinds & all_kinds[i])
			return true;
	}
	return row_find(filter, gid->raw);
}

/*
 * Whether a multicast GID is valid: its flags are 0 or transient, its scope is
 * link, site, organization or global.
 */
static bool mgid_is_valid(const uint8_t *raw)
{
	const unsigned int flags = raw[1] >> 4;
	const unsigned int scope = raw[1] & 0xf;

	return flags <= 1 &&
	       (scope == 2 || scope == 5 || scope == 8 || scope == 0xe);
}

static bool gid_is_of_kinds(const union ibv_gid *gid, unsigned int kinds)
{
	if (!gid_is_multicast(gid->raw))
		return kinds & IBV_SM_EVENT_UGID;
	return kinds & IBV_SM_EVENT_MGID && mgid_is_valid(gid->raw);
}

static bool kinds_are_valid(unsigned int kinds)
{
	return kinds && (!(kinds & ~(unsigned int)LIST_KINDS) ||
			 !(kinds & ~(unsigned int)ALL_KINDS));
}

int ibsa__sm_request_check(ibv_sm_event_type_t event, int gid_num,
			   const union ibv_gid *gids, struct sm_request *out)
{
	const bool has_list = event & LIST_KINDS;

	if (!kinds_are_valid(event) || gid_num < 0 ||
	    gid_num > IBSA_SM_EVENT_GIDS_MAX || has_list != !!gid_num ||
	    has_list != !!gids)
		return -EINVAL;
	for (int i = 0; i < gid_num; i++) {
		if (!gid_is_of_kinds(&gids[i], event))
			return -EINVAL;
	}
	*out = (struct sm_request){
		.kinds = event,
		.gids = gids,
		.gid_count = (size_t)gid_num,
	};
	return 0;
}
