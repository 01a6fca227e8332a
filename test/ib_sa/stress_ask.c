/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The queries of stress.c, and what their callbacks may be told: the
 * tables of ib_sa_path_rec_get(3) and ib_sa_service_rec_query(3), and what
 * follows from the fabric, from what goes wrong with it and from who cancels.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/sa.h>

#include "stress.h"

#define PREFIX 0xfe80000000000000

/* Bits of what path_of() fills in beside the hosts; the last is no field's. */
static const ib_sa_comp_mask true_of_paths[] = {
	IB_SA_PATH_REC_NUMB_PATH,
	IB_SA_PATH_REC_PKEY,
	IB_SA_PATH_REC_REVERSIBLE,
	IB_SA_PATH_REC_RAW_TRAFFIC,
	IB_SA_PATH_REC_TRAFFIC_CLASS,
	IB_SA_PATH_REC_SL,
	IB_SA_PATH_REC_MTU_SELECTOR | IB_SA_PATH_REC_MTU,
	IB_SA_PATH_REC_RATE_SELECTOR | IB_SA_PATH_REC_RATE,
	IB_SA_COMP_MASK(7) | IB_SA_COMP_MASK(23) | IB_SA_COMP_MASK(63),
	0,
};

static const ib_sa_comp_mask identity = IB_SA_SERVICE_REC_SERVICE_ID |
					IB_SA_SERVICE_REC_SERVICE_GID |
					IB_SA_SERVICE_REC_SERVICE_PKEY;
static const ib_sa_comp_mask content = IB_SA_SERVICE_REC_SERVICE_LEASE |
				       IB_SA_SERVICE_REC_SERVICE_NAME |
				       IB_SA_SERVICE_REC_SERVICE_DATA32_1 |
				       IB_SA_SERVICE_REC_SERVICE_DATA64_0;

static void count(const struct ask *ask, unsigned int what)
{
	atomic_fetch_add(&ask->rig->counts[what], 1);
}

/* There was nothing of it since, and is not. */
static bool fair(const struct ask *ask, enum sky what)
{
	const unsigned int now = atomic_load(&ask->rig->sky[what]);

	return ask->sky[what] == now && !(now & 1);
}

static void expect(struct ask *ask, bool right, const char *what)
{
	const struct ibsa_reply *reply = ibsa_last_reply(ask->device->ib);

	if (right)
		return;
	wrong(ask->rig,
	      "kind %d: status %d (SA 0x%04x) after %u of %u ms, cancelled %d, "
	      "fair %d %d %d: expected %s",
	      (int)ask->kind, ask->status, reply ? reply->status : 0,
	      (unsigned int)((now_ns() - ask->start_ns) / 1000000),
	      ask->timeout_ms, atomic_load(&ask->cancelled), fair(ask, STORM),
	      fair(ask, TAINT), fair(ask, MOVE), what);
}

static union ib_gid gid_of(const struct ask *ask, unsigned int host)
{
	return (union ib_gid){
		.global.subnet_prefix = htobe64(PREFIX),
		.global.interface_id = htobe64(ask->rig->hosts[host].guid),
	};
}

static struct sa_path_rec path_of(const struct ask *ask)
{
	return (struct sa_path_rec){
		.sgid = gid_of(ask, ask->from),
		.dgid = gid_of(ask, ask->to),
		.ib.slid = htobe16(ask->slid),
		.ib.dlid = htobe16(ask->dlid),
		.numb_path = 1,
		.pkey = htobe16(0xffff),
		.reversible = 1,
		.mtu_selector = IB_SA_GT,
		.mtu = 1,
		.rate_selector = IB_SA_GT,
		.rate = 2,
	};
}

static bool is_the_path(const struct ask *ask, const struct sa_path_rec *got)
{
	const struct sa_path_rec want = path_of(ask);
	const uint16_t bits = htobe16(fair(ask, MOVE) ? 0xffff : SAME_LID);

	return !memcmp(&got->sgid, &want.sgid, sizeof(want.sgid)) &&
	       !memcmp(&got->dgid, &want.dgid, sizeof(want.dgid)) &&
	       !((got->ib.slid ^ want.ib.slid) & bits) &&
	       !((got->ib.dlid ^ want.ib.dlid) & bits) &&
	       got->pkey == want.pkey && got->rec_type == want.rec_type;
}

static struct ib_sa_service_rec service_of(const struct ask *ask)
{
	uint64_t chance = ask->service;
	struct ib_sa_service_rec rec = {
		.id = ask->service,
		.gid = gid_of(ask, ask->service % HOSTS),
		.pkey = htobe16(0xffff),
		.lease = htobe32(3600),
		.data32[1] = (uint32_t)random_next(&chance),
		.data64[0] = random_next(&chance),
	};

	snprintf((char *)rec.name, sizeof(rec.name), "stress %llx",
		 (unsigned long long)ask->service);
	return rec;
}

/* Whether it must end as expected, if it is answered. */
static bool sure(const struct ask *ask)
{
	switch (ask->kind) {
	case PATH_TO_NOBODY:
		return true;
	case PATH:
	case SERVICE_SET:
		return fair(ask, MOVE);
	case SERVICE_GET:
		return ask->sure && fair(ask, MOVE);
	default: /* what was late, or sent twice, has undone the last step */
		return ask->sure && fair(ask, STORM);
	}
}

/* @right: the record is the one that was asked for. */
static void judge_answer(struct ask *ask, bool right)
{
	const bool none = ask->kind == PATH_TO_NOBODY ||
			  ask->kind == SERVICE_GONE;
	const struct ibsa_reply *reply = ibsa_last_reply(ask->device->ib);

	expect(ask, reply && !reply->err && !reply->status == !ask->status,
	       "the SA's status behind it");
	if (!reply || !fair(ask, TAINT))
		return;
	if (reply->status == IBSA_STATUS_BUSY && !fair(ask, STORM)) {
		count(ask, BUSY);
		return;
	}
	expect(ask, ask->status || right, "the record that was asked for");
	if (!sure(ask))
		return;
	expect(ask, !ask->status != none, none ? "no record" : "a record");
	count(ask, JUDGED + ask->kind);
}

/* By the table of the page. */
static void judge(struct ask *ask, const void *resp, size_t len, bool right)
{
	static const uint8_t zero[256];
	const bool sent = ibsa_last_reply(ask->device->ib);

	switch (ask->status) {
	case 0:
		count(ask, TOLD_0);
		judge_answer(ask, right);
		expect(ask, resp, "a record");
		return;
	case -EINVAL:
		count(ask, TOLD_EINVAL);
		judge_answer(ask, right);
		expect(ask, resp && !memcmp(resp, zero, len), "zeroes");
		return;
	case -ETIMEDOUT:
		count(ask, TOLD_ETIMEDOUT);
		expect(ask, ask->timeout_ms != LONG_MS, "an answer");
		expect(ask,
		       now_ns() - ask->start_ns >= ask->timeout_ms * 1000000ull,
		       "a later timeout");
		break;
	case -EINTR:
		count(ask, sent ? TOLD_EINTR : TOLD_EINTR_UNSENT);
		expect(ask,
		       atomic_load(&ask->cancelled) ||
			       atomic_load(&ask->device->closing),
		       "no -EINTR: nobody has cancelled it");
		break;
	case -EIO:
		count(ask, TOLD_EIO);
		expect(ask, !fair(ask, TAINT) || !fair(ask, MOVE),
		       "no -EIO: nothing is malformed");
		break;
	default:
		expect(ask, false, "a status of the table");
	}
	expect(ask, !resp, "no record");
	expect(ask, sent || ask->status == -EINTR, "a reply behind it");
}

/* It marks whom it cancels: nobody else may end with -EINTR. */
static void cancel(struct ask *ask)
{
	if (!ask)
		return;
	atomic_store(&ask->cancelled, true);
	ib_sa_cancel_query(atomic_load(&ask->id), ask->query);
}

/* Puts @ask, or NULL, where others find it, and cancels what was there. */
static void swap(struct rig *rig, struct ask *ask, uint64_t *chance)
{
	cancel(atomic_exchange(&rig->board[below(chance, BOARD)], ask));
}

/* At once, at once twice, or by whoever comes by. */
static void cancel_maybe(struct ask *ask, uint64_t *chance)
{
	const unsigned int what = below(chance, 32);

	if (what < 4)
		swap(ask->rig, ask, chance);
	if (what == 4 || what == 5)
		cancel(ask);
	if (what == 5)
		cancel(ask);
}

/* What has ended, or is about to, is left alone: it gets no mark. */
static void cancel_too_late(struct ask *ask)
{
	if (atomic_load(&ask->calls) && atomic_load(&ask->id) >= 0)
		ib_sa_cancel_query(atomic_load(&ask->id), ask->query);
}

static void called(struct ask *ask, int status)
{
	struct rig *rig = ask->rig;

	ask->status = status;
	expect(ask, !atomic_fetch_add(&ask->calls, 1), "one callback");
	expect(ask, !atomic_exchange(&ask->device->calling, true),
	       "one callback of a device at a time");
	expect(ask, ask->query, "the query to have been stored");
	cancel_too_late(ask);
	cancel_too_late(&rig->asks[below(&ask->chance, rig->room)]);
	if (!below(&ask->chance, 8))
		swap(rig, NULL, &ask->chance);
}

/* Goes on, in its slot, with what follows a service, or with anything. */
static void leave(struct ask *ask, const struct ask *after)
{
	struct rig *rig = ask->rig;
	const unsigned int any = below(&ask->chance, 16);

	if (after || any < 4)
		ask_start(rig, &rig->devices[any % 2],
			  &rig->clients[any / 2 % 2], after, &ask->chance);
	else
		sem_post(&rig->slots);
	atomic_store(&ask->device->calling, false);
}

static void path_told(int status, struct sa_path_rec *resp, void *context)
{
	struct ask *ask = context;

	called(ask, status);
	judge(ask, resp, sizeof(*resp), resp && is_the_path(ask, resp));
	leave(ask, NULL);
}

static void service_told(int status, struct ib_sa_service_rec *resp,
			 void *context)
{
	struct ask *ask = context;
	const struct ib_sa_service_rec want = service_of(ask);

	called(ask, status);
	judge(ask, resp, sizeof(*resp),
	      resp && !memcmp(resp, &want, sizeof(want)));
	if (ask->kind == SERVICE_SET)
		ask->sure = !status;
	if (ask->kind == SERVICE_DELETE)
		ask->sure = ask->sure && !status;
	leave(ask, ask->kind < SERVICE_GONE ? ask : NULL);
}

/* Both hosts by LID or by GID, and some more that is true. */
static int start_path(struct ask *ask, uint64_t *chance)
{
	struct sa_path_rec rec = path_of(ask);
	ib_sa_comp_mask mask =
		(below(chance, 2) ? IB_SA_PATH_REC_SLID : IB_SA_PATH_REC_SGID) |
		(below(chance, 2) ? IB_SA_PATH_REC_DLID : IB_SA_PATH_REC_DGID);
	int id;

	for (size_t i = 0; true_of_paths[i]; i++)
		if (below(chance, 2))
			mask |= true_of_paths[i];
	if (ask->kind == PATH_TO_NOBODY) {
		rec.ib.dlid = htobe16(LID_LIMIT);
		rec.dgid.global.interface_id = random_next(chance);
	}
	id = ib_sa_path_rec_get(ask->client, ask->device->ib, ask->device->port,
				&rec, mask, ask->timeout_ms, 0, path_told, ask,
				&ask->query);
	memset(&rec, 0xff, sizeof(rec)); /* it was copied */
	return id;
}

static int start_service(struct ask *ask, uint64_t *chance)
{
	const uint8_t methods[] = {
		[SERVICE_SET] = IB_MGMT_METHOD_SET,
		[SERVICE_GET] = IB_MGMT_METHOD_GET,
		[SERVICE_DELETE] = IB_SA_METHOD_DELETE,
		[SERVICE_GONE] = IB_MGMT_METHOD_GET,
		[BAD_METHOD] = (uint8_t)(3 + below(chance, 0x12)),
	};
	const ib_sa_comp_mask more =
		ask->kind == SERVICE_SET || below(chance, 2) ? content : 0;
	struct ib_sa_service_rec rec = service_of(ask);
	const int id = ib_sa_service_rec_query(
		ask->client, ask->device->ib, ask->device->port,
		methods[ask->kind], &rec, identity | more, ask->timeout_ms, 0,
		service_told, ask, &ask->query);

	memset(&rec, 0xff, sizeof(rec));
	return id;
}

/* The call has returned @id. Return: whether there will be a callback. */
static bool started(struct ask *ask, int id, uint64_t *chance)
{
	struct rig *rig = ask->rig;
	const bool bad = ask->kind == BAD_METHOD;

	if (id >= 0 && !bad) {
		atomic_store(&ask->accepted, true);
		atomic_store(&ask->id, id);
		atomic_fetch_add(&rig->started, 1);
		cancel_maybe(ask, chance);
		return true;
	}
	if (bad ? id != -EINVAL
		: id != -EAGAIN || !atomic_load(&rig->sky[MOVE]))
		wrong(rig, "kind %d: start %d, expected %s", (int)ask->kind, id,
		      bad ? "-EINVAL" : "an id");
	if (ask->query)
		wrong(rig, "start %d: expected no query", id);
	count(ask, bad ? REFUSED : AGAIN);
	return false;
}

/* One that follows, or anything: what is known of it, and since when. */
static void draw(struct ask *ask, const struct ask *after, uint64_t *chance)
{
	const enum kind kind = below(chance, 32) ? below(chance, 3)
						 : BAD_METHOD;

	ask->kind = after ? after->kind + 1 : kind;
	ask->service = after ? after->service : random_next(chance);
	ask->sure = after && after->sure;
	for (size_t i = 0; i < SKIES; i++)
		ask->sky[i] = after ? after->sky[i]
				    : atomic_load(&ask->rig->sky[i]);
	ask->from = below(chance, HOSTS);
	ask->to = below(chance, HOSTS);
	ask->slid = atomic_load(&ask->rig->lids[ask->from]);
	ask->dlid = atomic_load(&ask->rig->lids[ask->to]);
	ask->timeout_ms = below(chance, 16) ? below(chance, 200) : LONG_MS;
	ask->chance = random_next(chance);
	ask->start_ns = now_ns();
}

struct ask *ask_start(struct rig *rig, struct device *device,
		      struct ib_sa_client *client, const struct ask *after,
		      uint64_t *chance)
{
	const bool enough = atomic_load(&rig->started) >= rig->wanted;
	const unsigned int index = atomic_fetch_add(&rig->taken, !enough);
	struct ask *ask = &rig->asks[index];
	int id;

	if (enough || index >= rig->room) {
		sem_post(&rig->slots);
		return NULL;
	}
	ask->rig = rig;
	ask->device = device;
	ask->client = client;
	draw(ask, after, chance);
	id = ask->kind <= PATH_TO_NOBODY ? start_path(ask, chance)
					 : start_service(ask, chance);
	if (started(ask, id, chance))
		return ask;
	sem_post(&rig->slots);
	return NULL;
}
