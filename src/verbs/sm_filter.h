/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What of the SM's events is registered, each GID and each kind counted. */
#ifndef VERBS_SM_FILTER_H
#define VERBS_SM_FILTER_H

#include <ibsa/verbs.h>

#include "base/hash.h"

enum { SM_FILTER_KINDS = 3 }; /* that have no list */

struct sm_filter {
	unsigned int all[SM_FILTER_KINDS];
	struct hash gids;
	size_t gid_count;
};

/* One call's worth of registrations, which has been found sound. */
struct sm_request {
	unsigned int kinds; /* of enum ibv_sm_event_type */
	const union ibv_gid *gids;
	size_t gid_count;
};

/* Return: 0; -ENOMEM. */
int ibsa__sm_filter_init(struct sm_filter *filter) IBSA_MUST_USE;
void ibsa__sm_filter_done(struct sm_filter *filter);
void ibsa__sm_filter_clear(struct sm_filter *filter);

/* By the manual page's rules. Return: 0; -EINVAL. */
int ibsa__sm_request_check(ibv_sm_event_type_t event, int gid_num,
			   const union ibv_gid *gids,
			   struct sm_request *out) IBSA_MUST_USE;

/* All of @wish or nothing. Return: 0; -ENOMEM, also for too many GIDs. */
int ibsa__sm_filter_add(struct sm_filter *filter,
			const struct sm_request *request) IBSA_MUST_USE;

/* All of @wish or nothing. Return: 0; -EINVAL not all of it is there. */
int ibsa__sm_filter_remove(struct sm_filter *filter,
			   const struct sm_request *request) IBSA_MUST_USE;

bool ibsa__sm_filter_is_empty(const struct sm_filter *filter);

/* Whether somebody wants to know of @gid, a group's or a port's. */
bool ibsa__sm_filter_wants(const struct sm_filter *filter,
			   const struct ibsa_gid *gid);

#endif
