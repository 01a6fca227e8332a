/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queries of ibsa doctor, which a signal ends. */
#include <errno.h>

#include "doctor/query.h"

static void request_done(const struct ibsa_reply *reply, void *arg)
{
	struct answer *answer = arg;

	answer->ended = true;
	answer->outcome = ibsa_reply_outcome(reply);
	answer->err = reply->err;
	answer->status = reply->status;
	answer->tries = reply->tries;
	answer->rtt_ns = reply->rtt_ns;
	answer->count = reply->count;
	ibsa_reply_explain(reply, &answer->why);
	if (answer->use)
		answer->use(reply, answer->arg);
}

static void request_await(struct doctor *doctor, struct ibsa_client *client,
			  uint64_t id, struct answer *answer)
{
	int err = 0;

	interrupt_wakes(&doctor->interrupt, client);
	while (!answer->ended) {
		if (!doctor_is_interrupted(doctor))
			err = ibsa_wait(client, -1);
		if (doctor_is_interrupted(doctor) || (err && err != -EINTR)) {
			(void)ibsa_cancel(client, id);
			(void)ibsa_dispatch(client);
		}
	}
	interrupt_wakes(&doctor->interrupt, NULL);
	if (answer->err == -ECANCELED && !doctor_is_interrupted(doctor))
		answer->err = err;
}

struct answer doctor_query(struct doctor *doctor, struct ibsa_client *client,
			   const struct ibsa_query *query, ibsa_reply_fn use,
			   void *arg)
{
	struct answer answer = {
		.outcome = IBSA_OUTCOME_UNREACHABLE,
		.use = use,
		.arg = arg,
	};
	uint64_t id;

	answer.err = ibsa_query_start(client, query, request_done, &answer,
				      &id);
	if (!answer.err)
		request_await(doctor, client, id, &answer);
	return answer;
}
