/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One service, from its first Set to its Delete.
 *
 * It is read before it is set again, for a Set cannot tell that the record
 * was gone, and would take another's place without a word.
 */
#include <errno.h>
#include <limits.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "keep/kept.h"

enum {
	NAME_AT = 48,	 /* in the record, followed by the data */
	RETRY_MS = 1000, /* after a failure, doubling up to */
	RETRY_MAX_MS = 60 * 1000,
	REFUSED_MS = 60 * 1000, /* after a refusal, doubling up to */
	REFUSED_MAX_MS = 900 * 1000,
	DISPUTE_MS = 1000, /* after a second loss, doubling up to */
	DISPUTE_MAX_MS = 300 * 1000,
	SOON_MS = 500,		 /* after a change of the port, at most */
	LAST_DEADLINE_MS = 1500, /* while the client closes */
};

static const uint64_t identity = IBSA_SERVICE_CM(service_id) |
				 IBSA_SERVICE_CM(service_gid) |
				 IBSA_SERVICE_CM(service_pkey);

static void on_set(const struct ibsa_reply *reply, void *arg);
static void on_read(const struct ibsa_reply *reply, void *arg);
static void on_deleted(const struct ibsa_reply *reply, void *arg);

static struct ibsa__engine *engine_of(const struct ibsa_kept *kept)
{
	return kept->keeper->engine;
}

/* The last act of an event. */
static void report(struct ibsa_kept *kept, enum ibsa_kept_event event,
		   const struct ibsa_service *service)
{
	const struct ibsa_kept_report event_report = {
		.kept = kept,
		.event = event,
		.err = kept->err,
		.status = kept->status,
		.service = service,
	};

	if (kept->report)
		kept->report(&event_report, kept->arg);
}

void ibsa__kept_finish(struct ibsa_kept *kept, int err, uint16_t status)
{
	struct ibsa__keeper *keeper = kept->keeper;

	ibsa__alarm_cancel(keeper->engine, &kept->alarm);
	list_remove(&kept->link);
	if (list_is_empty(&keeper->kept)) {
		ibsa__engine_unwatch(keeper->engine, keeper->watch);
		keeper->watch = NULL;
	}
	kept->err = err;
	kept->status = status;
	report(kept, IBSA_KEPT_RELEASED, &kept->record);
	ibsa__free(kept);
}

/* Send a request of the service's record. Return: as ibsa_query(). */
static int ask(struct ibsa_kept *kept, uint8_t method, uint64_t mask,
	       ibsa_reply_fn done)
{
	const bool closing = kept->keeper->closing;
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &kept->record,
		.mask = mask,
		.method = method,
		.deadline_ms = closing ? LAST_DEADLINE_MS : kept->deadline_ms,
	};

	return ibsa__engine_query(engine_of(kept), &query, done, kept,
				  &kept->query_id);
}

/* Have the next step done in @ms, or soon where the port has changed. */
static void plan(struct ibsa_kept *kept, enum kept_step step, uint64_t ms)
{
	if (kept->soon && ms > SOON_MS)
		ms = ibsa__engine_random(engine_of(kept), SOON_MS);
	kept->soon = false;
	kept->step = step;
	ibsa__alarm_set(engine_of(kept), &kept->alarm,
			ms < UINT_MAX ? (unsigned int)ms : UINT_MAX);
}

/* @ms, doubled @times, up to @max_ms; a quarter of it is random. */
static uint64_t back_off(struct ibsa_kept *kept, uint64_t ms,
			 unsigned int times, uint64_t max_ms)
{
	while (times-- && ms < max_ms)
		ms *= 2;
	ms = ms < max_ms ? ms : max_ms;
	return ms - ibsa__engine_random(engine_of(kept), ms / 4);
}

/* The SA said no: neither silence nor a wish to be asked later. */
static bool is_refusal(int err, uint16_t status)
{
	return !err && !(status & IBSA_STATUS_BUSY);
}

/*
 * A step came to nothing. What the SA has had is read when it can be asked
 * again, the rest is set.
 */
static void failed(struct ibsa_kept *kept, int err, uint16_t status)
{
	const bool refused = is_refusal(err, status);
	const bool again = kept->standing == STANDING_TROUBLED;
	const bool told = again && kept->err == err && kept->status == status;
	const enum kept_step step = kept->standing == STANDING_GOOD
					    ? STEP_READ
					    : kept->step;

	if (again && refused != is_refusal(kept->err, kept->status))
		kept->failures = 0;
	kept->standing = STANDING_TROUBLED;
	kept->is_fresh = false;
	kept->err = err;
	kept->status = status;
	plan(kept, step,
	     back_off(kept, refused ? REFUSED_MS : RETRY_MS, kept->failures++,
		      refused ? REFUSED_MAX_MS : RETRY_MAX_MS));
	if (!told)
		report(kept, refused ? IBSA_KEPT_REFUSED : IBSA_KEPT_FAILED,
		       &kept->record);
}

/* The record is gone, or is another's: set it in @ms. */
static void set_again(struct ibsa_kept *kept, enum ibsa_kept_event event,
		      const struct ibsa_service *service, uint64_t ms)
{
	kept->standing = STANDING_NEW;
	kept->is_fresh = false;
	kept->soon = false;
	kept->err = 0;
	kept->status = 0;
	plan(kept, STEP_SET, ms);
	report(kept, event, service);
}

/*
 * Two programs that want the same place would take it from each other for
 * ever: so each time it is later.
 */
static void dispute(struct ibsa_kept *kept, enum ibsa_kept_event event,
		    const struct ibsa_service *service)
{
	uint64_t ms = 0;

	if (kept->disputes)
		ms = back_off(kept, DISPUTE_MS, kept->disputes - 1,
			      DISPUTE_MAX_MS);
	kept->disputes++;
	set_again(kept, event, service, ms);
}

static uint64_t now_ns(const struct ibsa_kept *kept)
{
	return ibsa__engine_now_ns(engine_of(kept));
}

/* From now to the next reading: a little less than the interval, so that
 * clients which began together do not stay together. */
static uint64_t next_read_ms(struct ibsa_kept *kept)
{
	uint64_t ms = kept->audit_ms -
		      ibsa__engine_random(engine_of(kept),
					  kept->audit_ms / 8 + UINT64_C(1));
	uint64_t now = now_ns(kept);
	uint64_t renew_ms = kept->renew_ns > now
				    ? (kept->renew_ns - now) / NS_PER_MS
				    : 0;

	return ms < renew_ms ? ms : renew_ms;
}

/* The SA has the record. */
static void present(struct ibsa_kept *kept, struct ibsa_service *service)
{
	const bool was_good = kept->standing == STANDING_GOOD;

	if (!kept->is_fresh)
		kept->disputes = 0;
	kept->is_fresh = false;
	kept->failures = 0;
	kept->moves = kept->keeper->moves;
	kept->standing = STANDING_GOOD;
	kept->err = 0;
	kept->status = 0;
	if (now_ns(kept) >= kept->renew_ns)
		plan(kept, STEP_SET, 0);
	else
		plan(kept, STEP_READ, next_read_ms(kept));
	if (was_good)
		return;
	service->service_lease = kept->granted_s;
	report(kept, IBSA_KEPT_REGISTERED, service);
}

/*
 * The SA does not have the record. If the SM has restarted or moved since it
 * had it, it forgot: no other program has removed the record.
 */
static void absent(struct ibsa_kept *kept)
{
	kept->step = STEP_SET;
	if (ibsa__keeper_moves(kept->keeper) != kept->moves)
		set_again(kept, IBSA_KEPT_LOST, &kept->record, 0);
	else if (kept->is_fresh)
		failed(kept, -ENOENT, 0);
	else
		dispute(kept, IBSA_KEPT_LOST, &kept->record);
}

/*
 * Look for the record in what the SA has under its identity; the lease may be
 * what is left of it, and the key is shown to few. Return: whether it is
 * there; *@out is it, or what is there instead.
 */
static bool find(const struct ibsa_kept *kept, const struct ibsa_reply *reply,
		 struct ibsa_service *out)
{
	uint8_t mine[SERVICE_BYTES];
	uint64_t over = 0;

	ibsa_service_record.encode(&kept->record, mine, &over);
	for (size_t i = reply->count; i-- > 0;) {
		const uint8_t *other = ibsa_reply_at(reply, i);

		ibsa_service_record.decode(other, out);
		if (!memcmp(mine + NAME_AT, other + NAME_AT,
			    SERVICE_BYTES - NAME_AT))
			return true;
	}
	return false;
}

static bool is_none(const struct ibsa_reply *reply)
{
	return !reply->err && (reply->status == IBSA_STATUS_NO_RECORDS ||
			       reply->status == IBSA_STATUS_REQ_INVALID_GID ||
			       (!reply->status && !reply->count));
}

static void take_step(struct ibsa_kept *kept)
{
	static const struct ibsa_gid none;
	int err;

	if (kept->step == STEP_SET)
		kept->moves = kept->keeper->moves;
	if (!memcmp(&kept->record.service_gid, &none, sizeof(none)))
		err = -EAGAIN;
	else if (kept->step == STEP_SET)
		err = ask(kept, IBSA_METHOD_SET, kept->mask, on_set);
	else
		err = ask(kept, kept->read_method, identity, on_read);
	if (err)
		failed(kept, err, 0);
	else
		kept->is_out |= kept->step == STEP_SET;
}

static void begin_delete(struct ibsa_kept *kept)
{
	int err;

	kept->step = STEP_DELETE;
	if (!kept->is_out) {
		ibsa__kept_finish(kept, 0, 0);
		return;
	}
	err = ask(kept, IBSA_METHOD_DELETE, identity, on_deleted);
	if (err)
		ibsa__kept_finish(kept, err, 0);
}

static void on_deleted(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_kept *kept = arg;

	kept->query_id = 0;
	ibsa__kept_finish(kept, reply->err, reply->status);
}

/* Half of the lease is for tries that fail. */
static void note_lease(struct ibsa_kept *kept, uint32_t lease_s)
{
	lease_s = lease_s ? lease_s : 1;
	kept->granted_s = lease_s;
	kept->renew_ns = lease_s == IBSA_LEASE_INFINITE
				 ? UINT64_MAX
				 : now_ns(kept) + lease_s * (NS_PER_S / 2);
}

static void on_set(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_kept *kept = arg;
	struct ibsa_service service;

	kept->query_id = 0;
	if (kept->releasing) {
		begin_delete(kept);
		return;
	}
	if (reply->err || reply->status) {
		failed(kept, reply->err, reply->status);
		return;
	}
	ibsa_service_record.decode(reply->records, &service);
	note_lease(kept, service.service_lease);
	if (kept->standing == STANDING_GOOD) {
		plan(kept, STEP_READ, next_read_ms(kept));
		return;
	}
	kept->is_fresh = true;
	kept->step = STEP_READ;
	take_step(kept);
}

static void on_read(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_kept *kept = arg;
	struct ibsa_service service;

	kept->query_id = 0;
	if (kept->releasing) {
		begin_delete(kept);
	} else if (is_none(reply)) {
		absent(kept);
	} else if (reply->status == IBSA_STATUS_TOO_MANY_RECORDS &&
		   kept->read_method == IBSA_METHOD_GET) {
		/* To that SA the identity is less than to others. */
		kept->read_method = IBSA_METHOD_GET_TABLE;
		take_step(kept);
	} else if (reply->err || reply->status) {
		failed(kept, reply->err, reply->status);
	} else if (find(kept, reply, &service)) {
		present(kept, &service);
	} else {
		dispute(kept, IBSA_KEPT_REPLACED, &service);
	}
}

/*
 * If the port's GID is another now, the service is another too. Nobody needs
 * the answer to the Delete of the old one: it may come too late to matter.
 */
static void follow_gid(struct ibsa_kept *kept)
{
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &kept->record,
		.mask = identity,
		.method = IBSA_METHOD_DELETE,
	};
	struct ibsa_gid *gid = &kept->record.service_gid;
	struct ibsa_port_state port;

	if (ibsa__engine_port(engine_of(kept), false, &port) ||
	    !memcmp(gid, &port.gid, sizeof(*gid)))
		return;
	if (kept->is_out &&
	    ibsa__engine_query(engine_of(kept), &query, NULL, NULL, NULL))
		return;
	*gid = port.gid;
	kept->standing = STANDING_NEW;
	kept->step = STEP_SET;
	kept->is_out = false;
	kept->disputes = 0;
}

static void on_alarm(struct ibsa__alarm *alarm)
{
	struct ibsa_kept *kept = list_object(alarm, struct ibsa_kept, alarm);

	if (kept->releasing) {
		begin_delete(kept);
		return;
	}
	if (kept->follows_gid)
		follow_gid(kept);
	take_step(kept);
}

void ibsa__kept_start(struct ibsa_kept *kept)
{
	ibsa__alarm_init(&kept->alarm, on_alarm);
	kept->read_method = IBSA_METHOD_GET;
	plan(kept, STEP_SET, 0);
}

void ibsa__kept_hurry(struct ibsa_kept *kept)
{
	if (kept->releasing || (kept->step == STEP_SET && kept->disputes))
		return;
	kept->soon = true;
	kept->failures = 0;
	if (!kept->query_id)
		plan(kept, kept->step, UINT_MAX);
}

void ibsa__kept_release(struct ibsa_kept *kept)
{
	struct ibsa__engine *engine = engine_of(kept);

	kept->releasing = true;
	if (!kept->query_id)
		ibsa__alarm_set(engine, &kept->alarm, 0);
	else if (kept->step == STEP_READ ||
		 (kept->step == STEP_SET && kept->keeper->closing))
		ibsa__engine_cancel(engine, kept->query_id);
}

int ibsa_service_release(struct ibsa_kept *kept)
{
	if (kept->releasing)
		return -EALREADY;
	ibsa__kept_release(kept);
	return 0;
}

const char *ibsa_kept_text(int event)
{
	switch (event) {
	case IBSA_KEPT_REGISTERED:
		return "registered";
	case IBSA_KEPT_LOST:
		return "lost";
	case IBSA_KEPT_REPLACED:
		return "replaced";
	case IBSA_KEPT_FAILED:
		return "failed";
	case IBSA_KEPT_REFUSED:
		return "refused";
	case IBSA_KEPT_RELEASED:
		return "released";
	default:
		return NULL;
	}
}
