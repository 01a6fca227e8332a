/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client on an embedded fabric, and the reports of a batch. */
#ifndef TEST_REACH_SUPPORT_H
#define TEST_REACH_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/reach.h>
#include <ibsa/fabric.h>

enum {
	/*
	 * Number of hosts of the fabric that rig_start() creates, with one
	 * switch.
	 */
	HOSTS = 40,
	WINDOW = 4,
	DEADLINE_MS = 10000,
};

struct rig {
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;
	struct ibsa_gid gids[HOSTS];
};

/* The reports of a batch, filled by note(). */
struct seen {
	struct rig *rig;
	struct ibsa_reach_batch *batch;
	size_t count; /* of the batch */
	size_t told;
	size_t stop_after; /* stop after so many reports; 0: never */
	int stop_err;
	int why; /* of the batch's options */
	struct ibsa_reach_answer answers[HOSTS];
};

/* Set up a fabric with a virtual clock. @rig need not be initialised. */
void rig_start(struct rig *rig, const struct ibsa_options *options);
void rig_stop(struct rig *rig);

/*
 * Start a batch for the first @count hosts. Return: the result of
 * ibsa_reach_start().
 */
int rig_each(struct rig *rig, size_t count, struct seen *seen);

/* Advance the clock until all GIDs are reported. */
void rig_finish(struct seen *seen);

/*
 * Callback for ibsa_reach_start(). It fails the test if a GID is reported
 * twice.
 */
void note(const struct ibsa_reach_answer *answer, void *arg);

/* The number of GIDs with that result. */
size_t told_as(const struct seen *seen, enum ibsa_reach reach);

#endif
