/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles Reports of the SA: answers and checks them, and delivers them to the
 * watches, except repeated ones.
 */
#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "event/state.h"
#include "wire/mad.h"

enum {
	NOTICE_BYTES = 80,
	/* Offset of the LID in the DataDetails of most traps. */
	DETAILS_LID_AT = 2,
	DETAILS_GID_AT = 6,
	HISTORY = 256,
	/*
	 * Milliseconds during which a Report with equal content may be a
	 * repetition: if the response is lost, the SA sends the Report again.
	 * By default, OpenSM sends a Report up to four times, 200 ms apart.
	 */
	AGAIN_MS = 10 * 1000,
	/*
	 * Maximum time in ms between two copies of a Report: an SA sends two if
	 * it has a second, outdated subscription of this port.
	 */
	TWICE_MS = 1000,
};

/* The most recent Reports. A new Report overwrites the oldest. */
struct ibsa__history {
	struct report reports[HISTORY];
	size_t count; /* of all Reports since the start */
};

struct ibsa__history *ibsa__history_new(void)
{
	return ibsa__calloc(1, sizeof(struct ibsa__history));
}

void ibsa__history_forget(struct ibsa__history *history)
{
	history->count = 0;
}

/*
 * Whether events of @kind are about a GID: a port or multicast group is created
 * or deleted. Each of these kinds has an opposite: created and deleted.
 */
static bool kind_has_gid(enum ibsa_event_kind kind)
{
	return kind & IBSA_EVENT_OF_SM;
}

static bool kind_is_same_family(int a, int b)
{
	const int gid = IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT;

	return (a & gid) ? (b & gid) != 0 : (b & IBSA_EVENT_OF_SM & ~gid) != 0;
}

static bool report_is_same_gid(const struct report *a, const struct report *b)
{
	return !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

/*
 * Whether @report repeats @old. Equal TransactionIDs are not enough: after a
 * restart, an SM may use the same numbers again.
 */
static bool report_is_repeated(const struct report *old,
			       const struct report *report)
{
	return old->transaction_id == report->transaction_id &&
	       old->source_lid == report->source_lid &&
	       old->kind == report->kind && old->trap == report->trap &&
	       old->lid == report->lid && report_is_same_gid(old, report) &&
	       report->now_ns - old->now_ns < AGAIN_MS * NS_PER_MS;
}

/*
 * Whether @report is a repetition of an earlier one. For a GID, @report is also
 * compared with the latest Report about this GID: if it is of the same kind and
 * comes within TWICE_MS, it is a repetition, but a port that leaves, joins and
 * leaves again causes new events. For links and nodes, each new MAD is a new
 * event.
 */
static bool history_has(const struct ibsa__history *history,
			const struct report *report)
{
	const size_t count = history->count < HISTORY ? history->count
						      : HISTORY;
	/* The history has a later Report about the same GID. */
	bool later = false;

	for (size_t i = 1; i <= count; i++) {
		const struct report *old =
			&history->reports[(history->count - i) % HISTORY];

		if (report_is_repeated(old, report))
			return true;
		if (later || !kind_has_gid(report->kind) ||
		    !kind_is_same_family(report->kind, old->kind) ||
		    !report_is_same_gid(old, report))
			continue;
		if (old->kind == report->kind &&
		    report->now_ns - old->now_ns < TWICE_MS * NS_PER_MS)
			return true;
		later = true;
	}
	return false;
}

static void history_add(struct ibsa__history *history,
			const struct report *report)
{
	struct report *at = &history->reports[history->count++ % HISTORY];

	*at = *report;
	at->notice = NULL;
}

/*
 * Check a received Report. Return: the status for its response; 0 if the
 * Report is valid.
 */
static uint16_t report_status(const struct ibsa_message *message,
			      const struct ibsa_sa_header *header)
{
	if (header->class_version != IBSA_CLASS_VERSION)
		return IBSA_STATUS_BAD_VERSION;
	if (header->attribute_id != ibsa_notice_record.attribute)
		return IBSA_STATUS_BAD_METHOD_ATTRIBUTE;
	if (message->len < IBSA_SA_HEADER_BYTES + NOTICE_BYTES)
		return IBSA_STATUS_BAD_VALUE;
	return 0;
}

/*
 * Send the response to a Report: the same MAD with method ReportResp. If the
 * ReportResp is lost, the SA repeats the Report.
 */
static void report_resp_send(struct ibsa__events *events,
			     const struct ibsa_message *message,
			     uint16_t status)
{
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	memcpy(mad, message->mad,
	       message->len < sizeof(mad) ? message->len : sizeof(mad));
	mad[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	ibsa_put_be16(mad + MAD_STATUS, status);
	(void)!ibsa__engine_send(events->engine, &message->from, mad,
				 sizeof(mad));
}

static int notice_kind(const struct ibsa_notice *notice)
{
	if (!notice->is_generic)
		return IBSA_EVENT_OTHER;
	switch (notice->trap_number) {
#define KIND(name, bit, trap, producers, text) \
	case trap:                             \
		return IBSA_EVENT_##name;
		/*
		 * The row of the kind OTHER has trap number 0, which no trap
		 * uses.
		 */
		IBSA_EVENT_KINDS(KIND)
#undef KIND
	default:
		return IBSA_EVENT_OTHER;
	}
}

/*
 * Return: the LID in the DataDetails of a trap; 0 if they contain no LID.
 * Source: IBA vol 1, 14.2.5.1.
 */
static uint32_t notice_lid(const struct ibsa_notice *notice)
{
	if (!notice->is_generic)
		return 0;
	switch (notice->trap_number) {
	case 128:
		return ibsa_be16(notice->data_details);
	case 129:
	case 130:
	case 131:
	case 144:
	case 145:
	case 256:
	case 257:
	case 258:
	case 259:
		return ibsa_be16(notice->data_details + DETAILS_LID_AT);
	default:
		return 0;
	}
}

void ibsa__events_report(struct ibsa__listener *listener,
			 const struct ibsa_message *message, bool is_sa)
{
	struct ibsa__events *events = list_object(listener, struct ibsa__events,
						  listener);
	struct report report = {
		.now_ns = ibsa__engine_now_ns(events->engine),
		.source_lid = message->from.lid,
	};
	struct ibsa_sa_header header;
	struct ibsa_notice notice;
	uint16_t status;

	ibsa_sa_header_record.decode(message->mad, &header);
	status = report_status(message, &header);
	report_resp_send(events, message, status);
	if (status || !is_sa || events->registrations.closing)
		return;
	ibsa_notice_record.decode(message->mad + IBSA_SA_HEADER_BYTES, &notice);
	report.transaction_id = header.transaction_id;
	report.trap = notice.trap_number;
	report.kind = notice_kind(&notice);
	report.lid = notice_lid(&notice);
	report.notice = &notice;
	if (kind_has_gid(report.kind))
		memcpy(&report.gid, notice.data_details + DETAILS_GID_AT,
		       sizeof(report.gid));
	if (history_has(events->history, &report))
		return;
	history_add(events->history, &report);
	report.was_audited = ibsa__node_audit_report(events, &report);
	ibsa__events_deliver(events, &report);
}
