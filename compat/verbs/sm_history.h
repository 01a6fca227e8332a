/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects which Reports to several ports of a device are about the same event.
 * The SA reports each event once to each port. A Report to another port within
 * a second is therefore about the same event; a second Report to the same port
 * is about a new one.
 */
#ifndef VERBS_SM_HISTORY_H
#define VERBS_SM_HISTORY_H

#include <ibsa/types.h>

#include "base/hash.h"
#include "base/list.h"

struct sm_history {
	/* the hash table; it has no chains while it holds no events */
	struct hash events;
	/*
	 * Secret factor of the hash: an odd number that the senders of Reports
	 * cannot read.
	 */
	uint64_t secret;
	struct list oldest;
};

/* @prefix: subnet prefix of the port @port. */
struct sm_report {
	struct ibsa_gid gid;
	int kind;
	uint8_t port;
	uint64_t prefix;
	uint64_t time_ns;
};

void ibsa__sm_history_init(struct sm_history *history);
void ibsa__sm_history_clear(struct sm_history *history);

/*
 * Return: whether the Report is about a new event; false: the SA has reported
 * the same event to another port within the last second.
 */
bool ibsa__sm_history_is_new(struct sm_history *history,
			     const struct sm_report *report);

#endif
