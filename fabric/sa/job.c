/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that the SA builds in slices of time. */
#include "base/alloc.h"
#include "fabric/sa/job.h"
#include "fabric/sa/redirect.h"
#include "fabric/mad/queue.h"

/*
 * How often the SA begins a table anew because the fabric has changed, before
 * it replies BUSY.
 */
enum { RESTARTS_MAX = 8 };

/* A request for a table that the SA answers in slices of time. */
struct sa_job {
	struct list link;
	struct message *answer;
	/* its pointers point to @mad and @to of this job */
	struct sa_request request;
	struct ibsa_address to;
	struct sa_slice slice;
	/* Number of the subnet's changes when the SA began the table. */
	uint64_t changes;
	unsigned int restarts;
	uint32_t qpn; /* to which the request was sent */
	uint8_t mad[IBSA_MAD_BYTES];
};

static void answer_lose(struct sa *sa, struct message *answer)
{
	sa->net->stats.unanswered++;
	ibsa__queue_release(sa->net->mads.pool, answer);
}

static void job_free(struct sa_job *job)
{
	list_remove(&job->link);
	ibsa__free(job);
}

void ibsa__sa_job_add(struct sa *sa, struct sa_client *client,
		      const struct sa_request *request,
		      const struct sa_slice *slice, struct message *answer)
{
	struct sa_job *job = ibsa__calloc(1, sizeof(*job));

	/* Without memory, the answer is lost. */
	if (!job) {
		answer_lose(sa, answer);
		return;
	}
	*job = (struct sa_job){
		.answer = answer,
		.request = *request,
		.to = *request->to,
		.slice = *slice,
		.changes = sa->subnet->changes,
		.qpn = answer->mad.src_qpn,
	};
	memcpy(job->mad, request->mad, sizeof(job->mad));
	job->request.mad = job->mad;
	job->request.to = &job->to;
	list_append(&client->jobs, &job->link);
}

/*
 * Begin the table anew after a change. If changes are so frequent that it never
 * becomes complete, answer that the SA is busy.
 */
static void job_restart(struct sa *sa, struct sa_job *job)
{
	job->changes = sa->subnet->changes;
	job->slice = (struct sa_slice){
		.is_refused = ++job->restarts > RESTARTS_MAX,
	};
}

/*
 * Continue to build the table until @until_ns. Return: whether the job has
 * ended.
 */
static bool job_continue(struct sa *sa, struct sa_job *job, uint64_t until_ns)
{
	/* The SA drops the request if it has stopped or moved since. */
	if (!sa->subnet->sa_running ||
	    !ibsa__sa_is_at(sa, job->request.at, job->qpn)) {
		answer_lose(sa, job->answer);
		return true;
	}
	if (job->changes != sa->subnet->changes)
		job_restart(sa, job);
	job->slice.until_ns = until_ns;
	if (!ibsa__sa_answer(sa, &job->request, &job->answer->body,
			     &job->slice)) {
		answer_lose(sa, job->answer);
		return true;
	}
	if (job->slice.is_paused)
		return false;
	job->answer->due_ns = fabric_clock_now(sa->subnet->clock);
	ibsa__mad_post(sa->net, job->answer, job->answer->due_ns);
	return true;
}

void ibsa__sa_jobs_continue(struct sa *sa, struct sa_client *client)
{
	do {
		struct sa_job *job = list_object(client->jobs.next,
						 struct sa_job, link);

		if (!job_continue(sa, job, client->until_ns))
			return;
		job_free(job);
	} while (sa_client_has_jobs(client) &&
		 fabric_clock_now(sa->subnet->clock) < client->until_ns);
}

void ibsa__sa_jobs_end(struct sa *sa, struct sa_client *client)
{
	while (sa_client_has_jobs(client)) {
		struct sa_job *job = list_object(client->jobs.next,
						 struct sa_job, link);

		answer_lose(sa, job->answer);
		job_free(job);
	}
}

size_t ibsa__sa_jobs_memory(const struct sa_client *client)
{
	const struct sa_job *job;
	size_t bytes = 0;

	LIST_EACH(job, &client->jobs, link)
		bytes += sizeof(*job) + job->answer->body.len;
	return bytes;
}
