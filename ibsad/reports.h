/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports of the SA for many programs. Only one program can receive the Reports
 * at a port: this is ibsad. It replies to the clients' Sets of InformInfo
 * itself, and passes each Report to the clients whose subscriptions match.
 */
#ifndef IBSAD_REPORTS_H
#define IBSAD_REPORTS_H

#include <ibsa/event.h>

#include "base/list.h"
#include "ibsad/port.h"

struct client_file;
struct daemon;

enum {
	/* A client that is more Reports behind misses some; see
	 * REPORT_QUEUE_BYTES. */
	REPORTS_RING = 1024,
};

struct report;

/*
 * The Reports of a port.
 * @kinds:    kinds of events of the watch, which exists while a client
 *            subscribes or @is_wanted is set
 * @is_set:   the SA has the subscriptions that the watch needs
 * @was_lost: the next GAP of the watch was counted in @gaps already
 * @gaps:     number of times that all clients may have missed Reports
 * @count:    number of Reports; @ring has the last REPORTS_RING of them
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
 * The part of a client's umad file that receives Reports.
 * @seat:  number of the client; see struct serve_port
 * @agent: the agent that has registered for Reports, if @has_agent is set
 * @next:  number of the next Report of the ring for this client
 * @gaps:  number of times that only this client may have missed Reports
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
 * From now on, receive the events that change replies of the SA, even if no
 * client subscribes. ibsad_reports_are_set(): whether the SA reports all of
 * these events.
 */
void ibsad_reports_want(struct ibsad_reports *reports);
bool ibsad_reports_are_set(const struct ibsad_reports *reports);

void ibsad_reader_init(struct report_reader *reader,
		       struct ibsad_reports *reports, struct client_file *file,
		       uint32_t seat);

/* Forget the agent and the subscriptions. */
void ibsad_reader_reset(struct report_reader *reader);

/*
 * Handle a client's Set of InformInfo. @packet has a whole MAD. Return: NULL;
 * or why the Set is denied.
 */
const char *ibsad_reader_set(struct report_reader *reader,
			     const uint8_t *packet);

/*
 * Reply to Sets whose wait is over, and queue the Reports for which the client
 * has room. ibsad_reader_due_ns() returns the time of the next call;
 * UINT64_MAX: none is needed.
 */
void ibsad_reader_settle(struct report_reader *reader);
uint64_t ibsad_reader_due_ns(const struct report_reader *reader);

/* Return: how often the client with the number @seat may have missed Reports.
 */
uint32_t ibsad_reports_gaps(const struct ibsad_reports *reports, uint32_t seat);

/* Return: the number of subscriptions of all clients or, if @user is not NULL,
 * of those of one user. */
uint32_t ibsad_reports_count(const struct ibsad_reports *reports,
			     const uid_t *user);

#endif
