/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Services that stay, from any thread: the dispatcher keeps them by
 * <ibsa/service.h>.
 */
#include <endian.h>
#include <errno.h>

#include "base/alloc.h"
#include "ib_sa/lasting.h"
#include "ib_sa/query.h"

struct sa_kept {
	struct sa_lasting lasting;
	struct ibsa_registration *registration; /* the dispatcher's */
	struct ibsa_service service;
	uint64_t mask;
	ibsa_registration_fn report;
	void *arg;
};

/* The handle in a report would be the dispatcher's. */
static void tell(struct sa_kept *kept,
		 const struct ibsa_registration_report *report)
{
	const bool is_last = report->event == IBSA_REGISTRATION_RELEASED;
	struct ibsa_registration_report theirs = *report;

	theirs.registration = NULL;
	ibsa__sa_lasting_enter(&kept->lasting);
	if (kept->report)
		kept->report(&theirs, kept->arg);
	ibsa__sa_lasting_leave(&kept->lasting, is_last);
	if (is_last)
		ibsa__free(kept);
}

static void note_report(const struct ibsa_registration_report *report,
			void *arg)
{
	tell(arg, report);
}

static int keep(struct sa_kept *kept)
{
	const struct sa_port *port = kept->lasting.port;
	const struct ibsa_service_registration options = {
		.service = &kept->service,
		.mask = kept->mask,
		.audit_ms = port->device->options.audit_ms,
	};

	if (ibsa__sa_lasting_is_over(&kept->lasting))
		return -ECANCELED;
	return ibsa_service_register(port->client, &options, note_report, kept,
				     &kept->registration);
}

static void run_start(struct sa_job *job)
{
	struct sa_kept *kept = list_object(job, struct sa_kept, lasting.start);
	int err = keep(kept);

	if (err)
		tell(kept, &(struct ibsa_registration_report){
				   .event = IBSA_REGISTRATION_RELEASED,
				   .err = err,
				   .service = &kept->service,
			   });
}

static void run_release(struct sa_job *job)
{
	struct sa_kept *kept = list_object(job, struct sa_kept,
					   lasting.release);

	(void)ibsa_service_release(kept->registration);
}

static struct sa_kept *kept_new(const struct ib_sa_service_rec *rec,
				ib_sa_comp_mask comp_mask,
				ibsa_registration_fn report, void *arg)
{
	struct sa_kept *kept = ibsa__calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	ibsa__sa_lasting_init(&kept->lasting, run_start, run_release);
	ibsa_service_record.decode((const uint8_t *)rec, &kept->service);
	kept->mask = be64toh(comp_mask);
	kept->report = report;
	kept->arg = arg;
	return kept;
}

static bool is_record(const struct ib_sa_service_rec *rec,
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
	struct sa_kept *kept;
	struct sa_port *port;
	int err = ibsa__sa_query_port(client, device, port_num, &port);

	if (!err && !is_record(rec, comp_mask))
		err = -EINVAL;
	if (err)
		return err;
	kept = kept_new(rec, comp_mask, report, arg);
	if (!kept)
		return -ENOMEM;
	pthread_mutex_lock(&device->sa->lock);
	err = ibsa__sa_lasting_submit(&kept->lasting, port, client);
	if (!err)
		*out = (struct ibsa_rec_registration *)kept->lasting.ticket;
	pthread_mutex_unlock(&device->sa->lock);
	if (err)
		ibsa__free(kept);
	return err;
}

void ibsa_service_rec_release(struct ibsa_rec_registration *kept)
{
	ibsa__sa_lasting_release((uintptr_t)kept);
}
