/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device of libibverbs, rxe0, the program "reporter" as its SA at rxe1, and
 * means to cause the device's own events. The names of <ibsa/verbs.h> are not
 * defined, so that ibv_ and ibsa_ tell whose function is called.
 */
#ifndef TEST_VM_EVENTS_RIG_H
#define TEST_VM_EVENTS_RIG_H

#include <ibsa/verbs.h>

#include "reporter_rig.h"

/* The subject of traps: a port's GID, fec0::77, and the group ff12::77. */
#define RIG_GID "fec00000000000000000000000000077"
#define RIG_GROUP "ff120000000000000000000000000077"

enum { RIG_LAST = 0x77, RIG_WAIT_MS = 20000 };

struct rig {
	struct ibv_context *context;
	struct ibsa_address sa;
	struct reporter reporter;
};

/*
 * A queue pair that sends to another one, whose shared receive queue has a
 * limit: the send causes an IBV_EVENT_SRQ_LIMIT_REACHED.
 */
struct pair {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_srq *srq;
	struct ibv_qp *sender;
	struct ibv_qp *receiver;
	char buffer[256];
};

/* A queue pair whose own event is IBV_EVENT_SQ_DRAINED. */
struct drained {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

/* Set up a test, whose state is its rig; the test closes the context. */
int rig_setup(void **state);
int rig_teardown(void **state);

#define IN_A_RIG(test) \
	cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

/* Open the device again after its context was closed. */
void rig_reopen(struct rig *rig);

/* Attach, and register for all events. */
void rig_subscribe(struct rig *rig, const struct ibsa_verbs_options *options);

/* Close with our function or libibverbs'; the subscriptions end at the SA. */
void rig_close_subscribed(struct rig *rig,
			  int (*close)(struct ibv_context *context));

/* Cause an IBV_EVENT_GID_CHANGE of rxe0. */
void rig_change_gids(void);

/* Whether @fd is or becomes readable. */
bool rig_poll(int fd, int timeout_ms);

void pair_open(struct pair *pair, struct ibv_context *context);
void pair_reach_limit(struct pair *pair);
/* libibverbs waits here until all events that were read are acknowledged. */
void pair_close(struct pair *pair);

void drained_open(struct drained *drained, struct ibv_context *context);
/* Stop sending, which causes the event. */
void drained_stop_sending(struct drained *drained);
/* Waits as pair_close() does. */
void drained_close(struct drained *drained);

#endif
