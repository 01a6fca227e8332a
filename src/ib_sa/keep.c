/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Services that stay, from any thread: the dispatcher keeps them by
 * <ibsa/service.h>.
 */
#include <endian.h>
#include <errno.h>

#include "base/alloc.h"
#include "ib_sa/keep.h"
#include "ib_sa/query.h"

struct sa_kept {
	struct list link; /* among all of the process */
	uintptr_t ticket; /* what the program has for a handle */
	struct sa_job start;
	struct sa_job release;
	struct ib_sa_client *client; /* NULL: it has unregistered meanwhile */
	struct sa_port *port;
	struct ibsa_kept *kept; /* the dispatcher's */
	struct ibsa_service service;
	uint64_t mask;
	ibsa_keep_fn report;
	void *arg;
	bool is_released;
};

/* The one of a ticket, if its final report has not been given. Locked. */
static struct sa_kept *find(const struct ibsa__sa *sa, uintptr_t ticket)
{
	for (struct list *at = sa->kept.next; at != &sa->kept; at = at->next) {
		struct sa_kept *kept = list_object(at, struct sa_kept, link);

		if (kept->ticket == ticket)
			return kept;
	}
	return NULL;
}

/* The final report has been given. Locked. */
static void unlink_kept(struct sa_kept *kept)
{
	list_remove(&kept->link);
	ibsa__sa_withdraw(kept->port->device, &kept->release);
	if (kept->client)
		kept->client->users--;
}

/* To the program, by the handle that it knows. */
static void tell(struct sa_kept *kept, const struct ibsa_kept_report *report)
{
	struct ib_device *device = kept->port->device;
	const bool is_last = report->event == IBSA_KEPT_RELEASED;
	struct ibsa_kept_report theirs = *report;

	theirs.kept = NULL;
	pthread_mutex_lock(&device->sa->lock);
	ibsa__sa_callback_enter(device);
	pthread_mutex_unlock(&device->sa->lock);
	if (kept->report)
		kept->report(&theirs, kept->arg);
	pthread_mutex_lock(&device->sa->lock);
	if (is_last)
		unlink_kept(kept);
	ibsa__sa_callback_leave(device);
	pthread_mutex_unlock(&device->sa->lock);
	if (is_last)
		ibsa__free(kept);
}

static void note_report(const struct ibsa_kept_report *report, void *arg)
{
	tell(arg, report);
}

/* Whether it was released, or its device closed, before it began. */
static bool is_over(const struct sa_kept *kept)
{
	struct ib_device *device = kept->port->device;
	bool over;

	pthread_mutex_lock(&device->sa->lock);
	over = kept->is_released || device->closing;
	pthread_mutex_unlock(&device->sa->lock);
	return over;
}

static int keep(struct sa_kept *kept)
{
	struct ib_device *device = kept->port->device;
	const struct ibsa_service_keep options = {
		.service = &kept->service,
		.mask = kept->mask,
		.audit_ms = device->options.audit_ms,
	};

	if (is_over(kept))
		return -ECANCELED;
	return ibsa_service_keep(kept->port->client, &options, note_report,
				 kept, &kept->kept);
}

static void run_start(struct sa_job *job)
{
	struct sa_kept *kept = list_object(job, struct sa_kept, start);
	int err = keep(kept);

	if (err)
		tell(kept, &(struct ibsa_kept_report){
				   .event = IBSA_KEPT_RELEASED,
				   .err = err,
				   .service = &kept->service,
			   });
}

/* Runs after the start, and the final report has not come. */
static void run_release(struct sa_job *job)
{
	struct sa_kept *kept = list_object(job, struct sa_kept, release);

	(void)ibsa_service_release(kept->kept);
}

/* Locked. */
static void release(struct sa_kept *kept)
{
	if (kept->is_released)
		return;
	kept->is_released = true;
	ibsa__sa_submit(kept->port->device, &kept->release);
}

static struct sa_kept *kept_new(const struct ib_sa_service_rec *rec,
				ib_sa_comp_mask comp_mask, ibsa_keep_fn report,
				void *arg)
{
	struct sa_kept *kept = ibsa__calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	list_init(&kept->start.link);
	list_init(&kept->release.link);
	kept->start.run = run_start;
	kept->release.run = run_release;
	ibsa_service_record.decode((const uint8_t *)rec, &kept->service);
	kept->mask = be64toh(comp_mask);
	kept->report = report;
	kept->arg = arg;
	return kept;
}

/* Locked. */
static int submit(struct sa_port *port, struct ib_sa_client *client,
		  struct sa_kept *kept)
{
	struct ib_device *device = port->device;

	if (device->closing)
		return -ENODEV;
	kept->ticket = ibsa__sa_ticket(device->sa);
	kept->port = port;
	kept->client = client;
	client->users++;
	list_append(&device->sa->kept, &kept->link);
	ibsa__sa_submit(device, &kept->start);
	return 0;
}

static bool is_record(const struct ib_sa_service_rec *rec,
		      ib_sa_comp_mask comp_mask)
{
	const bool no_lease = comp_mask & IB_SA_SERVICE_REC_SERVICE_LEASE &&
			      !rec->lease;

	return !(be64toh(comp_mask) & ~ibsa_service_record.mask) && !no_lease;
}

int ibsa_service_rec_keep(struct ib_sa_client *client, struct ib_device *device,
			  uint8_t port_num, const struct ib_sa_service_rec *rec,
			  ib_sa_comp_mask comp_mask, ibsa_keep_fn report,
			  void *arg, struct ibsa_rec_kept **out)
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
	err = submit(port, client, kept);
	if (!err)
		*out = (struct ibsa_rec_kept *)kept->ticket;
	pthread_mutex_unlock(&device->sa->lock);
	if (err)
		ibsa__free(kept);
	return err;
}

void ibsa_service_rec_release(struct ibsa_rec_kept *ticket)
{
	struct ibsa__sa *sa = ibsa__sa_find();
	struct sa_kept *kept;

	if (!sa)
		return;
	pthread_mutex_lock(&sa->lock);
	kept = find(sa, (uintptr_t)ticket);
	if (kept)
		release(kept);
	pthread_mutex_unlock(&sa->lock);
	ibsa__sa_put(sa);
}

/* The next of a client's from @at on, or NULL. */
static struct sa_kept *next_of(const struct ibsa__sa *sa, const struct list *at,
			       const struct ib_sa_client *client)
{
	for (; at != &sa->kept; at = at->next) {
		struct sa_kept *kept = list_object(at, struct sa_kept, link);

		if (kept->client == client)
			return kept;
	}
	return NULL;
}

void ibsa__sa_keep_release(struct ibsa__sa *sa,
			   const struct ib_sa_client *client)
{
	struct sa_kept *kept = next_of(sa, sa->kept.next, client);

	for (; kept; kept = next_of(sa, kept->link.next, client))
		release(kept);
}

void ibsa__sa_keep_forget(struct ibsa__sa *sa,
			  const struct ib_sa_client *client)
{
	struct sa_kept *kept = next_of(sa, sa->kept.next, client);

	for (; kept; kept = next_of(sa, kept->link.next, client)) {
		release(kept);
		kept->client = NULL;
	}
}

struct ib_device *ibsa__sa_keep_take(const struct ibsa__sa *sa,
				     const struct ib_sa_client *client)
{
	struct sa_kept *kept = next_of(sa, sa->kept.next, client);

	for (; kept; kept = next_of(sa, kept->link.next, client)) {
		if (ibsa__sa_loop_take_idle(kept->port->device))
			return kept->port->device;
	}
	return NULL;
}
