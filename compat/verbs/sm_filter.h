/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SM events that a context has registered for, with the number of
 * registrations for each GID and kind.
 */
#ifndef VERBS_SM_FILTER_H
#define VERBS_SM_FILTER_H

#include <ibsa/verbs.h>

#include "base/hash.h"

enum { SM_FILTER_KINDS = 3 }; /* kinds without a list of GIDs */

struct sm_filter {
	unsigned int all[SM_FILTER_KINDS];
	struct hash gids;
	size_t gid_count;
};

/* The arguments of one call, after they were checked. */
struct sm_request {
	unsigned int kinds; /* of enum ibv_sm_event_type */
	const union ibv_gid *gids;
	size_t gid_count;
};

/* Return: 0; -ENOMEM. */
int ibsa__sm_filter_init(struct sm_filter *filter) IBSA_MUST_USE;
void ibsa__sm_filter_done(struct sm_filter *filter);
void ibsa__sm_filter_clear(struct sm_filter *filter);

/*
 * Check the arguments of a registration by the rules of the manual page.
 * Return: 0; -EINVAL.
 */
int ibsa__sm_request_check(ibv_sm_event_type_t event, int gid_num,
			   const union ibv_gid *gids,
			   struct sm_request *out) IBSA_MUST_USE;

/*
 * Add a registration for all GIDs of @request. Return: 0; -ENOMEM, also for
 * too many GIDs, and nothing is added.
 */
int ibsa__sm_filter_add(struct sm_filter *filter,
			const struct sm_request *request) IBSA_MUST_USE;

/*
 * Remove a registration for all GIDs of @request. Return: 0; -EINVAL a GID or
 * kind of it is not registered, and nothing is removed.
 */
int ibsa__sm_filter_remove(struct sm_filter *filter,
			   const struct sm_request *request) IBSA_MUST_USE;

bool ibsa__sm_filter_is_empty(const struct sm_filter *filter);

/*
 * Whether the context has registered for events of @gid, the GID of a
 * multicast group or a port.
 */
bool ibsa__sm_filter_wants(const struct sm_filter *filter,
			   const struct ibsa_gid *gid);

#endif
