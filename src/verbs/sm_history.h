/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which reports of several ports are of one event. A port reports each event
 * once: what comes a second time by another port, within a second, is the same,
 * and what comes a second time by the same port is another.
 */
#ifndef VERBS_SM_HISTORY_H
#define VERBS_SM_HISTORY_H

#include <ibsa/types.h>

#include "base/hash.h"
#include "base/list.h"

struct sm_history {
	struct hash events; /* without chains as long as it is empty */
	uint64_t secret;    /* odd: who sends Reports does not know it */
	struct list oldest;
};

/* @prefix: of the subnet that @port is in. */
struct sm_report {
	struct ibsa_gid gid;
	int kind;
	uint8_t port;
	uint64_t prefix;
	uint64_t time_ns;
};

void ibsa__sm_history_init(struct sm_history *history);
void ibsa__sm_history_clear(struct sm_history *history);

/* Whether no other port has reported it; from now on, one has. */
bool ibsa__sm_history_is_new(struct sm_history *history,
			     const struct sm_report *report);

#endif
