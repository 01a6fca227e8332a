/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks the reports of the workers against the log of changes. */
#include <inttypes.h>
#include <stdio.h>

#include "judge.h"

/*
 * Maximum time that a MAD is in flight while neither the server nor the worker
 * waits for a processor.
 */
#define IN_FLIGHT_MAX_NS UINT64_C(500000000)

static bool host_may_be_lost(const struct many_history *history, int host,
			     const struct many_report *report)
{
	return many_touches(history, THING_HOST + host, report) ||
	       many_touches(history, THING_LEAF + host / HOSTS_PER_LEAF,
			    report);
}

static bool host_is_lost(const struct many_history *history, int host,
			 const struct many_report *report)
{
	return many_covers(history, THING_HOST + host, report) ||
	       many_covers(history, THING_LEAF + host / HOSTS_PER_LEAF, report);
}

static void unexplained(struct many_verdict *verdict, const char *what,
			const struct many_report *report)
{
	fprintf(stderr,
		"unexplained: worker %u asked for %u, %" PRIu64 " to %" PRIu64
		" us, %" PRIu64
		" us without a processor, %u tries: %s, hosts 0x%" PRIx64 "\n",
		report->worker, report->target, report->start_ns / 1000,
		report->end_ns / 1000, report->stall_ns / 1000, report->tries,
		what, report->seen);
	verdict->unexplained++;
}

static uint64_t in_flight_max_ns(const struct many_report *report)
{
	return IN_FLIGHT_MAX_NS + report->stall_ns;
}

/*
 * The period in which the lost MADs were in flight. If only the first try was
 * lost, it ends when that try cannot have been in flight any more.
 */
static struct many_report loss_of(const struct many_report *report)
{
	struct many_report loss = *report;

	if (report->tries <= 2 && report->result != MANY_LOST &&
	    loss.end_ns > loss.start_ns + in_flight_max_ns(report))
		loss.end_ns = loss.start_ns + in_flight_max_ns(report);
	return loss;
}

/* Explain why one or more MADs of the query were lost. */
static void judge_loss(const struct many_history *history,
		       const struct many_report *report,
		       struct many_verdict *verdict)
{
	const struct many_report loss = loss_of(report);
	unsigned int lost = report->tries;

	if (report->result != MANY_LOST && lost)
		lost--;
	verdict->tries_lost += lost;
	if (host_may_be_lost(history, report->worker, &loss) ||
	    many_touches(history, THING_SM, &loss))
		return;
	if (in_flight_max_ns(report) >= INTERVAL_MS * UINT64_C(1000000))
		verdict->late += lost;
	else if (many_touches(history, THING_FAULTS, &loss))
		verdict->struck += lost;
	else
		unexplained(verdict, "lost", report);
}

/* Return: why a table contradicts the log of changes, or NULL. */
static const char *table_objection(const struct many_history *history,
				   const struct many_report *report)
{
	for (int host = 0; host < HOSTS; host++) {
		const bool is_seen = report->seen >> host & 1;

		if (is_seen && host_is_lost(history, host, report))
			return "a host that is lost is in the table";
		if (!is_seen && !host_may_be_lost(history, host, report))
			return "a host is not in the table";
	}
	return NULL;
}

static const char *answer_objection(const struct many_history *history,
				    const struct many_report *report)
{
	if (host_is_lost(history, report->worker, report))
		return "answered, but the requester's host is lost";
	if (many_covers(history, THING_SM, report))
		return "answered, but the SM is lost";
	if (report->target == HOSTS)
		return table_objection(history, report);
	if (host_is_lost(history, report->target, report))
		return "answered, but the target is lost";
	return NULL;
}

static const char *none_objection(const struct many_history *history,
				  const struct many_report *report)
{
	if (report->target == HOSTS)
		return "an empty table";
	if (host_may_be_lost(history, report->target, report) ||
	    host_may_be_lost(history, report->worker, report))
		return NULL;
	return "the SA reported that there is no such record";
}

/* Judge a wrong reply: only a fault that changes bits explains it. */
static void judge_wrong(const struct many_history *history,
			const struct many_report *report, const char *objection,
			struct many_verdict *verdict)
{
	if (many_touches(history, THING_FAULTS, report))
		verdict->corrupted++;
	else
		unexplained(verdict, objection, report);
}

void many_judge(const struct many_history *history,
		const struct many_report *report, struct many_verdict *verdict)
{
	const char *objection = "wrong in itself";

	if (report->result == MANY_LOST || report->tries > 1)
		judge_loss(history, report, verdict);
	switch (report->result) {
	case MANY_LOST:
		return;
	case MANY_ANSWERED:
		verdict->answered++;
		objection = answer_objection(history, report);
		break;
	case MANY_NONE:
		verdict->none++;
		objection = none_objection(history, report);
		break;
	default:
		break;
	}
	if (objection)
		judge_wrong(history, report, objection, verdict);
}
