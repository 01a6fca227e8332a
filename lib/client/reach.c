/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reachability of one GID or of a batch. A batch starts as many queries as
 * ibsa__engine_batch() returns, and the next one from each callback: if it
 * queued all at once, their deadlines would expire while they wait.
 */
#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "client/client.h"
#include "client/reach.h"
#include "client/reason.h"
#include "engine/engine.h"
#include "wire/gid.h"

/*
 * Milliseconds until the next attempt to start a query of the batch, while
 * other queries of the client fill the engine's queue.
 */
enum { ROOM_MS = 10 };

/*
 * The result for a GID to which there is no path, while the reason is searched.
 */
struct unexplained {
	struct ibsa_reach_answer answer;
	struct ibsa__reason_search search;
};

/*
 * A slot of a batch, for one query at a time; @id is 0 while the slot has no
 * query.
 */
struct slot {
	struct ibsa_reach_batch *batch;
	struct slot *next_free;
	struct unexplained *unexplained; /* NULL: no reasons are searched */
	uint64_t id;
	size_t index;
};

struct ibsa_reach_batch {
	struct list link; /* in its client's list */
	struct ibsa__engine *engine;
	struct ibsa_transport *transport;
	struct ibsa_reach_options options;
	ibsa_reach_fn report;
	void *arg;
	struct ibsa_gid *gids;
	size_t count;
	/* The first GID for which no query was started yet. */
	size_t next;
	/* Number of GIDs whose result was not reported yet. */
	size_t left;
	struct slot *slots;
	struct unexplained *unexplained; /* one for each slot, or NULL */
	struct slot *free;
	size_t slot_count;
	size_t asked; /* slots in use */
	struct ibsa__alarm alarm;
	uint64_t full_ns; /* when the queue became full */
	bool is_full;
	bool stopped;
};

int ibsa__source_gid_find(struct ibsa__engine *engine,
			  const struct ibsa_gid *from, struct ibsa_gid *out)
{
	struct ibsa_port_state port;
	int err;

	*out = *from;
	if (!gid_is_zero(out))
		return 0;
	err = ibsa__engine_port(engine, false, &port);
	if (!err && gid_is_zero(&port.gid))
		err = ibsa__engine_port(engine, true, &port);
	if (err)
		return err;
	*out = port.gid;
	return gid_is_zero(out) ? -EAGAIN : 0;
}

/* Fill @out with the path query for one GID. The query's match is *@path. */
static int reach_query_make(struct ibsa__engine *engine,
			    const struct ibsa_reach_options *options,
			    const struct ibsa_gid *gid, struct ibsa_path *path,
			    struct ibsa_query *out)
{
	*path = (struct ibsa_path){
		.dgid = *gid,
		.reversible = 1,
		.numb_path = 1,
	};
	*out = (struct ibsa_query){
		.record = &ibsa_path_record,
		.match = path,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path),
		.deadline_ms = options->timeout_ms,
	};
	return ibsa__source_gid_find(engine, &options->from, &path->sgid);
}

static void reach_answer_set(const struct ibsa_reply *reply,
			     struct ibsa_reach_answer *out)
{
	out->err = reply->err;
	out->status = reply->status;
	out->tries = reply->tries;
	out->rtt_ns = reply->rtt_ns;
	out->redirect = reply->redirect;
	out->redirects = reply->redirects;
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		out->reach = IBSA_REACH_YES;
		break;
	case IBSA_OUTCOME_NONE:
		out->reach = IBSA_REACH_NO;
		break;
	default:
		out->reach = IBSA_REACH_UNKNOWN;
	}
}

static void reach_note_reply(const struct ibsa_reply *reply, void *arg)
{
	reach_answer_set(reply, arg);
}

/* Not inline: the compiler would expand the copy of the text at each call. */
__attribute__((noinline)) static void
answer_put_reason(const struct ibsa_reason *reason,
		  struct ibsa_reach_answer *answer)
{
	answer->reason = reason->code;
	answer->is_certain = reason->is_certain;
	memcpy(answer->detail, reason->detail, sizeof(answer->detail));
}

/*
 * If the query for a GID has failed, was not cancelled, and this port is down,
 * set that as the reason in @answer.
 */
static void failure_explain(struct ibsa__engine *engine,
			    struct ibsa_reach_answer *answer)
{
	struct ibsa_reason reason;

	if (answer->err && answer->err != -ECANCELED &&
	    ibsa__reason_own_port(engine, &reason))
		answer_put_reason(&reason, answer);
}

static void answer_explain(struct ibsa_client *client,
			   const struct ibsa_query *query,
			   struct ibsa_reach_answer *answer)
{
	struct ibsa_reason reason;

	if (answer->reach != IBSA_REACH_NO)
		return;
	ibsa__reason_wait(client, query, &reason);
	answer_put_reason(&reason, answer);
}

int ibsa_reach_wait_sized(struct ibsa_client *client,
			  const struct ibsa_reach_options *options,
			  size_t options_size, const struct ibsa_gid *gid,
			  struct ibsa_reach_answer *out, size_t out_size)
{
	struct ibsa_reach_options known;
	struct ibsa__engine *engine = ibsa__client_engine(client);
	struct ibsa_reach_answer answer = { .reach = IBSA_REACH_UNKNOWN };
	struct ibsa_query query;
	struct ibsa_path path;
	int err;

	if (!gid || gid_is_zero(gid))
		return -EINVAL;
	if (ibsa__sized_read(&known, sizeof(known), options, options_size))
		return -E2BIG;
	err = ibsa__engine_wait_check(engine);
	if (err)
		return err;
	answer.gid = *gid;
	err = reach_query_make(engine, &known, gid, &path, &query);
	if (!err)
		err = ibsa_query_wait(client, &query, reach_note_reply,
				      &answer);
	if (err && err != -EREMOTEIO)
		answer.err = err;
	failure_explain(engine, &answer);
	if (known.why != IBSA_WHY_NEVER)
		answer_explain(client, &query, &answer);
	answer.redirect = NULL;
	ibsa__sized_write(out, out_size, &answer, sizeof(answer));
	return 0;
}

static void batch_free(struct ibsa_reach_batch *batch)
{
	ibsa__free(batch->unexplained);
	ibsa__free(batch->slots);
	ibsa__free(batch->gids);
	ibsa__free(batch);
}

static void batch_report(struct ibsa_reach_batch *batch,
			 struct ibsa_reach_answer *answer, size_t index)
{
	answer->gid = batch->gids[index];
	answer->index = index;
	answer->left = --batch->left;
	failure_explain(batch->engine, answer);
	batch->report(answer, batch->arg);
}

static void batch_note_reply(const struct ibsa_reply *reply, void *arg);

/* Whether the next query waits until one of the batch ends. */
static bool batch_is_full(const struct ibsa_reach_batch *batch)
{
	return batch->asked >= ibsa__engine_batch(batch->engine);
}

/* Start a query for the next GID of the batch, which is not full. */
static int batch_start_next(struct ibsa_reach_batch *batch)
{
	struct slot *slot = batch->free;
	struct ibsa_query query;
	struct ibsa_path path;
	int err = reach_query_make(batch->engine, &batch->options,
				   &batch->gids[batch->next], &path, &query);

	query.bulk = true;
	if (!err)
		err = ibsa__engine_query(batch->engine, &query,
					 batch_note_reply, slot, &slot->id);
	if (err)
		return err;
	batch->free = slot->next_free;
	slot->index = batch->next++;
	batch->asked++;
	batch->is_full = false;
	return 0;
}

/*
 * Whether to try the next GID again later, because other queries of the client
 * fill the engine's queue. A GID waits for room at most as long as the timeout
 * of its query. The batch tries again when one of its queries ends; if it has
 * no query in flight, when its alarm expires.
 */
static bool batch_waits_for_room(struct ibsa_reach_batch *batch, int err)
{
	const uint64_t now_ns = ibsa__engine_now_ns(batch->engine);

	if (err == -ENOBUFS && !batch->is_full) {
		batch->is_full = true;
		batch->full_ns = now_ns;
	}
	if (err != -ENOBUFS ||
	    now_ns - batch->full_ns >= batch->options.timeout_ms * NS_PER_MS) {
		batch->is_full = false;
		return false;
	}
	if (!batch->asked)
		ibsa__alarm_set(batch->engine, &batch->alarm, ROOM_MS);
	return true;
}

/*
 * Start queries for further GIDs, and report those GIDs for which a query
 * cannot be started. This is called from a callback. The program's callback
 * may stop the batch, but cannot free it.
 */
static void batch_proceed(struct ibsa_reach_batch *batch)
{
	while (batch->next < batch->count) {
		struct ibsa_reach_answer answer = { .err = -ECANCELED };

		if (!batch->stopped) {
			if (batch_is_full(batch))
				return;
			answer.err = batch_start_next(batch);
			if (!answer.err)
				continue;
			if (batch_waits_for_room(batch, answer.err))
				return;
		}
		batch_report(batch, &answer, batch->next++);
	}
	if (batch->left)
		return;
	ibsa__alarm_cancel(batch->engine, &batch->alarm);
	list_remove(&batch->link);
	batch_free(batch);
}

static void slot_finish(struct slot *slot, struct ibsa_reach_answer *answer)
{
	struct ibsa_reach_batch *batch = slot->batch;

	slot->id = 0;
	slot->next_free = batch->free;
	batch->free = slot;
	batch->asked--;
	batch_report(batch, answer, slot->index);
	batch_proceed(batch);
}

static void slot_search(struct slot *slot);

static void slot_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct slot *slot = arg;

	ibsa__reason_take(&slot->unexplained->search, reply);
	slot_search(slot);
}

/*
 * Send the slot's next query that searches for the reason of a missing path;
 * if the search has ended, report the GID's result.
 */
static void slot_search(struct slot *slot)
{
	struct unexplained *unexplained = slot->unexplained;
	struct ibsa__reason_search *search = &unexplained->search;
	struct ibsa_query query;

	while (ibsa__reason_next(search, &query)) {
		const struct ibsa_reply unsent = {
			.record = query.record,
			.err = ibsa__engine_query(slot->batch->engine, &query,
						  slot_note_reply, slot,
						  &slot->id),
		};

		if (!unsent.err)
			return;
		ibsa__reason_take(search, &unsent);
	}
	answer_put_reason(&search->reason, &unexplained->answer);
	slot_finish(slot, &unexplained->answer);
}

/*
 * There is no path to the slot's GID: search for the reason with queries that
 * use this slot.
 */
static void slot_explain(struct slot *slot,
			 const struct ibsa_reach_answer *answer)
{
	struct ibsa_reach_batch *batch = slot->batch;
	struct ibsa_query query;
	struct ibsa_path path;

	slot->unexplained->answer = *answer;
	slot->unexplained->answer.redirect = NULL;
	slot->unexplained->search = (struct ibsa__reason_search){
		.step = REASON_END,
	};
	if (!reach_query_make(batch->engine, &batch->options,
			      &batch->gids[slot->index], &path, &query))
		ibsa__reason_start(&slot->unexplained->search, batch->engine,
				   batch->transport, &query);
	slot_search(slot);
}

static void batch_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct slot *slot = arg;
	struct ibsa_reach_answer answer = { .reach = IBSA_REACH_UNKNOWN };

	reach_answer_set(reply, &answer);
	if (answer.reach == IBSA_REACH_NO && slot->unexplained &&
	    !slot->batch->stopped)
		slot_explain(slot, &answer);
	else
		slot_finish(slot, &answer);
}

static void batch_alarm_expired(struct ibsa__alarm *alarm)
{
	batch_proceed(list_object(alarm, struct ibsa_reach_batch, alarm));
}

static int batch_check(const struct ibsa__reaches *reaches,
		       const struct ibsa_gid *gids, size_t count,
		       ibsa_reach_fn report)
{
	if (!gids || !count || !report ||
	    !ibsa__engine_is_ours(reaches->engine))
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (gid_is_zero(&gids[i]))
			return -EINVAL;
	}
	return reaches->closing ? -ESHUTDOWN : 0;
}

static bool batch_fill(struct ibsa_reach_batch *batch,
		       const struct ibsa_gid *gids, size_t count)
{
	const struct ibsa__engine_options *limits =
		ibsa__engine_options(batch->engine);

	batch->count = count;
	batch->left = count;
	batch->slot_count = count < limits->window ? count : limits->window;
	batch->gids = ibsa__calloc(count, sizeof(*gids));
	batch->slots = ibsa__calloc(batch->slot_count, sizeof(*batch->slots));
	if (batch->options.why == IBSA_WHY_ALWAYS)
		batch->unexplained = ibsa__calloc(batch->slot_count,
						  sizeof(*batch->unexplained));
	if (!batch->gids || !batch->slots ||
	    (batch->options.why == IBSA_WHY_ALWAYS && !batch->unexplained))
		return false;
	memcpy(batch->gids, gids, count * sizeof(*gids));
	for (size_t i = 0; i < batch->slot_count; i++) {
		batch->slots[i].batch = batch;
		batch->slots[i].unexplained = batch->unexplained
						      ? &batch->unexplained[i]
						      : NULL;
		batch->slots[i].next_free = batch->free;
		batch->free = &batch->slots[i];
	}
	if (!batch->options.timeout_ms)
		batch->options.timeout_ms = limits->deadline_ms;
	ibsa__alarm_init(&batch->alarm, batch_alarm_expired);
	return true;
}

/*
 * Start the batch. If the query of a GID cannot be started now, the next
 * callback tries it again or reports it; the alarm makes sure that there is a
 * callback.
 */
static void batch_start(struct ibsa_reach_batch *batch)
{
	while (!batch_is_full(batch) && batch->next < batch->count) {
		if (batch_start_next(batch))
			break;
	}
	if (!batch->asked)
		ibsa__alarm_set(batch->engine, &batch->alarm, 1);
}

int ibsa_reach_start_sized(struct ibsa_client *client,
			   const struct ibsa_reach_options *options,
			   size_t size, const struct ibsa_gid *gids,
			   size_t count, ibsa_reach_fn report, void *arg,
			   struct ibsa_reach_batch **out)
{
	struct ibsa__reaches *reaches = ibsa__client_reaches(client);
	struct ibsa_reach_options known;
	struct ibsa_reach_batch *batch;
	int err = batch_check(reaches, gids, count, report);

	if (!err)
		err = ibsa__sized_read(&known, sizeof(known), options, size);
	if (err)
		return err;
	batch = ibsa__calloc(1, sizeof(*batch));
	if (!batch)
		return -ENOMEM;
	batch->engine = reaches->engine;
	batch->transport = reaches->transport;
	batch->options = known;
	batch->report = report;
	batch->arg = arg;
	if (!batch_fill(batch, gids, count)) {
		batch_free(batch);
		return -ENOMEM;
	}
	list_append(&reaches->batches, &batch->link);
	batch_start(batch);
	if (out)
		*out = batch;
	return 0;
}

int ibsa_reach_stop(struct ibsa_reach_batch *batch)
{
	if (!batch)
		return 0;
	if (!ibsa__engine_is_ours(batch->engine))
		return -EINVAL;
	if (batch->stopped || !batch->left)
		return -EALREADY;
	batch->stopped = true;
	for (size_t i = 0; i < batch->slot_count; i++) {
		if (batch->slots[i].id)
			ibsa__engine_cancel(batch->engine, batch->slots[i].id);
	}
	if (!batch->asked)
		ibsa__alarm_set(batch->engine, &batch->alarm, 1);
	return 0;
}

void ibsa__reaches_init(struct ibsa__reaches *reaches,
			struct ibsa__engine *engine,
			struct ibsa_transport *transport)
{
	*reaches = (struct ibsa__reaches){ .engine = engine,
					   .transport = transport };
	list_init(&reaches->batches);
}

/*
 * End all batches of a client. Every batch is stopped before the first is
 * freed, so that a callback can neither add a batch nor end another one.
 */
void ibsa__reaches_end(struct ibsa__reaches *reaches)
{
	struct ibsa_reach_batch *batch, *next;

	reaches->closing = true;
	LIST_EACH(batch, &reaches->batches, link)
		batch->stopped = true;
	ibsa__engine_enter(reaches->engine);
	LIST_EACH_SAFE(batch, next, &reaches->batches, link) {
		if (!batch->asked)
			batch_proceed(batch);
	}
	ibsa__engine_leave(reaches->engine);
}
