/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The blocking query, ibsa_query_wait(), and the evaluation of its reply. This
 * file uses only public functions of the library.
 */
#include <errno.h>

#include <ibsa/ibsa.h>

struct waiting {
	ibsa_reply_fn done;
	void *arg;
	bool ended;
	int result;
};

static void wait_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct waiting *waiting = arg;

	waiting->ended = true;
	waiting->result = reply->err;
	if (!reply->err && reply->status)
		waiting->result = -EREMOTEIO;
	if (waiting->done)
		waiting->done(reply, waiting->arg);
}

int ibsa_query_wait_sized(struct ibsa_client *client,
			  const struct ibsa_query *query, size_t size,
			  ibsa_reply_fn done, void *arg)
{
	struct waiting waiting = { .done = done, .arg = arg };
	uint64_t id;
	int err = ibsa_dispatch(client);

	if (err == -EBUSY)
		return err;
	err = ibsa_query_start_sized(client, query, size, wait_note_reply,
				     &waiting, &id);
	if (err)
		return err;
	while (!waiting.ended) {
		err = ibsa_wait(client, -1);
		if (err && err != -EINTR && !waiting.ended) {
			ibsa_cancel(client, id);
			ibsa_dispatch(client);
		}
	}
	return waiting.result == -ECANCELED && err ? err : waiting.result;
}

enum ibsa_outcome ibsa_reply_outcome(const struct ibsa_reply *reply)
{
	if (reply->err)
		return IBSA_OUTCOME_UNREACHABLE;
	if (reply->status & IBSA_STATUS_BUSY)
		return IBSA_OUTCOME_BUSY;
	if (reply->status == IBSA_STATUS_NO_RECORDS ||
	    reply->status == IBSA_STATUS_REQ_INVALID_GID)
		return IBSA_OUTCOME_NONE;
	if (reply->status)
		return IBSA_OUTCOME_REFUSED;
	return reply->count ? IBSA_OUTCOME_OK : IBSA_OUTCOME_NONE;
}
