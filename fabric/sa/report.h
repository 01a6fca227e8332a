/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports of the SA that are in flight: each is sent until it is answered or
 * was sent TRIES times.
 */
#ifndef FABRIC_SA_REPORT_H
#define FABRIC_SA_REPORT_H

#include <ibsa/records.h>
#include <ibsa/transport.h>

#include "base/hash.h"
#include "base/list.h"

struct sa;
struct subnet;

/* Maximum number of Reports in flight; further ones are not sent. */
enum { REPORTS_MAX = 131072 };

struct reports {
	/*
	 * All Reports in flight, in the order of their next retry or timeout.
	 */
	struct list all;
	struct hash by_id;
	/*
	 * Upper half of the Reports' transaction IDs; it differs after each
	 * start of an SM.
	 */
	uint32_t agent;
	/* Lower half of the transaction ID of the last Report. */
	uint32_t last_id;
};

/* Return: 0 or -ENOMEM. */
int ibsa__reports_init(struct reports *reports) IBSA_MUST_USE;
void ibsa__reports_done(struct reports *reports);

/*
 * Drop all Reports in flight, because the SM has stopped or was started again.
 */
void ibsa__reports_reset(struct sa *sa);

/*
 * Send a Report to a subscriber, which is the end port @end. @asked is the SA's
 * address that the subscriber used in its request. The Report has the SL and
 * the P_Key of that request. If the request has a GRH, the Report has one with
 * the same flow label, traffic class and hop limit, and with both GIDs
 * exchanged. If memory is short or REPORTS_MAX Reports wait for their
 * responses, the Report is not sent and counts as unanswered.
 */
void ibsa__report_send(struct sa *sa, uint32_t end,
		       const struct ibsa_address *asked,
		       const struct ibsa_notice *notice, uint64_t now_ns);

/*
 * Called when a ReportResp with this transaction ID has arrived from the end
 * port: the Report ends.
 */
void ibsa__report_answered(struct sa *sa, uint32_t end, uint64_t id);

/*
 * Called by struct port_handler, with the SA as @arg: send the Reports that
 * are due by @now_ns again, or end them after their last try.
 */
void ibsa__reports_settle(void *arg, uint64_t now_ns);

/*
 * Return: the time of the next retry or timeout of a Report to this end port;
 * UINT64_MAX: there is none.
 */
uint64_t ibsa__reports_due(const struct subnet *subnet, uint32_t end);

#endif
