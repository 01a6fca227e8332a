/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa service register --renew: registers a service, renews it while the
 * command runs, and removes it at the end.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include <ibsa/reach.h>
#include <ibsa/service.h>

#include "base/clock.h"
#include "output/fields.h"
#include "session/query_wait.h"
#include "session/waiter.h"
#include "service/service.h"

/**
 * struct renewal - the service of this command
 * @cli:            the command
 * @registration:   of the service; NULL: it ended
 * @was_registered: the SA has accepted the service at least once
 * @is_ending:      the registration is being released
 * @status:         exit status
 */
struct renewal {
	struct cli *cli;
	struct ibsa_registration *registration;
	bool was_registered;
	bool is_ending;
	int status;
};

/*
 * An event of the registration in the form in which it is printed. @reason may
 * be NULL.
 */
struct event_line {
	const struct ibsa_registration_report *report;
	const char *name;
	const char *reason;
};

static const char second_signal_text[] =
	"ended before the SA confirmed that the service is removed; it may "
	"stay registered until its lease ends; see ibsa service unregister";

static const char *report_failure(const struct ibsa_registration_report *report)
{
	switch (report->err) {
	case 0:
		return "the SA is busy";
	case -ETIMEDOUT:
		return "the SA does not answer";
	case -EAGAIN:
		return "no subnet manager has configured the port, or the port "
		       "has no GID";
	case -ENETDOWN:
		return ibsa_reason_text(IBSA_REASON_THIS_PORT_DOWN);
	case -ENOENT:
		return "the SA accepted the service but does not have it";
	default:
		return strerror(-report->err);
	}
}

/*
 * Whether the SA has no such service any more. The status NO_RECORDS means
 * that it did not have the record.
 */
static bool report_is_removed(const struct ibsa_registration_report *report)
{
	return report->err == 0 && (report->status == 0 ||
				    report->status == IBSA_STATUS_NO_RECORDS);
}

static const char *report_reason(const struct ibsa_registration_report *report)
{
	switch (report->event) {
	case IBSA_REGISTRATION_REPLACED:
		return "another client registered this record instead";
	case IBSA_REGISTRATION_FAILED:
		return report_failure(report);
	case IBSA_REGISTRATION_REFUSED:
		return ibsa_status_text(report->status);
	case IBSA_REGISTRATION_RELEASED:
		if (report->err)
			return report_failure(report);
		return report->status ? ibsa_status_text(report->status) : NULL;
	default:
		return NULL;
	}
}

static const char *report_name(const struct renewal *renewal,
			       const struct ibsa_registration_report *report)
{
	if (report->event == IBSA_REGISTRATION_REGISTERED &&
	    renewal->was_registered)
		return "registered again";
	if (report->event == IBSA_REGISTRATION_RELEASED)
		return report_is_removed(report) ? "removed" : "not removed";
	return ibsa_registration_event_name(report->event);
}

static void event_line_row(struct out *out, size_t index, void *arg)
{
	const struct event_line *line = arg;
	const struct ibsa_registration_report *report = line->report;
	const struct ibsa_record *record = &ibsa_service_record;
	char event[32];
	char now[UTC_TEXT];

	(void)index;
	out_text(out, "time", utc_text(time(NULL), now));
	/*
	 * Pad the event to the width of the longest one, so that lines align.
	 */
	if (out_is_brief(out))
		snprintf(event, sizeof(event), "%-16s", line->name);
	else
		snprintf(event, sizeof(event), "%s", line->name);
	out_text(out, "event", event);
	if (!out_is_data(out)) {
		service_cells(out, report->service);
		if (line->reason)
			out_text(out, "reason", line->reason);
		return;
	}
	out_text_or_none(out, "reason", line->reason);
	out_hex16(out, "status", report->status);
	for (unsigned int i = 0; i < record->field_count; i++)
		fields_field(out, &record->fields[i], report->service);
}

/*
 * Release the registration. The function may be called from a callback of the
 * client.
 */
static void renewal_release(struct renewal *renewal)
{
	if (renewal->is_ending)
		return;
	renewal->is_ending = true;
	(void)ibsa_service_release(renewal->registration);
}

/*
 * The SA has refused the service. If the SA has never accepted the service, the
 * refusal ends the command, because a retry would get the same answer.
 * Otherwise the command continues.
 */
static void renewal_refused(struct renewal *renewal,
			    const struct ibsa_registration_report *report)
{
	const bool is_redirection = redirection_explain(renewal->cli,
							report->status);

	if (renewal->was_registered || renewal->is_ending)
		return;
	if (!is_redirection)
		refusal_explain(&ibsa_service_record, report->status);
	renewal->status = CLI_REFUSED;
	renewal_release(renewal);
}

static void renewal_released(struct renewal *renewal,
			     const struct ibsa_registration_report *report,
			     const char *reason)
{
	renewal->registration = NULL;
	if (report_is_removed(report) || renewal->status != CLI_DONE)
		return;
	complain("cannot remove the service: %s; it may stay registered until "
		 "its lease ends; see ibsa service unregister",
		 reason);
	renewal->status = report->err ? CLI_SILENT : CLI_REFUSED;
}

/*
 * Whether the end of the registration is not to be printed: the SA has never
 * accepted the service, so that none was removed.
 */
static bool
is_end_without_service(const struct renewal *renewal,
		       const struct ibsa_registration_report *report)
{
	return report->event == IBSA_REGISTRATION_RELEASED &&
	       !renewal->was_registered && renewal->status == CLI_REFUSED;
}

static void renewal_reported(const struct ibsa_registration_report *report,
			     void *arg)
{
	struct renewal *renewal = arg;
	struct event_line line = {
		.report = report,
		.name = report_name(renewal, report),
		.reason = report_reason(report),
	};

	if (!is_end_without_service(renewal, report))
		out_event(&renewal->cli->out, event_line_row, &line);
	if (report->event == IBSA_REGISTRATION_REGISTERED)
		renewal->was_registered = true;
	else if (report->event == IBSA_REGISTRATION_REFUSED)
		renewal_refused(renewal, report);
	else if (report->event == IBSA_REGISTRATION_RELEASED)
		renewal_released(renewal, report, line.reason);
}

/*
 * Dispatch until the registration has ended: it is released after a signal, or
 * after the reader of the output has closed it. -ENODEV does not end the loop:
 * the client reopens a device that comes back.
 */
static void renewal_wait(struct renewal *renewal, struct interrupt *interrupt)
{
	const struct out *out = &renewal->cli->out;
	struct waiter waiter;
	bool is_gone = false;

	waiter_start(&waiter, renewal->cli, interrupt);
	while (renewal->registration) {
		const bool was_gone = is_gone;
		int err;

		if (interrupt_seen(interrupt) || !out_is_read(out))
			renewal_release(renewal);
		err = waiter_wait(&waiter, -1);
		is_gone = err == -ENODEV;
		if (is_gone && !was_gone)
			complain("the device or fabric server is gone; when it "
				 "is back, the service is registered again");
		if (waiter_failed(err)) {
			renewal->status = CLI_SILENT;
			break;
		}
	}
	waiter_stop(&waiter, interrupt);
}

static int register_failed(int err)
{
	complain("cannot register the service: %s",
		 err == -EINVAL ? "service_gid is zero; use a GID of this "
				  "port, or omit service_gid"
				: strerror(-err));
	return err == -EINVAL ? CLI_USAGE : CLI_SILENT;
}

static int renewal_run(struct renewal *renewal, const struct service *service,
		       struct interrupt *interrupt)
{
	const struct ibsa_service_options options = {
		.service = &service->record,
		.mask = service->mask,
	};
	int err = ibsa_service_register(renewal->cli->client, &options,
					renewal_reported, renewal,
					&renewal->registration);

	if (err)
		return register_failed(err);
	service_local_warn(renewal->cli);
	renewal_wait(renewal, interrupt);
	return renewal->status;
}

/*
 * Close the client before @renewal is freed: closing reports the last event,
 * which uses @renewal.
 */
static void renewal_end(struct renewal *renewal)
{
	if (!renewal->registration)
		return;
	(void)ibsa_close(renewal->cli->client);
	renewal->cli->client = NULL;
}

int service_renew(struct cli *cli)
{
	struct renewal renewal = { .cli = cli, .status = CLI_DONE };
	struct service service = { .mask = 0 };
	struct interrupt interrupt;
	int status = service_parse(cli, &service);

	if (status != CLI_DONE)
		return status;
	/*
	 * SIGPIPE is ignored, because the service must be removed before a
	 * closed output ends the command.
	 */
	signal(SIGPIPE, SIG_IGN);
	/* Before interrupt_start(), a signal ends the command at once. */
	status = client_open(cli);
	if (status == CLI_DONE)
		status = interrupt_start(&interrupt, second_signal_text);
	if (status != CLI_DONE)
		return status;
	status = renewal_run(&renewal, &service, &interrupt);
	renewal_end(&renewal);
	interrupt_stop(&interrupt);
	return status;
}
