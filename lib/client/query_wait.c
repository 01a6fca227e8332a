/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The blocking query, ibsa_query_wait(), and the evaluation of its reply. This
 * file uses only public functions of the library.
 */
#include <errno.h>

#include <ibsa/ibsa.h>

struct query_waiter {
	ibsa_reply_fn done;
	void *arg;
	bool ended;
	int result;
};

static void wait_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct query_waiter *waiter = arg;

	waiter->ended = true;
	waiter->result = reply->err;
	if (!reply->err && reply->status)
		waiter->result = -EREMOTEIO;
	if (waiter->done)
		waiter->done(reply, waiter->arg);
}

int ibsa_query_wait_sized(struct ibsa_client *client,
			  const struct ibsa_query *query, size_t size,
			  ibsa_reply_fn done, void *arg)
{
	struct query_waiter waiter = { .done = done, .arg = arg };
	uint64_t id;
	int err = ibsa_dispatch(client);

	if (err == -EBUSY)
		return err;
	err = ibsa_query_start_sized(client, query, size, wait_note_reply,
				     &waiter, &id);
	if (err)
		return err;
	while (!waiter.ended) {
		err = ibsa_wait(client, -1);
		if (err && err != -EINTR && !waiter.ended) {
			ibsa_cancel(client, id);
			ibsa_dispatch(client);
		}
	}
	return waiter.result == -ECANCELED && err ? err : waiter.result;
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
