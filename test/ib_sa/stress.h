/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the two files of the stress test share. Each query lives until the end
 * of the test, so that a callback that comes twice or too late is seen.
 */
#ifndef IB_SA_STRESS_H
#define IB_SA_STRESS_H

#include <semaphore.h>
#include <stdatomic.h>

#include <ibsa/ib_sa.h>
#include <ibsa/sim.h>

#include "../support/random.h"

/*
 * What goes wrong: anything; bits are flipped, so that an answer may say
 * anything; the SA, LIDs or links move. Each counts its beginnings and ends:
 * while it is even and stays, there is nothing of it.
 */
enum sky { STORM, TAINT, MOVE, SKIES };

/* The four of a service follow one another, each asked when the last ended. */
enum kind {
	PATH,
	PATH_TO_NOBODY,
	SERVICE_SET,
	SERVICE_GET,
	SERVICE_DELETE,
	SERVICE_GONE,
	BAD_METHOD,
};

/* What a run has to see, or it has tested nothing. */
enum count {
	TOLD_0,
	TOLD_EINVAL,
	TOLD_ETIMEDOUT,
	TOLD_EINTR,
	TOLD_EINTR_UNSENT,
	TOLD_EIO,
	BUSY,
	REFUSED,
	JUDGED, /* and a kind, to which no weather has lent an excuse */
	AGAIN = JUDGED + BAD_METHOD,
	COUNTS,
};

enum {
	HOSTS = 4,
	BOARD = 64,	    /* queries that any thread may cancel */
	LONG_MS = 60000,    /* a query with this timeout has to be answered */
	SAME_LID = 0xff,    /* bits of a port's LID that do not change */
	LID_LIMIT = 0x8000, /* from here on nobody has them */
};

struct device {
	struct ib_device *ib;
	uint8_t port;
	atomic_bool calling; /* one callback at a time */
	atomic_bool closing; /* from before its ibsa_device_put() */
};

struct query {
	struct rig *rig;
	struct device *device;
	struct ib_sa_client *client;
	enum kind kind;
	unsigned int sky[SKIES]; /* at the first of those that follow */
	uint64_t service;	 /* its id, from which the rest is made */
	bool sure; /* the SA has said that the service is as it should be */
	unsigned int from, to;
	uint16_t slid, dlid; /* of these hosts, then */
	unsigned int timeout_ms;
	uint64_t chance; /* what its callback draws from */
	uint64_t start_ns;
	struct ib_sa_query *query;
	atomic_int id; /* -1 until the call has returned */
	atomic_bool accepted;
	atomic_bool cancelled; /* from before the call that does it */
	atomic_int calls;
	int status; /* of the last of them */
};

struct rig {
	uint64_t seed;
	unsigned int wanted; /* so many queries are to be started */
	bool moves, stays;   /* what happens beside faults */
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
	atomic_bool stop, still; /* the weather; who dispatches */
	atomic_uint sky[SKIES];
	atomic_uint failures;
	atomic_uint counts[COUNTS];
};

/* Says what was expected, with the seed. The test fails at its end. */
__attribute__((format(printf, 2, 3))) void wrong(struct rig *rig,
						 const char *format, ...);

uint64_t now_ns(void);

/* Less than @limit, drawn from @chance. */
static inline unsigned int below(uint64_t *chance, unsigned int limit)
{
	return (unsigned int)(random_next(chance) >> 32) % limit;
}

/*
 * Asks for anything, or for what follows @after unless that is NULL, and
 * cancels if chance wants it. A slot, which the caller has taken, goes with
 * it. Return: the query; NULL: it was refused, or there were enough.
 */
struct query *query_start(struct rig *rig, struct device *device,
			  struct ib_sa_client *client,
			  const struct query *after, uint64_t *chance);

#endif
