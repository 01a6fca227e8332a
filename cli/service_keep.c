/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa service keep: a service as long as the command runs, no longer. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include <ibsa/service.h>
#include <ibsa/text.h>

#include "query_wait.h"
#include "fields.h"
#include "interrupt.h"
#include "service.h"

/* The service and what has become of it. */
struct keeping {
	struct cli *cli;
	struct ibsa_registration *registration; /* NULL: released */
	bool was_there;				/* the SA has had it */
	bool ending;
	int status; /* exit status */
};

/* One event as it is shown. */
struct event {
	const struct ibsa_registration_report *report;
	const char *name;
	const char *reason; /* or NULL */
};

static const char second_signal_text[] =
	"ended before the SA said that the service is gone; it may stay "
	"registered until its lease ends, see ibsa service unregister";

enum { LOOK_MS = 1000 }; /* how soon it is seen that nobody reads */

static const char *failure(const struct ibsa_registration_report *report)
{
	switch (report->err) {
	case 0:
		return "the SA is busy";
	case -ETIMEDOUT:
		return "the SA does not answer";
	case -EAGAIN:
		return "the port knows no subnet manager or has no GID";
	case -ENOENT:
		return "the SA took it and does not have it";
	default:
		return strerror(-report->err);
	}
}

/* An SA that has no such record has nothing to remove. */
static bool is_gone(const struct ibsa_registration_report *report)
{
	return report->err == 0 && (report->status == 0 ||
				    report->status == IBSA_STATUS_NO_RECORDS);
}

static const char *reason(const struct ibsa_registration_report *report)
{
	switch (report->event) {
	case IBSA_REGISTRATION_REPLACED:
		return "somebody registered this instead";
	case IBSA_REGISTRATION_FAILED:
		return failure(report);
	case IBSA_REGISTRATION_REFUSED:
		return ibsa_status_text(report->status);
	case IBSA_REGISTRATION_RELEASED:
		if (report->err)
			return failure(report);
		return report->status ? ibsa_status_text(report->status) : NULL;
	default:
		return NULL;
	}
}

static const char *event_name(const struct keeping *keeping,
			      const struct ibsa_registration_report *report)
{
	if (report->event == IBSA_REGISTRATION_REGISTERED && keeping->was_there)
		return "registered again";
	if (report->event == IBSA_REGISTRATION_RELEASED)
		return is_gone(report) ? "removed" : "not removed";
	return ibsa_registration_text(report->event);
}

static void put_time(struct out *out)
{
	char text[32] = "";
	struct timespec now;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &utc))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	out_text(out, "time", text);
}

static void event_row(struct out *out, size_t index, void *arg)
{
	const struct event *event = arg;
	const struct ibsa_registration_report *report = event->report;
	const struct ibsa_record *record = &ibsa_service_record;

	(void)index;
	put_time(out);
	out_text(out, "event", event->name);
	if (out->shape == OUT_TABLE) {
		service_cells(out, report->service);
		if (event->reason)
			out_text(out, "reason", event->reason);
		return;
	}
	if (event->reason)
		out_text(out, "reason", event->reason);
	else
		out_none(out, "reason");
	out_number(out, "status", report->status, "");
	for (unsigned int i = 0; i < record->field_count; i++)
		fields_field(out, &record->fields[i], report->service);
}

/* From inside a callback too. */
static void release(struct keeping *keeping)
{
	if (keeping->ending)
		return;
	keeping->ending = true;
	(void)ibsa_service_release(keeping->registration);
}

/* Waiting for better times helps with silence, but not with a refusal. */
static void refused(struct keeping *keeping,
		    const struct ibsa_registration_report *report)
{
	const bool is_told = redirection_explain(keeping->cli, report->status);

	if (keeping->was_there || keeping->ending)
		return;
	if (!is_told)
		refusal_explain(&ibsa_service_record, report->status);
	keeping->status = CLI_REFUSED;
	release(keeping);
}

static void released(struct keeping *keeping,
		     const struct ibsa_registration_report *report,
		     const char *why)
{
	keeping->registration = NULL;
	if (is_gone(report) || keeping->status != CLI_DONE)
		return;
	complain("the service may stay registered until its lease ends: %s; "
		 "see ibsa service unregister",
		 why);
	keeping->status = report->err ? CLI_SILENT : CLI_REFUSED;
}

/* The end of what the SA never took is no event: nothing was to be removed. */
static bool is_idle_end(const struct keeping *keeping,
			const struct ibsa_registration_report *report)
{
	return report->event == IBSA_REGISTRATION_RELEASED &&
	       !keeping->was_there && keeping->status == CLI_REFUSED;
}

static void happened(const struct ibsa_registration_report *report, void *arg)
{
	struct keeping *keeping = arg;
	struct event event = {
		.report = report,
		.name = event_name(keeping, report),
		.reason = reason(report),
	};

	if (!is_idle_end(keeping, report))
		out_event(&keeping->cli->out, event_row, &event);
	if (report->event == IBSA_REGISTRATION_REGISTERED)
		keeping->was_there = true;
	else if (report->event == IBSA_REGISTRATION_REFUSED)
		refused(keeping, report);
	else if (report->event == IBSA_REGISTRATION_RELEASED)
		released(keeping, report, event.reason);
}

/*
 * Until a signal comes or nobody reads what is written, and it is removed. A
 * device that is gone may come back, which the client sees to.
 */
static void hold(struct keeping *keeping, const struct interrupt *interrupt)
{
	struct ibsa_client *client = keeping->cli->client;
	const struct out *out = &keeping->cli->out;

	while (keeping->registration) {
		int err;

		if (interrupt_seen(interrupt) || !out_is_read(out))
			release(keeping);
		err = ibsa_wait(client, LOOK_MS);
		if (err && err != -EINTR && err != -ENODEV) {
			complain("cannot receive from the SA: %s; check the "
				 "port with ibsa devices",
				 strerror(-err));
			keeping->status = CLI_SILENT;
			return;
		}
	}
}

static int not_kept(int err)
{
	complain("cannot keep this: %s", strerror(-err));
	return err == -EINVAL ? CLI_USAGE : CLI_SILENT;
}

static int keep(struct keeping *keeping, const struct service *service,
		const struct interrupt *interrupt)
{
	const struct ibsa_service_registration what = {
		.service = &service->record,
		.mask = service->mask,
	};
	int err = ibsa_service_register(keeping->cli->client, &what, happened,
					keeping, &keeping->registration);

	if (err)
		return not_kept(err);
	service_local_warn(keeping->cli);
	hold(keeping, interrupt);
	return keeping->status;
}

/* Its last event, if that is still to come, needs what is here. */
static void end(struct keeping *keeping)
{
	if (!keeping->registration)
		return;
	(void)ibsa_close(keeping->cli->client);
	keeping->cli->client = NULL;
}

int service_keep(struct cli *cli)
{
	struct keeping keeping = { .cli = cli, .status = CLI_DONE };
	struct service service = { .mask = 0 };
	struct interrupt interrupt;
	int status = service_parse(cli, &service);
	int err;

	if (status != CLI_DONE)
		return status;
	/* The service goes before a command whose output nobody reads. */
	signal(SIGPIPE, SIG_IGN);
	/* Up to here a signal ends the command at once. */
	status = client_open(cli);
	if (status != CLI_DONE)
		return status;
	err = interrupt_start(&interrupt, second_signal_text);
	if (err)
		return not_kept(err);
	interrupt_wakes(&interrupt, cli->client);
	status = keep(&keeping, &service, &interrupt);
	interrupt_wakes(&interrupt, NULL);
	end(&keeping);
	interrupt_stop(&interrupt);
	return status;
}
