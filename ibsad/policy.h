/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of ordinary users may send: one table (policy.c). */
#ifndef IBSAD_POLICY_H
#define IBSAD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibsa/types.h>

#include "umad/header.h"

enum { POLICY_GROUPS_MAX = 16 };

/*
 * The multicast groups that users may join: the first @bits bits of the MGID are
 * those of an entry of @at. @may_create: a join may create the group.
 */
struct policy_groups {
	bool may_create;
	uint32_t count;
	struct policy_group {
		struct ibsa_gid mgid;
		uint32_t bits;
	} at[POLICY_GROUPS_MAX];
};

/*
 * @performance: whether users may read the performance counters of all ports
 * @guid_info:   whether users may set and delete alias GUIDs of the port
 * @groups:      multicast groups that users may join; NULL: none
 * @sm_lid:      LID of the port's SM; 0: none
 */
struct policy {
	bool performance;
	bool guid_info;
	const struct policy_groups *groups;
	uint32_t sm_lid;
};

/* What ibsad does with a packet of a client. */
enum policy_answer {
	POLICY_PASS,
	/* ibsad_owned_judge() decides */
	POLICY_OWNED,
	/* answer it as an SA that denies it: IBSA_STATUS_REQ_DENIED */
	POLICY_DENIED,
	/* return it as a request without a reply: -ETIMEDOUT */
	POLICY_UNANSWERED,
	/* return it as a packet that could not be sent: -EPERM */
	POLICY_NOT_SENT,
};

/* @reason: text for the log; NULL with POLICY_PASS and POLICY_OWNED. */
struct policy_verdict {
	enum policy_answer answer;
	const char *reason;
};

/* @packet: @len bytes, at least a umad header and a MAD header. */
struct policy_verdict ibsad_policy_send(const struct policy *policy,
					const uint8_t *packet, size_t len);

/*
 * Check whether a client may register an agent. Return: 0; -EINVAL a flag is
 * not supported; -EPERM it may not, and *@out_reason is a text for the log.
 */
int ibsad_policy_register(const struct policy *policy,
			  const struct umad_agent_request2 *request,
			  const char **out_reason) IBSA_MUST_USE;

#endif
