/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports of the SA for many programs. A port has one receiver of Reports,
 * which is ibsad; it answers the Sets of InformInfo of its clients itself, and
 * passes each Report to those whose subscriptions match.
 */
#ifndef IBSAD_REPORTS_H
#define IBSAD_REPORTS_H

#include <ibsa/event.h>

#include "base/list.h"
#include "ibsad/port.h"

struct client_file;
struct daemon;

enum {
	/* Reports that a slow client may be behind; see REPORT_QUEUE_BYTES. */
	REPORTS_RING = 1024,
};

struct report;

/*
 * The Reports of a port.
 * @kinds:    of the watch, which exists while a client subscribes, or
 *            @is_wanted
 * @is_set:   the SA has what the watch needs
 * @was_lost: clients were told of a gap that the watch will report, too
 * @gaps:     how often all clients may have missed Reports
 * @count:    of Reports; the ring has the last REPORTS_RING of them
 * @retry_ns: time from which the watch may be started again; @refusal: why it
 *            could not be started
 */
struct ibsad_reports {
	struct daemon *daemon;
	uint32_t port;
	struct list readers;
	struct ibsa_event_watch *watch;
	unsigned int kinds;
	bool is_wanted;
	bool is_set;
	bool was_lost;
	uint32_t gaps;
	struct report *ring;
	uint64_t count;
	uint64_t retry_ns;
	unsigned int retry_ms;
	struct ibsa_error refusal;
};

/*
 * The part of a client file that receives Reports.
 * @seat:  of the client: see struct serve_port
 * @agent: that has registered for Reports, if @has_agent
 * @next:  number of the next Report of the ring
 * @gaps:  how often this client alone may have missed Reports
 */
struct report_reader {
	struct list link;
	struct ibsad_reports *reports; /* of its port */
	struct client_file *file;
	struct list subscriptions;
	uint32_t seat;
	uint32_t agent;
	bool has_agent;
	uint64_t next;
	uint32_t gaps;
};

void ibsad_reports_init(struct ibsad_reports *reports, struct daemon *daemon,
			uint32_t port);
void ibsad_reports_done(struct ibsad_reports *reports);

/*
 * Whether ibsad can receive Reports at the port. Return: 0; -EBUSY another
 * program receives them, see @reports->refusal; or another -errno.
 */
int ibsad_reports_check(struct ibsad_reports *reports) IBSA_MUST_USE;

/*
 * Receive the events that change answers of the SA, from now on, without a
 * client, too. ibsad_reports_are_set(): whether the SA reports all of them.
 */
void ibsad_reports_want(struct ibsad_reports *reports);
bool ibsad_reports_are_set(const struct ibsad_reports *reports);

void ibsad_reader_init(struct report_reader *reader,
		       struct ibsad_reports *reports, struct client_file *file,
		       uint32_t seat);

/* Forget the agent and the subscriptions. */
void ibsad_reader_reset(struct report_reader *reader);

/*
 * Handle a Set of InformInfo of the client, which has an agent for Reports, and
 * has a whole MAD. Return: NULL; or why it is denied.
 */
const char *ibsad_reader_set(struct report_reader *reader,
			     const uint8_t *packet);

/*
 * Answer the Sets that wait, and queue the Reports for which the client has
 * room. ibsad_reader_due_ns(): when to do it again; UINT64_MAX: never.
 */
void ibsad_reader_settle(struct report_reader *reader);
uint64_t ibsad_reader_due_ns(const struct report_reader *reader);

/* Return: how often the client of a seat may have missed Reports. */
uint32_t ibsad_reports_gaps(const struct ibsad_reports *reports, uint32_t seat);

/* Return: how many subscriptions clients have; @user: of one user, or NULL. */
uint32_t ibsad_reports_count(const struct ibsad_reports *reports,
			     const uid_t *user);

#endif
