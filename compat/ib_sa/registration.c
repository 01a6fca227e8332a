/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Service registrations, for callers in any thread. The dispatcher of the
 * device registers the services, by the functions of <ibsa/service.h>.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "ib_sa/query.h"

struct sa_registration {
	struct sa_task task;
	struct ibsa_registration *handle; /* used by the dispatcher */
	struct ibsa_service service;
	uint64_t mask;
	ibsa_registration_fn report;
	void *arg;
};

/*
 * Call the program's callback for a registration. The callback does not get the
 * handle of <ibsa/service.h>, which only the dispatcher may use.
 */
static void registration_report(const struct ibsa_registration_report *report,
				void *arg)
{
	struct sa_registration *registration = arg;
	const bool is_last = report->event == IBSA_REGISTRATION_RELEASED;
	struct ibsa_registration_report theirs = *report;

	theirs.registration = NULL;
	ibsa__sa_task_enter(&registration->task, is_last);
	if (registration->report)
		registration->report(&theirs, registration->arg);
	ibsa__sa_task_leave(&registration->task, is_last);
}

static int registration_begin(struct sa_registration *registration)
{
	const struct sa_port *port = registration->task.port;
	const struct ibsa_service_options options = {
		.service = &registration->service,
		.mask = registration->mask,
		.audit_ms = port->device->options.audit_ms,
	};

	if (ibsa__sa_task_is_over(&registration->task))
		return -ECANCELED;
	return ibsa_service_register(port->client, &options,
				     registration_report, registration,
				     &registration->handle);
}

static void registration_run_start(struct sa_task *task)
{
	struct sa_registration *registration =
		list_object(task, struct sa_registration, task);
	int err = registration_begin(registration);

	if (err)
		registration_report(
			&(struct ibsa_registration_report){
				.event = IBSA_REGISTRATION_RELEASED,
				.err = err,
				.service = &registration->service,
			},
			registration);
}

static void registration_run_end(struct sa_job *job)
{
	struct sa_registration *registration =
		list_object(job, struct sa_registration, task.end);

	(void)ibsa_service_release(registration->handle);
}

static void registration_free(struct sa_task *task)
{
	ibsa__free(list_object(task, struct sa_registration, task));
}

static const struct sa_task_ops registration_ops = {
	.start = registration_run_start,
	.end = registration_run_end,
	.free = registration_free,
	.is_registration = true,
};

static bool record_is_valid(const struct ib_sa_service_rec *rec,
			    ib_sa_comp_mask comp_mask)
{
	static const union ib_gid zero;
	const bool no_lease = comp_mask & IB_SA_SERVICE_REC_SERVICE_LEASE &&
			      !rec->lease;
	const bool no_gid = comp_mask & IB_SA_SERVICE_REC_SERVICE_GID &&
			    !memcmp(&rec->gid, &zero, sizeof(zero));

	return !(be64toh(comp_mask) & ~ibsa_service_record.mask) && !no_lease &&
	       !no_gid;
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
	registration = ibsa__calloc(1, sizeof(*registration));
	if (!registration)
		return -ENOMEM;
	ibsa_service_record.decode((const uint8_t *)rec,
				   &registration->service);
	registration->mask = be64toh(comp_mask);
	registration->report = report;
	registration->arg = arg;
	pthread_mutex_lock(&device->sa->lock);
	err = ibsa__sa_task_submit(&registration->task, &registration_ops, port,
				   client);
	if (err)
		ibsa__free(registration);
	else if (out)
		*out = (struct ibsa_rec_registration *)
			       registration->task.ticket;
	pthread_mutex_unlock(&device->sa->lock);
	return err;
}

void ibsa_service_rec_release(struct ibsa_rec_registration *registration)
{
	ibsa__sa_task_end(-1, (uintptr_t)registration);
}
