/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The queries of stress.c, and the results that their callbacks may have: by
 * the tables of ib_sa_path_rec_get(3) and ib_sa_service_rec_query(3), by the
 * fabric, by what goes wrong in it, and by cancels.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/types.h>

#include "stress.h"

/*
 * Mask bits that a query adds: of the fields that path_of() fills, except those
 * of the hosts; and none.
 */
static const ib_sa_comp_mask true_of_paths[] = {
	IB_SA_PATH_REC_NUMB_PATH,
	IB_SA_PATH_REC_PKEY,
	IB_SA_PATH_REC_REVERSIBLE,
	IB_SA_PATH_REC_RAW_TRAFFIC,
	IB_SA_PATH_REC_TRAFFIC_CLASS,
	IB_SA_PATH_REC_SL,
	IB_SA_PATH_REC_MTU_SELECTOR | IB_SA_PATH_REC_MTU,
	IB_SA_PATH_REC_RATE_SELECTOR | IB_SA_PATH_REC_RATE,
	0,
};

static const ib_sa_comp_mask identity = IB_SA_SERVICE_REC_SERVICE_ID |
					IB_SA_SERVICE_REC_SERVICE_GID |
					IB_SA_SERVICE_REC_SERVICE_PKEY;
static const ib_sa_comp_mask content = IB_SA_SERVICE_REC_SERVICE_LEASE |
				       IB_SA_SERVICE_REC_SERVICE_NAME |
				       IB_SA_SERVICE_REC_SERVICE_DATA32_1 |
				       IB_SA_SERVICE_REC_SERVICE_DATA64_0;

static void count(const struct query *query, unsigned int what)
{
	atomic_fetch_add(&query->rig->counts[what], 1);
}

/*
 * Whether no change of this kind has happened since the first query of this
 * query's sequence, and none is in progress.
 */
static bool is_fair(const struct query *query, enum sky what)
{
	const unsigned int now = atomic_load(&query->rig->sky[what]);

	return query->sky[what] == now && !(now & 1);
}

static void expect(struct query *query, bool right, const char *what)
{
	const struct ibsa_reply *reply = ibsa_last_reply(query->device->ib);

	if (right)
		return;
	report_wrong(
		query->rig,
		"kind %d: status %d (%d, SA 0x%04x) after %u of %u ms, cancelled %d, "
		"fair %d %d %d: expected %s",
		(int)query->kind, query->status, reply ? reply->err : 0,
		reply ? reply->status : 0,
		(unsigned int)((now_ns() - query->start_ns) / 1000000),
		query->timeout_ms, atomic_load(&query->cancelled),
		is_fair(query, STORM), is_fair(query, TAINT),
		is_fair(query, MOVE), what);
}

static union ib_gid gid_of(const struct query *query, unsigned int host)
{
	return (union ib_gid){
		.global.subnet_prefix = htobe64(PREFIX),
		.global.interface_id = htobe64(query->rig->hosts[host].guid),
	};
}

static struct sa_path_rec path_of(const struct query *query)
{
	return (struct sa_path_rec){
		.sgid = gid_of(query, query->from),
		.dgid = gid_of(query, query->to),
		.ib.slid = htobe16(query->slid),
		.ib.dlid = htobe16(query->dlid),
		.numb_path = 1,
		.pkey = htobe16(0xffff),
		.reversible = 1,
		.mtu_selector = IB_SA_GT,
		.mtu = 1,
		.rate_selector = IB_SA_GT,
		.rate = 2,
	};
}

static bool is_the_path(const struct query *query,
			const struct sa_path_rec *got)
{
	const struct sa_path_rec want = path_of(query);
	const uint16_t bits = htobe16(is_fair(query, MOVE) ? 0xffff : SAME_LID);

	return !memcmp(&got->sgid, &want.sgid, sizeof(want.sgid)) &&
	       !memcmp(&got->dgid, &want.dgid, sizeof(want.dgid)) &&
	       !((got->ib.slid ^ want.ib.slid) & bits) &&
	       !((got->ib.dlid ^ want.ib.dlid) & bits) &&
	       got->pkey == want.pkey && got->rec_type == want.rec_type;
}

static struct ib_sa_service_rec service_of(const struct query *query)
{
	uint64_t chance = query->service;
	struct ib_sa_service_rec rec = {
		.id = query->service,
		.gid = gid_of(query, query->service % HOSTS),
		.pkey = htobe16(0xffff),
		.lease = htobe32(3600),
		.data32[1] = (uint32_t)random_next(&chance),
		.data64[0] = random_next(&chance),
	};

	snprintf((char *)rec.name, sizeof(rec.name), "stress %llx",
		 (unsigned long long)query->service);
	return rec;
}

/* Whether the query must end as expected if it is answered. */
static bool is_sure(const struct query *query)
{
	switch (query->kind) {
	case PATH_TO_NOBODY:
		return true;
	case PATH:
	case SERVICE_SET:
		return is_fair(query, MOVE);
	case SERVICE_GET:
		return query->sure && is_fair(query, MOVE);
	/* A MAD that comes late or twice may have undone the last step. */
	default:
		return query->sure && is_fair(query, STORM);
	}
}

/* @right: the record in the reply is the record that the query selected. */
static void judge_answer(struct query *query, bool right)
{
	const bool none = query->kind == PATH_TO_NOBODY ||
			  query->kind == SERVICE_GONE;
	const struct ibsa_reply *reply = ibsa_last_reply(query->device->ib);

	expect(query, reply && !reply->err && !reply->status == !query->status,
	       "the SA's status behind it");
	if (!reply || !is_fair(query, TAINT))
		return;
	if (reply->status == IBSA_STATUS_BUSY && !is_fair(query, STORM)) {
		count(query, BUSY);
		return;
	}
	expect(query, query->status || right, "the record that was asked for");
	if (!is_sure(query))
		return;
	expect(query, !query->status != none, none ? "no record" : "a record");
	count(query, JUDGED + query->kind);
}

/*
 * Whether a query could not be sent because its device has read, some time
 * after a move, that the port had no SM or no link.
 */
static bool is_unsent_after_move(const struct query *query)
{
	const struct ibsa_reply *reply = ibsa_last_reply(query->device->ib);

	return reply && (reply->err == -EAGAIN || reply->err == -ENETDOWN) &&
	       atomic_load(&query->rig->sky[MOVE]);
}

/* Check the result of a query by the table in its manual page. */
static void result_judge(struct query *query, const void *resp, bool right)
{
	const bool sent = ibsa_last_reply(query->device->ib);

	switch (query->status) {
	case 0:
		count(query, TOLD_0);
		judge_answer(query, right);
		expect(query, resp, "a record");
		return;
	case -EINVAL:
		count(query, TOLD_EINVAL);
		judge_answer(query, right);
		expect(query, resp, "the SA's record");
		return;
	case -ETIMEDOUT:
		count(query, TOLD_ETIMEDOUT);
		expect(query, query->timeout_ms != LONG_MS, "an answer");
		expect(query,
		       now_ns() - query->start_ns >=
			       query->timeout_ms * 1000000ull,
		       "a later timeout");
		break;
	case -EINTR:
		count(query, sent ? TOLD_EINTR : TOLD_EINTR_UNSENT);
		expect(query,
		       atomic_load(&query->cancelled) ||
			       atomic_load(&query->device->closing),
		       "no -EINTR: it was not cancelled");
		break;
	case -EIO:
		count(query, TOLD_EIO);
		expect(query,
		       !is_fair(query, TAINT) || !is_fair(query, MOVE) ||
			       is_unsent_after_move(query),
		       "no -EIO: nothing is malformed");
		break;
	default:
		expect(query, false, "a status of the table");
	}
	expect(query, !resp, "no record");
	expect(query, sent || query->status == -EINTR, "a reply behind it");
}

/* Mark the query before cancelling it: only marked ones may end with -EINTR. */
static void query_cancel(struct query *query)
{
	if (!query)
		return;
	atomic_store(&query->cancelled, true);
	ib_sa_cancel_query(atomic_load(&query->id), query->query);
}

/*
 * Store @query, or NULL, where other threads find it, and cancel the query that
 * was stored there before.
 */
static void board_swap(struct rig *rig, struct query *query, uint64_t *chance)
{
	query_cancel(atomic_exchange(&rig->board[random_below(chance, BOARD)],
				     query));
}

/* Sometimes cancel the query: at once, twice at once, or by another thread. */
static void cancel_maybe(struct query *query, uint64_t *chance)
{
	const unsigned int what = random_below(chance, 32);

	if (what < 4)
		board_swap(query->rig, query, chance);
	if (what == 4 || what == 5)
		query_cancel(query);
	if (what == 5)
		query_cancel(query);
}

/* A query that has ended, or is about to, is not affected: it is not marked. */
static void cancel_too_late(struct query *query)
{
	if (atomic_load(&query->calls) && atomic_load(&query->id) >= 0)
		ib_sa_cancel_query(atomic_load(&query->id), query->query);
}

static void query_called(struct query *query, int status)
{
	struct rig *rig = query->rig;

	query->status = status;
	expect(query, !atomic_fetch_add(&query->calls, 1), "one callback");
	expect(query, !atomic_exchange(&query->device->calling, true),
	       "one callback of a device at a time");
	expect(query, query->query, "the query to have been stored");
	cancel_too_late(query);
	cancel_too_late(&rig->asks[random_below(&query->chance, rig->room)]);
	if (!random_below(&query->chance, 8))
		board_swap(rig, NULL, &query->chance);
}

/*
 * Use the slot of @query for the query that follows @after, or, sometimes, for
 * any query; otherwise free the slot.
 */
static void query_continue(struct query *query, const struct query *after)
{
	struct rig *rig = query->rig;
	const unsigned int any = random_below(&query->chance, 16);

	if (after || any < 4)
		query_start(rig, &rig->devices[any % 2],
			    &rig->clients[any / 2 % 2], after, &query->chance);
	else
		sem_post(&rig->slots);
	atomic_store(&query->device->calling, false);
}

static void path_told(int status, struct sa_path_rec *resp, void *context)
{
	struct query *query = context;

	query_called(query, status);
	result_judge(query, resp, resp && is_the_path(query, resp));
	query_continue(query, NULL);
}

static void service_told(int status, struct ib_sa_service_rec *resp,
			 void *context)
{
	struct query *query = context;
	const struct ib_sa_service_rec want = service_of(query);

	query_called(query, status);
	result_judge(query, resp, resp && !memcmp(resp, &want, sizeof(want)));
	if (query->kind == SERVICE_SET)
		query->sure = !status;
	if (query->kind == SERVICE_DELETE)
		query->sure = query->sure && !status;
	query_continue(query, query->kind < SERVICE_GONE ? query : NULL);
}

/* Both hosts by LID or by GID, and some more fields with correct values. */
static int start_path(struct query *query, uint64_t *chance)
{
	struct sa_path_rec rec = path_of(query);
	ib_sa_comp_mask mask = (random_below(chance, 2) ? IB_SA_PATH_REC_SLID
							: IB_SA_PATH_REC_SGID) |
			       (random_below(chance, 2) ? IB_SA_PATH_REC_DLID
							: IB_SA_PATH_REC_DGID);
	int id;

	for (size_t i = 0; true_of_paths[i]; i++)
		if (random_below(chance, 2))
			mask |= true_of_paths[i];
	if (query->kind == PATH_TO_NOBODY) {
		rec.ib.dlid = htobe16(LID_LIMIT);
		rec.dgid.global.interface_id = random_next(chance);
	}
	id = ib_sa_path_rec_get(query->client, query->device->ib,
				query->device->port, &rec, mask,
				query->timeout_ms, 0, path_told, query,
				&query->query);
	memset(&rec, 0xff, sizeof(rec)); /* it was copied */
	return id;
}

static int start_service(struct query *query, uint64_t *chance)
{
	const uint8_t methods[] = {
		[SERVICE_SET] = IB_MGMT_METHOD_SET,
		[SERVICE_GET] = IB_MGMT_METHOD_GET,
		[SERVICE_DELETE] = IB_SA_METHOD_DELETE,
		[SERVICE_GONE] = IB_MGMT_METHOD_GET,
		[BAD_METHOD] = (uint8_t)(3 + random_below(chance, 0x12)),
	};
	const ib_sa_comp_mask more = query->kind == SERVICE_SET ||
						     random_below(chance, 2)
					     ? content
					     : 0;
	struct ib_sa_service_rec rec = service_of(query);
	const int id = ib_sa_service_rec_query(
		query->client, query->device->ib, query->device->port,
		methods[query->kind], &rec, identity | more, query->timeout_ms,
		0, service_told, query, &query->query);

	memset(&rec, 0xff, sizeof(rec));
	return id;
}

/* The call has returned @id. Return: whether there will be a callback. */
static bool query_started(struct query *query, int id, uint64_t *chance)
{
	struct rig *rig = query->rig;
	const bool bad = query->kind == BAD_METHOD;

	if (id >= 0 && !bad) {
		atomic_store(&query->accepted, true);
		atomic_store(&query->id, id);
		atomic_fetch_add(&rig->started, 1);
		cancel_maybe(query, chance);
		return true;
	}
	if (bad ? id != -EINVAL
		: id != -EAGAIN || !atomic_load(&rig->sky[MOVE]))
		report_wrong(rig, "kind %d: start %d, expected %s",
			     (int)query->kind, id, bad ? "-EINVAL" : "an id");
	if (query->query)
		report_wrong(rig, "start %d: expected no query", id);
	count(query, bad ? REFUSED : AGAIN);
	return false;
}

/*
 * Choose a query at random: one that follows @after, or any if @after is NULL.
 * Record what is known about its result.
 */
static void query_draw(struct query *query, const struct query *after,
		       uint64_t *chance)
{
	const enum kind kind = random_below(chance, 32)
				       ? random_below(chance, 3)
				       : BAD_METHOD;

	query->kind = after ? after->kind + 1 : kind;
	query->service = after ? after->service : random_next(chance);
	query->sure = after && after->sure;
	for (size_t i = 0; i < SKIES; i++)
		query->sky[i] = after ? after->sky[i]
				      : atomic_load(&query->rig->sky[i]);
	query->from = random_below(chance, HOSTS);
	query->to = random_below(chance, HOSTS);
	query->slid = atomic_load(&query->rig->lids[query->from]);
	query->dlid = atomic_load(&query->rig->lids[query->to]);
	query->timeout_ms = random_below(chance, 16) ? random_below(chance, 200)
						     : LONG_MS;
	query->chance = random_next(chance);
	query->start_ns = now_ns();
}

struct query *query_start(struct rig *rig, struct device *device,
			  struct ib_sa_client *client,
			  const struct query *after, uint64_t *chance)
{
	const bool enough = run_is_over(rig);
	const unsigned int index = atomic_fetch_add(&rig->taken, !enough);
	struct query *query = &rig->asks[index];
	int id;

	if (enough || index >= rig->room) {
		sem_post(&rig->slots);
		return NULL;
	}
	query->rig = rig;
	query->device = device;
	query->client = client;
	query_draw(query, after, chance);
	id = query->kind <= PATH_TO_NOBODY ? start_path(query, chance)
					   : start_service(query, chance);
	if (query_started(query, id, chance))
		return query;
	sem_post(&rig->slots);
	return NULL;
}
