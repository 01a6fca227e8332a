/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registrations of services, for callers in any thread: the dispatcher
 * registers them by <ibsa/service.h>.
 */
#include <endian.h>
#include <errno.h>

#include "base/alloc.h"
#include "ib_sa/subject.h"
#include "ib_sa/query.h"

struct sa_registration {
	struct sa_subject subject;
	struct ibsa_registration *handle; /* used by the dispatcher */
	struct ibsa_service service;
	uint64_t mask;
	ibsa_registration_fn report;
	void *arg;
};

/* The handle is not passed on, since only the dispatcher may use it. */
static void registration_report(struct sa_registration *registration,
				const struct ibsa_registration_report *report)
{
	const bool is_last = report->event == IBSA_REGISTRATION_RELEASED;
	struct ibsa_registration_report theirs = *report;

	theirs.registration = NULL;
	ibsa__sa_subject_enter(&registration->subject);
	if (registration->report)
		registration->report(&theirs, registration->arg);
	ibsa__sa_subject_leave(&registration->subject, is_last);
	if (is_last)
		ibsa__free(registration);
}

static void
registration_note_report(const struct ibsa_registration_report *report,
			 void *arg)
{
	registration_report(arg, report);
}

static int registration_begin(struct sa_registration *registration)
{
	const struct sa_port *port = registration->subject.port;
	const struct ibsa_service_registration options = {
		.service = &registration->service,
		.mask = registration->mask,
		.audit_ms = port->device->options.audit_ms,
	};

	if (ibsa__sa_subject_is_over(&registration->subject))
		return -ECANCELED;
	return ibsa_service_register(port->client, &options,
				     registration_note_report, registration,
				     &registration->handle);
}

static void registration_run_start(struct sa_job *job)
{
	struct sa_registration *registration =
		list_object(job, struct sa_registration, subject.start);
	int err = registration_begin(registration);

	if (err)
		registration_report(registration,
				    &(struct ibsa_registration_report){
					    .event = IBSA_REGISTRATION_RELEASED,
					    .err = err,
					    .service = &registration->service,
				    });
}

static void registration_run_release(struct sa_job *job)
{
	struct sa_registration *registration =
		list_object(job, struct sa_registration, subject.release);

	(void)ibsa_service_release(registration->handle);
}

static struct sa_registration *
registration_new(const struct ib_sa_service_rec *rec, ib_sa_comp_mask comp_mask,
		 ibsa_registration_fn report, void *arg)
{
	struct sa_registration *registration =
		ibsa__calloc(1, sizeof(*registration));

	if (!registration)
		return NULL;
	ibsa__sa_subject_init(&registration->subject, registration_run_start,
			      registration_run_release);
	ibsa_service_record.decode((const uint8_t *)rec,
				   &registration->service);
	registration->mask = be64toh(comp_mask);
	registration->report = report;
	registration->arg = arg;
	return registration;
}

static bool record_is_valid(const struct ib_sa_service_rec *rec,
			    ib_sa_comp_mask comp_mask)
{
	const bool no_lease = comp_mask & IB_SA_SERVICE_REC_SERVICE_LEASE &&
			      !rec->lease;

	return !(be64toh(comp_mask) & ~ibsa_service_record.mask) && !no_lease;
}

int ibsa_service_rec_register(struct ib_sa_client *client,
			      struct ib_device *device, uint8_t port_num,
			      const struct ib_sa_service_rec *rec,
			      ib_sa_comp_mask comp_mask,
			      ibsa_registration_fn report, void *arg,
			      struct ibsa_rec_registration **out)
{
	struct sa_registration *registration;
	struct sa_port *port;
	int err = ibsa__sa_query_port(client, device, port_num, &port);

	if (!err && !record_is_valid(rec, comp_mask))
		err = -EINVAL;
	if (err)
		return err;
	registration = registration_new(rec, comp_mask, report, arg);
	if (!registration)
		return -ENOMEM;
	pthread_mutex_lock(&device->sa->lock);
	err = ibsa__sa_subject_submit(&registration->subject, port, client);
	if (!err)
		*out = (struct ibsa_rec_registration *)
			       registration->subject.ticket;
	pthread_mutex_unlock(&device->sa->lock);
	if (err)
		ibsa__free(registration);
	return err;
}

void ibsa_service_rec_release(struct ibsa_rec_registration *registration)
{
	ibsa__sa_subject_release((uintptr_t)registration);
}
