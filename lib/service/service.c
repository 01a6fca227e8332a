/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One service registration, from its first Set to its Delete.
 *
 * The record is read before it is set again: the reply to a Set does not show
 * whether the SA had lost the record, and a Set may overwrite the record of
 * another program.
 */
#include <errno.h>

#include "base/alloc.h"
#include "service/state.h"
#include "wire/gid.h"

/*
 * Offset of the ServiceName in a ServiceRecord; the service's data follow the
 * name.
 */
enum { NAME_AT = 48 };

static const uint64_t identity = IBSA_SERVICE_CM(service_id) |
				 IBSA_SERVICE_CM(service_gid) |
				 IBSA_SERVICE_CM(service_pkey);

static struct ibsa_registration *service_of(struct ibsa__registration *schedule)
{
	return list_object(schedule, struct ibsa_registration, schedule);
}

static void service_report(struct ibsa_registration *registration,
			   enum ibsa_registration_event event, int err,
			   uint16_t status, const struct ibsa_service *service)
{
	const struct ibsa_registration_report report = {
		.registration = registration,
		.event = event,
		.err = err,
		.status = status,
		.service = service,
	};

	if (registration->report)
		registration->report(&report, registration->arg);
}

static int service_query(struct ibsa_registration *registration, uint8_t method,
			 uint64_t mask)
{
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &registration->record,
		.mask = mask,
		.method = method,
	};

	return ibsa__registration_query(&registration->schedule, &query);
}

static void service_failed(struct ibsa_registration *registration, int err,
			   uint16_t status)
{
	if (ibsa__registration_failed(&registration->schedule, err, status))
		service_report(registration,
			       registration->schedule.is_refused
				       ? IBSA_REGISTRATION_REFUSED
				       : IBSA_REGISTRATION_FAILED,
			       err, status, &registration->record);
}

static void service_lost(struct ibsa__registration *schedule)
{
	struct ibsa_registration *registration = service_of(schedule);

	service_report(registration, IBSA_REGISTRATION_LOST, 0, 0,
		       &registration->record);
}

static void service_released(struct ibsa__registration *schedule, int err,
			     uint16_t status)
{
	struct ibsa_registration *registration = service_of(schedule);

	ibsa__services_forget(list_object(schedule->all, struct ibsa__services,
					  registrations),
			      registration);
	service_report(registration, IBSA_REGISTRATION_RELEASED, err, status,
		       &registration->record);
	ibsa__free(registration);
}

/*
 * Find the registration's record among the SA's records with the same
 * identity. Lease and key are not compared: the lease may be the remaining
 * time, and the SA returns the key to trusted requests only. Return: whether
 * it was found; *@out is the record found, otherwise one of the SA's records.
 */
static bool service_record_find(const struct ibsa_registration *registration,
				const struct ibsa_reply *reply,
				struct ibsa_service *out)
{
	uint8_t own[SERVICE_BYTES];
	uint64_t over = 0;

	ibsa_service_record.encode(&registration->record, own, &over);
	for (size_t i = reply->count; i-- > 0;) {
		const uint8_t *other = ibsa_reply_at(reply, i);

		ibsa_service_record.decode(other, out);
		if (!memcmp(own + NAME_AT, other + NAME_AT,
			    SERVICE_BYTES - NAME_AT))
			return true;
	}
	return false;
}

static bool reply_is_empty(const struct ibsa_reply *reply)
{
	return !reply->err && (reply->status == IBSA_STATUS_NO_RECORDS ||
			       reply->status == IBSA_STATUS_REQ_INVALID_GID ||
			       (!reply->status && !reply->count));
}

/*
 * If the port's GID has changed, the identity of the service has changed with
 * it: delete the record with the old GID, without waiting for the reply.
 */
static void service_gid_update(struct ibsa_registration *registration)
{
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &registration->record,
		.mask = identity,
		.method = IBSA_METHOD_DELETE,
	};
	struct ibsa__registration *schedule = &registration->schedule;
	struct ibsa__engine *engine = schedule->all->engine;
	struct ibsa_gid *gid = &registration->record.service_gid;
	struct ibsa_port_state port;

	if (ibsa__engine_port(engine, false, &port) ||
	    !memcmp(gid, &port.gid, sizeof(*gid)))
		return;
	if (schedule->may_be_at_sa &&
	    ibsa__engine_query(engine, &query, NULL, NULL, NULL))
		return;
	*gid = port.gid;
	schedule->is_registered = false;
	schedule->is_troubled = false;
	schedule->may_be_at_sa = false;
	schedule->disputes = 0;
	schedule->step = IBSA__STEP_SET;
}

/*
 * Send the request of the registration's next step. After a change of the
 * port's GID, the next step is a Set.
 */
static int service_step_send(struct ibsa__registration *schedule)
{
	struct ibsa_registration *registration = service_of(schedule);

	if (registration->follows_gid)
		service_gid_update(registration);
	if (gid_is_zero(&registration->record.service_gid))
		return -EAGAIN;
	if (schedule->step == IBSA__STEP_SET)
		return service_query(registration, IBSA_METHOD_SET,
				     registration->mask);
	return service_query(registration, registration->read_method, identity);
}

static int service_delete(struct ibsa__registration *schedule)
{
	return service_query(service_of(schedule), IBSA_METHOD_DELETE,
			     identity);
}

static void service_set_done(struct ibsa_registration *registration,
			     const struct ibsa_reply *reply)
{
	struct ibsa_service service;

	ibsa_service_record.decode(reply->records, &service);
	registration->granted_s = service.service_lease ? service.service_lease
							: 1;
	ibsa__registration_set_done(&registration->schedule,
				    registration->granted_s);
}

static void service_present(struct ibsa_registration *registration,
			    struct ibsa_service *service)
{
	if (!ibsa__registration_present(&registration->schedule))
		return;
	service->service_lease = registration->granted_s;
	service_report(registration, IBSA_REGISTRATION_REGISTERED, 0, 0,
		       service);
}

static void service_read_done(struct ibsa_registration *registration,
			      const struct ibsa_reply *reply)
{
	struct ibsa__registration *schedule = &registration->schedule;
	struct ibsa_service service;

	if (reply_is_empty(reply)) {
		if (!ibsa__registration_absent(schedule))
			service_failed(registration, -ENOENT, 0);
	} else if (reply->status == IBSA_STATUS_TOO_MANY_RECORDS &&
		   registration->read_method == IBSA_METHOD_GET) {
		/*
		 * The SA has several records with this identity, which Get
		 * cannot return: read with GetTable from now on.
		 */
		registration->read_method = IBSA_METHOD_GET_TABLE;
		ibsa__registration_step(schedule, IBSA__STEP_READ);
	} else if (reply->err || reply->status) {
		service_failed(registration, reply->err, reply->status);
	} else if (service_record_find(registration, reply, &service)) {
		service_present(registration, &service);
	} else {
		ibsa__registration_dispute(schedule);
		service_report(registration, IBSA_REGISTRATION_REPLACED, 0, 0,
			       &service);
	}
}

static void service_answered(struct ibsa__registration *schedule,
			     const struct ibsa_reply *reply)
{
	struct ibsa_registration *registration = service_of(schedule);

	if (schedule->step == IBSA__STEP_READ)
		service_read_done(registration, reply);
	else if (reply->err || reply->status)
		service_failed(registration, reply->err, reply->status);
	else
		service_set_done(registration, reply);
}

void ibsa__service_start(struct ibsa_registration *registration,
			 struct ibsa__registrations *registrations,
			 const struct ibsa_service_options *options)
{
	static const struct ibsa__registration_ops ops = {
		.set = service_step_send,
		.read = service_step_send,
		.delete = service_delete,
		.answered = service_answered,
		.lost = service_lost,
		.released = service_released,
	};
	struct ibsa__registration *schedule = &registration->schedule;

	ibsa__registration_init(schedule, registrations, &ops);
	if (options->audit_ms)
		schedule->audit_ms = options->audit_ms;
	schedule->deadline_ms = options->deadline_ms;
	registration->read_method = IBSA_METHOD_GET;
	ibsa__registration_add(schedule);
	ibsa__registration_schedule(schedule, IBSA__STEP_SET, 0);
}

int ibsa_service_release(struct ibsa_registration *registration)
{
	if (!registration)
		return 0;
	if (!ibsa__engine_is_ours(registration->schedule.all->engine))
		return -EINVAL;
	if (registration->schedule.releasing)
		return -EALREADY;
	ibsa__registration_release(&registration->schedule);
	return 0;
}

const char *ibsa_registration_event_name(enum ibsa_registration_event event)
{
	static const char *const texts[] = {
		[IBSA_REGISTRATION_REGISTERED] = "registered",
		[IBSA_REGISTRATION_LOST] = "lost",
		[IBSA_REGISTRATION_REPLACED] = "replaced",
		[IBSA_REGISTRATION_FAILED] = "failed",
		[IBSA_REGISTRATION_REFUSED] = "refused",
		[IBSA_REGISTRATION_RELEASED] = "released",
	};

	if ((size_t)event >= sizeof(texts) / sizeof(texts[0]))
		return NULL;
	return texts[event];
}
