/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device of libibverbs', rxe0, the program "reporter" as its SA at rxe1, and
 * what makes the device's own events. Without the names of <ibsa/verbs.h>, so
 * that ibv_ and ibsa_ say whose function is meant.
 */
#ifndef TEST_VM_EVENTS_RIG_H
#define TEST_VM_EVENTS_RIG_H

#define IBSA_NO_VERBS_NAMES
#include <ibsa/verbs.h>

#include "reporter_rig.h"

/* What traps are about: a port's GID, fec0::77, and the group ff12::77. */
#define RIG_GID "fec00000000000000000000000000077"
#define RIG_GROUP "ff120000000000000000000000000077"

enum { RIG_LAST = 0x77, RIG_WAIT_MS = 20000 };

struct rig {
	struct ibv_context *context;
	struct ibsa_address sa;
	struct reporter reporter;
};

/*
 * A queue pair that sends to another, whose shared receive queue has a limit:
 * the send makes it an IBV_EVENT_SRQ_LIMIT_REACHED.
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

/* Set up a test, whose state is its rig; the context is the test's to close. */
int rig_setup(void **state);
int rig_teardown(void **state);

#define IN_A_RIG(test) \
	cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

/* The device once more, after its context was closed. */
void rig_reopen(struct rig *rig);

/* Attach, and register for all there is. */
void rig_subscribe(struct rig *rig, const struct ibsa_verbs_options *options);

/* Closed by ours or by libibverbs; the SA is told, as it was subscribed to. */
void rig_close_subscribed(struct rig *rig,
			  int (*close)(struct ibv_context *context));

/* Make an IBV_EVENT_GID_CHANGE of rxe0. */
void rig_change_gids(void);

/* Whether @fd is readable, or becomes so. */
bool rig_poll(int fd, int timeout_ms);

void pair_open(struct pair *pair, struct ibv_context *context);
void pair_reach_limit(struct pair *pair);
/* Waits, says libibverbs, for events of it that were read but not done with. */
void pair_close(struct pair *pair);

void drained_open(struct drained *drained, struct ibv_context *context);
/* Have it send nothing more: there is its event. */
void drained_stop_sending(struct drained *drained);
/* Waits as pair_close() does. */
void drained_close(struct drained *drained);

#endif
