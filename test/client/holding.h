/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport that holds requests as the kernel does: a TransactionID is
 * rejected while an earlier request with it waits for its reply, a reply after
 * the timeout is dropped, and a timeout is reported with the header of the
 * request. Its SA takes some time for each PathRecord query. Its clock moves
 * only in wait().
 */
#ifndef TEST_HOLDING_H
#define TEST_HOLDING_H

#include <ibsa/transport.h>

enum { HOLDING_MAX = 4096 };

struct held {
	bool is_used;
	uint64_t until_ns;
	uint64_t answer_ns; /* UINT64_MAX: never */
	struct ibsa_address sa;
	uint8_t mad[256];
};

struct holding {
	struct ibsa_transport transport;
	uint64_t now_ns;
	uint64_t sa_ns;	      /* from a request to its reply */
	bool is_silent;	      /* the SA does not answer new requests */
	unsigned int sent;    /* requests sent */
	unsigned int refused; /* because the TransactionID was held */
	unsigned int most_held;
	struct held held[HOLDING_MAX];
	uint8_t arrived[256];
};

void holding_init(struct holding *holding, uint64_t sa_ns);

/* Return: the number of requests in flight. */
unsigned int holding_count(const struct holding *holding);

#endif
