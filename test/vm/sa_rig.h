/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tests of the kernel transport share: the program "reporter" as the SA at
 * rxe1, and clients at rxe0.
 */
#ifndef TEST_VM_SA_RIG_H
#define TEST_VM_SA_RIG_H

#include <ibsa/ibsa.h>

#include "test/vm/reporter_rig.h"

/* The subject of traps: fe80::77. */
#define SA_GID "fe800000000000000000000000000077"

struct sa {
	struct ibsa_address address;
	struct reporter reporter;
};

void sa_start(struct sa *sa);
void sa_stop(struct sa *sa);

/* Set up a test, whose state is its SA. */
int sa_setup(void **state);
int sa_teardown(void **state);

/*
 * Read lines of "reporter" until it writes @line; before that, no subscription
 * or service may end.
 */
void sa_await_still(struct sa *sa, const char *line);

/* Let it forget the stored service. */
void sa_forget(struct sa *sa);

/* The number of requests for services that "reporter" has received. */
unsigned int sa_asked(struct sa *sa);

/*
 * Open a client at rxe0 whose SA is "reporter"; @options are its other
 * options, or NULL.
 */
struct ibsa_client *sa_client(const struct sa *sa,
			      const struct ibsa_options *options);

/*
 * The ServiceID that "reporter" answers in this way; reporter.c lists the ways.
 */
uint64_t sa_service(char how, uint32_t number);

/* The result of a query. */
struct sa_seen {
	int calls;
	int err;
	uint16_t status;
	size_t count;
	unsigned int tries;
	bool in_order; /* by the leases of the records */
};

/* Query a service, by Get or GetTable. Return: as ibsa_query_start(). */
int sa_query_submit(struct ibsa_client *client, uint64_t service,
		    uint8_t method, unsigned int deadline_ms,
		    unsigned int interval_ms, struct sa_seen *seen);

/* Dispatch until the query has ended, for about ten seconds at most. */
void sa_wait(struct ibsa_client *client, const struct sa_seen *seen);

/* Query a service that is answered at once, and check the reply. */
void sa_assert_answers(struct ibsa_client *client);

/* Milliseconds of the monotonic clock. */
uint64_t sa_now_ms(void);

#endif
