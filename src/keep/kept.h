/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One service that is kept, as the files of the keep layer share it. */
#ifndef KEEP_KEPT_H
#define KEEP_KEPT_H

#include "keep/keep.h"

enum { SERVICE_BYTES = 176 };

/* What is to be done next, or being done. */
enum kept_step { STEP_SET, STEP_READ, STEP_DELETE };

/* What was last reported. */
enum kept_standing {
	STANDING_NEW,	   /* nothing yet, or that it is gone */
	STANDING_GOOD,	   /* the SA has it */
	STANDING_TROUBLED, /* @err and @status */
};

/*
 * There is always either a request on its way, @query_id, or an alarm set for
 * the next step. Each event ends with a report, since in a report a service
 * may be released.
 */
struct ibsa_kept {
	struct list link;
	struct ibsa__keeper *keeper;
	struct ibsa__alarm alarm;
	struct ibsa_service record;
	uint64_t mask;
	ibsa_keep_fn report;
	void *arg;
	uint64_t query_id;
	uint64_t renew_ns; /* when half of the lease has passed */
	uint32_t granted_s;
	unsigned int audit_ms;
	unsigned int deadline_ms;
	unsigned int failures; /* of one kind in a row */
	unsigned int disputes; /* times it was gone without a reason that the
				* port shows, and no audit was good */
	uint32_t moves;	       /* of the keeper, when the SA was last known to
				* have the record, or was sent it */
	enum kept_step step;
	enum kept_standing standing;
	int err;
	uint16_t status;
	uint8_t read_method;
	bool follows_gid; /* of the port */
	bool is_out;	  /* a Set was sent: the SA may have it */
	bool is_fresh;	  /* it was just set, and not read back yet */
	bool releasing;
	bool soon; /* the port has changed while a request was on its way */
};

/* keep.c: how often the port has changed so that an SM may have forgotten what
 * it knew, up to now. */
uint32_t ibsa__keeper_moves(struct ibsa__keeper *keeper);

/* service.c */
void ibsa__kept_start(struct ibsa_kept *kept);
void ibsa__kept_hurry(struct ibsa_kept *kept);
void ibsa__kept_release(struct ibsa_kept *kept);
void ibsa__kept_finish(struct ibsa_kept *kept, int err, uint16_t status);

#endif
