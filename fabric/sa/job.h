/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables that the SA builds in slices of time, so that a client that requests
 * many large tables does not delay other clients. The owner of the SA gives
 * each client its slices.
 */
#ifndef FABRIC_SA_JOB_H
#define FABRIC_SA_JOB_H

#include "fabric/sa/sa.h"

/*
 * A client whose tables are built in slices. After sa_client_init(), no table is
 * being built.
 */
struct sa_client {
	/* List of struct sa_job, in the order in which the requests arrived. */
	struct list jobs;
	uint64_t until_ns; /* end of the client's slice */
};

static inline void sa_client_init(struct sa_client *client)
{
	list_init(&client->jobs);
}

static inline bool sa_client_has_jobs(const struct sa_client *client)
{
	return !list_is_empty(&client->jobs);
}

/*
 * Continue the tables of a client until its slice ends. Call it while
 * sa_client_has_jobs().
 */
void ibsa__sa_jobs_continue(struct sa *sa, struct sa_client *client);

/* Give the tables of a client up. */
void ibsa__sa_jobs_end(struct sa *sa, struct sa_client *client);

/* Return: the bytes of memory that the tables of a client use. */
size_t ibsa__sa_jobs_memory(const struct sa_client *client);

/*
 * Add a table whose first slice has ended. @answer is the incomplete answer,
 * which then belongs to the SA.
 */
void ibsa__sa_job_add(struct sa *sa, struct sa_client *client,
		      const struct sa_request *request,
		      const struct sa_slice *slice, struct message *answer);

#endif
