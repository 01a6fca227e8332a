/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports on their way to subscribers: each is sent until it is answered, or
 * has been sent often enough.
 */
#ifndef SIM_SA_REPORT_H
#define SIM_SA_REPORT_H

#include <ibsa/records.h>
#include <ibsa/transport.h>

#include "base/hash.h"
#include "base/list.h"

struct sa;
struct subnet;

/* What may wait for an answer; what is beyond is not sent. */
enum { REPORTS_MAX = 131072 };

struct reports {
	struct list all; /* in order of when they are sent again, or given up */
	struct hash by_id;
	uint32_t agent;	  /* upper half of transaction ids: which SM */
	uint32_t last_id; /* lower half */
};

/* A client at a port that gets its Reports by itself. */
struct report_listener {
	/* Deliver a Report, IBSA_MAD_BYTES, from the SA as at @sa. */
	void (*report)(void *arg, const struct ibsa_address *sa,
		       const uint8_t *mad, uint64_t now_ns);
	/* Let its requests arrive that are due. Return: whether any did. */
	bool (*receive)(void *arg, uint64_t until_ns);
	void *arg;
};

/* Return: 0 or -ENOMEM. */
int ibsa__reports_init(struct reports *reports) IBSA_MUST_USE;
void ibsa__reports_done(struct reports *reports);

/* The SM has ended: nobody waits for answers any more. */
void ibsa__reports_reset(struct sa *sa);

/*
 * Send a Report to whoever listens at the end port, from the SA as addressed
 * by @asked. What cannot be kept, is not sent and counts as unanswered.
 */
void ibsa__report_send(struct sa *sa, uint32_t end,
		       const struct ibsa_address *asked,
		       const struct ibsa_notice *notice, uint64_t now_ns);

/* A ReportResp with this transaction id has come from the end port. */
void ibsa__report_answered(struct sa *sa, uint32_t end, uint64_t id);

/*
 * Send again, or give up, what was to be by @now_ns; as in struct port_handler,
 * @arg is the SA.
 */
void ibsa__reports_settle(void *arg, uint64_t now_ns);

/* When something is sent to that end port again; UINT64_MAX: nothing is. */
uint64_t ibsa__reports_due(const struct subnet *subnet, uint32_t end);

#endif
