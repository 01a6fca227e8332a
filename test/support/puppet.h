/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport that the test controls: the test reads each MAD that is sent,
 * delivers MADs, and moves the clock.
 */
#ifndef TEST_PUPPET_H
#define TEST_PUPPET_H

#include <ibsa/ibsa.h>

#include "engine/engine.h"

enum {
	PUPPET_SENT = 64,
	PUPPET_INBOX = 600,
	PUPPET_BYTES = 1024,
	PUPPET_SM_LID = 7
};

struct puppet_mad {
	uint8_t mad[PUPPET_BYTES];
	size_t len;
	struct ibsa_address address;
	uint64_t at_ns;
	unsigned int timeout_ms;
	int err;
};

struct puppet {
	struct ibsa_transport transport;
	uint64_t now_ns;
	struct ibsa_port_state port;
	bool port_changed; /* return value of changed, once */
	int port_err;	   /* return value of port */
	unsigned int port_reads;
	int send_err; /* return value of send */
	/*
	 * Value of @sent_count from which on send fails with -EBUSY; 0: no
	 * limit.
	 */
	unsigned int send_limit;
	/* The send operation refuses a transaction id that was sent before. */
	bool holds_ids;
	bool holds;   /* return value of holds */
	int recv_err; /* return value of recv when empty */
	bool listening;
	int listen_err;		 /* return value of listen */
	unsigned int sent_count; /* all; the last PUPPET_SENT are stored */
	struct puppet_mad sent[PUPPET_SENT];
	struct puppet_mad inbox[PUPPET_INBOX];
	unsigned int inbox_head, inbox_count;
};

/* The reply that a callback received. */
struct seen {
	const struct ibsa_record *record;
	int calls;
	int err;
	uint16_t status;
	unsigned int tries;
	size_t count;
	size_t stride;
	uint64_t rtt_ns;
	uint64_t id;
	uint16_t redirect_lid; /* 0: no redirection, or by GID */
	unsigned int redirects;
};

void puppet_init(struct puppet *puppet);

/*
 * Set up a test; its state is a puppet transport. The macro needs <cmocka.h>.
 */
int puppet_setup(void **state);

#define PUPPET_TEST(name, puppet)                                          \
	cmocka_unit_test_prestate_setup_teardown(name, puppet_setup, NULL, \
						 puppet)

/*
 * Create an engine on the puppet transport. With puppet_options: no jitter,
 * deadline 10 s, intervals of 100 ms doubling to 800 ms.
 */
struct ibsa__engine *puppet_engine(struct puppet *puppet,
				   const struct ibsa__engine_options *options);
extern const struct ibsa__engine_options puppet_options;

/* Create an engine with puppet_options and a window of one request. */
struct ibsa__engine *puppet_engine_of_one(struct puppet *puppet);

/* Return: the @n-th MAD that was sent, counted from 0. */
const struct puppet_mad *puppet_sent(const struct puppet *puppet,
				     unsigned int n);

/*
 * Return: a successful response to a MAD that was sent, which the test may
 * change before it delivers it.
 */
struct puppet_mad puppet_answer(const struct puppet_mad *request);
void puppet_deliver(struct puppet *puppet, const struct puppet_mad *answer);

/* Move the clock and dispatch. */
void puppet_advance(struct puppet *puppet, struct ibsa__engine *engine,
		    unsigned int ms);

/*
 * Query a path to @dlid by Get; the callback fills @seen, but seen->id is set
 * when this function returns.
 */
int puppet_query(struct ibsa__engine *engine, uint16_t dlid, struct seen *seen);
void puppet_note(const struct ibsa_reply *reply, void *arg);

#endif
