/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queries of ibsa doctor, which a signal ends. */
#ifndef COMMAND_DOCTOR_QUERY_H
#define COMMAND_DOCTOR_QUERY_H

#include "doctor/doctor.h"

/* The outcome of a query. */
struct answer {
	bool ended;
	enum ibsa_outcome outcome;
	/*
	 * Error of the query; or, if it was not sent, the error from sending
	 * it.
	 */
	int err;
	uint16_t status;
	unsigned int tries;
	uint64_t rtt_ns;
	size_t count;
	struct ibsa_error why; /* explains @err */
	ibsa_reply_fn use;
	void *arg;
};

/*
 * Send a query and wait for the reply as ibsa_query_wait() does, except that a
 * signal ends the wait. @use is called with the reply; it may be NULL.
 */
struct answer doctor_query(struct doctor *doctor, struct ibsa_client *client,
			   const struct ibsa_query *query, ibsa_reply_fn use,
			   void *arg);

#endif
