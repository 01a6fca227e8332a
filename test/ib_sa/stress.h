/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of the stress test share. Each query object exists until
 * the end of the test, so that a second or late callback is detected.
 */
#ifndef IB_SA_STRESS_H
#define IB_SA_STRESS_H

#include <semaphore.h>
#include <stdatomic.h>

#include <ibsa/ib_sa.h>
#include <ibsa/fabric.h>

#include "../support/random.h"

#define PREFIX 0xfe80000000000000

/*
 * What goes wrong: anything; flipped bits, after which a reply may contain
 * anything; moves of the SA, LIDs or links. Each counts its beginnings and
 * ends: while the counter is even and does not change, nothing of the kind
 * happens.
 */
enum sky { STORM, TAINT, MOVE, SKIES };

/*
 * Kinds of queries. The four kinds for a service follow one another: each is
 * started when the one before has ended.
 */
enum kind {
	PATH,
	PATH_TO_NOBODY,
	SERVICE_SET,
	SERVICE_GET,
	SERVICE_DELETE,
	SERVICE_GONE,
	BAD_METHOD,
};

/* Results that must occur in a run; otherwise the run has tested nothing. */
enum count {
	TOLD_0,
	TOLD_EINVAL,
	TOLD_ETIMEDOUT,
	TOLD_EINTR,
	TOLD_EINTR_UNSENT,
	TOLD_EIO,
	BUSY,
	REFUSED,
	/*
	 * JUDGED plus the kind of a query: the query was not disturbed, so only
	 * the result of its kind was right.
	 */
	JUDGED,
	AGAIN = JUDGED + BAD_METHOD,
	COUNTS,
};

/*
 * Reports and statuses of watches, registrations, memberships and their
 * queries; those that a run does not have, it has not tested.
 */
enum task_count {
	WATCH_EVENT,
	WATCH_BUSY,
	WATCH_ENDED,
	SERVICE_EVENT,
	SERVICE_EXISTS,
	SERVICE_RELEASED,
	JOINED,
	JOIN_FAILED,
	QUERY_ENDED,
	QUERY_CANCELLED,
	UNREGISTERED_IN_CALLBACK,
	TASK_COUNTS,
};

enum {
	HOSTS = 4,
	BOARD = 64, /* queries that any thread may cancel */
	/* Timeout in ms of a query that must be answered: a try each second. */
	LONG_MS = 11000,
	/* Bits of a port's LID that are the same in each LID that it gets. */
	SAME_LID = 0xff,
	LID_LIMIT = 0x8000, /* no LID from here on is assigned */
};

struct device {
	struct ib_device *ib;
	uint8_t port;
	atomic_bool calling; /* at most one callback at a time */
	atomic_bool closing; /* set before its ibsa_ib_device_put() */
};

struct query {
	struct rig *rig;
	struct device *device;
	struct ib_sa_client *client;
	enum kind kind;
	unsigned int sky[SKIES]; /* at the first query of a sequence */
	/*
	 * Id of the query's service, from which its other values are derived.
	 */
	uint64_t service;
	bool sure; /* the SA has confirmed the service's state */
	unsigned int from, to;
	uint16_t slid, dlid; /* of these hosts, at that time */
	unsigned int timeout_ms;
	uint64_t chance; /* random state of its callback */
	uint64_t start_ns;
	struct ib_sa_query *query;
	atomic_int id; /* -1 until the call has returned */
	atomic_bool accepted;
	atomic_bool cancelled; /* set before the call that does it */
	atomic_int calls;
	int status; /* of the last callback */
};

struct rig {
	uint64_t seed;
	unsigned int wanted; /* minimum of queries to start */
	bool moves, stays;   /* what happens besides faults */
	bool tasks;	     /* the threads also run tasks_life() */
	struct ibsa_fabric *fabric;
	struct ibsa_fabric_port hosts[HOSTS];
	_Atomic uint16_t lids[HOSTS];
	struct device devices[2]; /* with a worker, and without */
	struct ib_sa_client clients[2];
	struct query *asks;
	unsigned int room;
	atomic_uint threads, taken, started;
	sem_t slots; /* for queries in flight */
	_Atomic(struct query *) board[BOARD];
	atomic_bool stop, still; /* the changes; the dispatcher */
	atomic_uint sky[SKIES];
	atomic_bool has_had_spells; /* enough of them */
	atomic_uint failures;
	atomic_uint counts[COUNTS];
	atomic_uint task_counts[TASK_COUNTS];
};

/* Print what was expected, with the seed. The test fails at its end. */
__attribute__((format(printf, 2, 3))) void
report_wrong(struct rig *rig, const char *format, ...);

/* Whether no further query is to be started. */
static inline bool run_is_over(struct rig *rig)
{
	return atomic_load(&rig->started) >= rig->wanted &&
	       atomic_load(&rig->has_had_spells);
}

uint64_t now_ns(void);
void nap_ms(unsigned int ms);

/* Open a device of the run's fabric that is not shared. */
int open_device(struct rig *rig, struct device *device, unsigned int host,
		bool no_thread);

/* A number below @limit, drawn from @chance. */
static inline unsigned int random_below(uint64_t *chance, unsigned int limit)
{
	return (unsigned int)(random_next(chance) >> 32) % limit;
}

/*
 * Start the query that follows @after, or any query if that is NULL, and
 * sometimes cancel it; @chance is the state of the random numbers. The query
 * takes over a slot from the caller. Return: the query; NULL: it was refused,
 * or the run has had enough queries.
 */
struct query *query_start(struct rig *rig, struct device *device,
			  struct ib_sa_client *client,
			  const struct query *after, uint64_t *chance);

/*
 * Register a client, start tasks of all kinds at a device, and end everything
 * in a random order: each task has one last callback.
 */
void tasks_life(struct rig *rig, uint64_t *chance);

#endif
