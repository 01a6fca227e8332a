/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports in flight. Each is sent until it is answered or has been sent TRIES
 * times.
 */
#ifndef SIM_SA_REPORT_H
#define SIM_SA_REPORT_H

#include <ibsa/records.h>
#include <ibsa/transport.h>

#include "base/hash.h"
#include "base/list.h"

struct sa;
struct subnet;

/* Maximum number of Reports in flight; further ones are not sent. */
enum { REPORTS_MAX = 131072 };

struct reports {
	struct list all; /* Reports in flight, in the order of their next retry
			  * or end */
	struct hash by_id;
	/* upper half of transaction IDs; changes with each SM */
	uint32_t agent;
	uint32_t last_id; /* lower half of the last transaction ID */
};

/* Return: 0 or -ENOMEM. */
int ibsa__reports_init(struct reports *reports) IBSA_MUST_USE;
void ibsa__reports_done(struct reports *reports);

/* Drop all Reports in flight: the SM has stopped. */
void ibsa__reports_reset(struct sa *sa);

/*
 * Send a Report to the clients of an end port, from the SA's address as the
 * subscriber used it (@asked). A Report that cannot be stored is not sent, and
 * counts as unanswered.
 */
void ibsa__report_send(struct sa *sa, uint32_t end,
		       const struct ibsa_address *asked,
		       const struct ibsa_notice *notice, uint64_t now_ns);

/* A ReportResp with this transaction ID has arrived from the end port. */
void ibsa__report_answered(struct sa *sa, uint32_t end, uint64_t id);

/*
 * Send again, or give up, the Reports that are due by @now_ns. For struct
 * port_handler; @arg is the SA.
 */
void ibsa__reports_settle(void *arg, uint64_t now_ns);

/* Time of the next retry to that end port; UINT64_MAX: none. */
uint64_t ibsa__reports_due(const struct subnet *subnet, uint32_t end);

#endif
