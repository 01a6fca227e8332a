/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watches for events, for callers in any thread. The dispatcher of the device
 * watches, by the functions of <ibsa/event.h>.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "event/event.h"
#include "ib_sa/query.h"

struct sa_watch {
	struct sa_task task;
	struct ibsa_event_watch *watch; /* used by the dispatcher */
	struct ibsa_event_options options;
	struct ibsa_gid *gids; /* target of @options.gids */
	ibsa_event_fn report;
	void *arg;
};

static void watch_free(struct sa_task *task)
{
	struct sa_watch *watch = list_object(task, struct sa_watch, task);

	ibsa__free(watch->gids);
	ibsa__free(watch);
}

/*
 * Call the program's callback for an event. The callback does not get the
 * handle of <ibsa/event.h>, which only the dispatcher may use.
 */
static void watch_report(const struct ibsa_event *event, void *arg)
{
	struct sa_watch *watch = arg;
	const bool is_last = event->kind == IBSA_EVENT_ENDED;
	struct ibsa_event theirs = *event;

	theirs.watch = NULL;
	ibsa__sa_task_enter(&watch->task, is_last);
	watch->report(&theirs, watch->arg);
	ibsa__sa_task_leave(&watch->task, is_last);
}

static void watch_report_end(struct sa_watch *watch, int err)
{
	watch_report(
		&(struct ibsa_event){
			.kind = IBSA_EVENT_ENDED,
			.err = err,
			.port_num = watch->task.port->number,
		},
		watch);
}

static void watch_run_start(struct sa_task *task)
{
	struct sa_watch *watch = list_object(task, struct sa_watch, task);
	int err = -ECANCELED;

	if (!ibsa__sa_task_is_over(&watch->task))
		err = ibsa_event_watch_start(watch->task.port->client,
					     &watch->options, watch_report,
					     watch, NULL, &watch->watch);
	if (err)
		watch_report_end(watch, err);
}

/* Dispatcher: end a watch. The library ends the subscription at the SA. */
static void watch_run_end(struct sa_job *job)
{
	struct sa_watch *watch = list_object(job, struct sa_watch, task.end);

	ibsa_event_watch_stop(watch->watch);
	watch_report_end(watch, 0);
}

static int watch_copy_options(const struct ib_device *device,
			      const struct ibsa_event_options *options,
			      struct sa_watch *out)
{
	out->options = *options;
	if (!options->audit_ms)
		out->options.audit_ms = device->options.audit_ms;
	if (!options->gid_count)
		return 0;
	out->gids = ibsa__calloc(options->gid_count, sizeof(*out->gids));
	if (!out->gids)
		return -ENOMEM;
	memcpy(out->gids, options->gids,
	       options->gid_count * sizeof(*out->gids));
	out->options.gids = out->gids;
	return 0;
}

static const struct sa_task_ops watch_ops = {
	.start = watch_run_start,
	.end = watch_run_end,
	.free = watch_free,
	.is_registration = true,
};

int ibsa_device_watch_start_sized(struct ib_sa_client *client,
				  struct ib_device *device, uint8_t port_num,
				  const struct ibsa_event_options *options,
				  size_t size, ibsa_event_fn report, void *arg,
				  struct ibsa_device_watch **out)
{
	struct ibsa_event_options known;
	struct sa_watch *watch;
	struct sa_port *port;
	int err = ibsa__sa_query_port(client, device, port_num, &port);

	if (!err)
		err = ibsa__sized_read(&known, sizeof(known), options, size);
	if (!err && (!report || !ibsa__event_options_are_valid(&known)))
		err = -EINVAL;
	if (err)
		return err;
	watch = ibsa__calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->report = report;
	watch->arg = arg;
	err = watch_copy_options(device, &known, watch);
	pthread_mutex_lock(&device->sa->lock);
	if (!err)
		err = ibsa__sa_task_submit(&watch->task, &watch_ops, port,
					   client);
	if (err)
		watch_free(&watch->task);
	else if (out)
		*out = (struct ibsa_device_watch *)watch->task.ticket;
	pthread_mutex_unlock(&device->sa->lock);
	return err;
}

void ibsa_device_watch_stop(struct ibsa_device_watch *watch)
{
	ibsa__sa_task_end(-1, (uintptr_t)watch);
}
