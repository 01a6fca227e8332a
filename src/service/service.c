/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One service, from its first Set to its Delete.
 *
 * It is read before it is set again, for a Set cannot tell that the record
 * was gone, and would take another's place without a word.
 */
#include <errno.h>

#include "base/alloc.h"
#include "service/state.h"

enum { NAME_AT = 48 }; /* in the record, followed by the data */

static const uint64_t identity = IBSA_SERVICE_CM(service_id) |
				 IBSA_SERVICE_CM(service_gid) |
				 IBSA_SERVICE_CM(service_pkey);

static struct ibsa_registration *
kept_of(struct ibsa__registration *registration)
{
	return list_object(registration, struct ibsa_registration,
			   registration);
}

static struct ibsa__engine *engine_of(const struct ibsa_registration *kept)
{
	return kept->registration.all->engine;
}

/* The last act of an event. */
static void kept_report(struct ibsa_registration *kept,
			enum ibsa_registration_event event, int err,
			uint16_t status, const struct ibsa_service *service)
{
	const struct ibsa_registration_report report = {
		.registration = kept,
		.event = event,
		.err = err,
		.status = status,
		.service = service,
	};

	if (kept->report)
		kept->report(&report, kept->arg);
}

static int kept_ask(struct ibsa_registration *kept, uint8_t method,
		    uint64_t mask)
{
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &kept->record,
		.mask = mask,
		.method = method,
	};

	return ibsa__registration_query(&kept->registration, &query);
}

static void kept_failed(struct ibsa_registration *kept, int err,
			uint16_t status)
{
	const bool refused = is_refusal(err, status);

	if (ibsa__registration_failed(&kept->registration, err, status))
		kept_report(kept,
			    refused ? IBSA_REGISTRATION_REFUSED
				    : IBSA_REGISTRATION_FAILED,
			    err, status, &kept->record);
}

static void kept_lost(struct ibsa__registration *registration)
{
	struct ibsa_registration *kept = kept_of(registration);

	kept_report(kept, IBSA_REGISTRATION_LOST, 0, 0, &kept->record);
}

static void kept_released(struct ibsa__registration *registration, int err,
			  uint16_t status)
{
	struct ibsa_registration *kept = kept_of(registration);

	if (list_is_empty(&registration->all->list))
		ibsa__registrations_stop(registration->all);
	kept_report(kept, IBSA_REGISTRATION_RELEASED, err, status,
		    &kept->record);
	ibsa__free(kept);
}

/*
 * Look for the record in what the SA has under its identity; the lease may be
 * what is left of it, and the key is shown to few. Return: whether it is
 * there; *@out is it, or what is there instead.
 */
static bool kept_find(const struct ibsa_registration *kept,
		      const struct ibsa_reply *reply, struct ibsa_service *out)
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

/*
 * If the port's GID is another now, the service is another too. Nobody needs
 * the answer to the Delete of the old one: it may come too late to matter.
 */
static void kept_follow_gid(struct ibsa_registration *kept)
{
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &kept->record,
		.mask = identity,
		.method = IBSA_METHOD_DELETE,
	};
	struct ibsa__registration *registration = &kept->registration;
	struct ibsa_gid *gid = &kept->record.service_gid;
	struct ibsa_port_state port;

	if (ibsa__engine_port(engine_of(kept), false, &port) ||
	    !memcmp(gid, &port.gid, sizeof(*gid)))
		return;
	if (registration->is_out &&
	    ibsa__engine_query(engine_of(kept), &query, NULL, NULL, NULL))
		return;
	*gid = port.gid;
	registration->is_registered = false;
	registration->is_troubled = false;
	registration->is_out = false;
	registration->disputes = 0;
	registration->step = IBSA__STEP_SET;
}

/* Send the request of the next step, which is a Set if the GID has changed. */
static int kept_send(struct ibsa__registration *registration)
{
	static const struct ibsa_gid none;
	struct ibsa_registration *kept = kept_of(registration);

	if (kept->follows_gid)
		kept_follow_gid(kept);
	if (!memcmp(&kept->record.service_gid, &none, sizeof(none)))
		return -EAGAIN;
	if (registration->step == IBSA__STEP_SET)
		return kept_ask(kept, IBSA_METHOD_SET, kept->mask);
	return kept_ask(kept, kept->read_method, identity);
}

static int kept_delete(struct ibsa__registration *registration)
{
	return kept_ask(kept_of(registration), IBSA_METHOD_DELETE, identity);
}

static void kept_taken(struct ibsa_registration *kept,
		       const struct ibsa_reply *reply)
{
	struct ibsa_service service;

	ibsa_service_record.decode(reply->records, &service);
	kept->granted_s = service.service_lease ? service.service_lease : 1;
	ibsa__registration_taken(&kept->registration, kept->granted_s);
}

static void kept_present(struct ibsa_registration *kept,
			 struct ibsa_service *service)
{
	if (!ibsa__registration_present(&kept->registration))
		return;
	service->service_lease = kept->granted_s;
	kept_report(kept, IBSA_REGISTRATION_REGISTERED, 0, 0, service);
}

static void kept_read(struct ibsa_registration *kept,
		      const struct ibsa_reply *reply)
{
	struct ibsa__registration *registration = &kept->registration;
	struct ibsa_service service;

	if (is_none(reply)) {
		if (!ibsa__registration_absent(registration))
			kept_failed(kept, -ENOENT, 0);
	} else if (reply->status == IBSA_STATUS_TOO_MANY_RECORDS &&
		   kept->read_method == IBSA_METHOD_GET) {
		/* To that SA the identity is less than to others. */
		kept->read_method = IBSA_METHOD_GET_TABLE;
		ibsa__registration_step(registration, IBSA__STEP_READ);
	} else if (reply->err || reply->status) {
		kept_failed(kept, reply->err, reply->status);
	} else if (kept_find(kept, reply, &service)) {
		kept_present(kept, &service);
	} else {
		ibsa__registration_dispute(registration);
		kept_report(kept, IBSA_REGISTRATION_REPLACED, 0, 0, &service);
	}
}

static void kept_answered(struct ibsa__registration *registration,
			  const struct ibsa_reply *reply)
{
	struct ibsa_registration *kept = kept_of(registration);

	if (registration->step == IBSA__STEP_READ)
		kept_read(kept, reply);
	else if (reply->err || reply->status)
		kept_failed(kept, reply->err, reply->status);
	else
		kept_taken(kept, reply);
}

void ibsa__service_start(struct ibsa_registration *kept,
			 struct ibsa__registrations *registrations,
			 const struct ibsa_service_registration *keep)
{
	static const struct ibsa__registration_ops ops = {
		.set = kept_send,
		.read = kept_send,
		.delete = kept_delete,
		.answered = kept_answered,
		.lost = kept_lost,
		.released = kept_released,
	};
	struct ibsa__registration *registration = &kept->registration;

	ibsa__registration_init(registration, registrations, &ops);
	if (keep->audit_ms)
		registration->audit_ms = keep->audit_ms;
	registration->deadline_ms = keep->deadline_ms;
	kept->read_method = IBSA_METHOD_GET;
	ibsa__registration_add(registration);
	ibsa__registration_schedule(registration, IBSA__STEP_SET, 0);
}

int ibsa_service_release(struct ibsa_registration *kept)
{
	if (kept->registration.releasing)
		return -EALREADY;
	ibsa__registration_release(&kept->registration);
	return 0;
}

const char *ibsa_registration_text(int event)
{
	switch (event) {
	case IBSA_REGISTRATION_REGISTERED:
		return "registered";
	case IBSA_REGISTRATION_LOST:
		return "lost";
	case IBSA_REGISTRATION_REPLACED:
		return "replaced";
	case IBSA_REGISTRATION_FAILED:
		return "failed";
	case IBSA_REGISTRATION_REFUSED:
		return "refused";
	case IBSA_REGISTRATION_RELEASED:
		return "released";
	default:
		return NULL;
	}
}
