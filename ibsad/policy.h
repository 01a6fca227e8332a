/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of ordinary users may send: one table (policy.c). */
#ifndef IBSAD_POLICY_H
#define IBSAD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "umad/header.h"

/*
 * @performance: permit to read performance counters, of any port
 * @sm_lid:      LID of the port's SM; 0: none
 */
struct policy {
	bool performance;
	uint32_t sm_lid;
};

/* How a packet is answered. */
enum policy_answer {
	POLICY_PASS,
	/* depends on the owner of the registration: see owned.h */
	POLICY_OWNED,
	/* as by an SA that denies the request: status IBSA_STATUS_REQ_DENIED */
	POLICY_DENIED,
	/* as a request to an address without an SA: -ETIMEDOUT */
	POLICY_UNANSWERED,
	/* as by the kernel, which does not send the packet: -EPERM */
	POLICY_NOT_SENT,
};

/* @reason: for the log; NULL with POLICY_PASS and POLICY_OWNED. */
struct policy_verdict {
	enum policy_answer answer;
	const char *reason;
};

/* @len: of the packet, which has at least a umad header and a MAD header. */
struct policy_verdict ibsad_policy_send(const struct policy *policy,
					const uint8_t *packet, size_t len);

/*
 * Whether an agent may be registered. Return: 0; -EINVAL a flag is not
 * supported; -EPERM, and *@out_reason is for the log.
 */
int ibsad_policy_register(const struct policy *policy,
			  const struct umad_agent_request2 *request,
			  const char **out_reason) IBSA_MUST_USE;

#endif
