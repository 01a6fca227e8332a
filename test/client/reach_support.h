/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client on an embedded fabric, and what it was told of a batch. */
#ifndef TEST_REACH_SUPPORT_H
#define TEST_REACH_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/reach.h>
#include <ibsa/sim.h>

enum {
	HOSTS = 40, /* of the fabric that rig_start() makes: one switch */
	WINDOW = 4,
	DEADLINE_MS = 10000,
};

struct rig {
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;
	struct ibsa_gid gids[HOSTS];
};

/* What was told of the GIDs of a batch; told by note(). */
struct seen {
	struct rig *rig;
	struct ibsa_reach_batch *batch;
	size_t count; /* of the batch */
	size_t told;
	size_t stop_after; /* stop when so many were told; 0: never */
	int stop_err;
	struct ibsa_reach_answer answers[HOSTS];
};

/* A virtual clock, and what is not said here is 0. */
void rig_start(struct rig *rig, const struct ibsa_options *options);
void rig_stop(struct rig *rig);

/* Start a batch for the first @count hosts. Return: of ibsa_reach_each(). */
int rig_each(struct rig *rig, size_t count, struct seen *seen);

/* Let time pass until all has been told. */
void rig_finish(struct seen *seen);

/* For ibsa_reach_each(): fails if a GID is told of twice. */
void note(const struct ibsa_reach_answer *answer, void *arg);

/* How many were told so. */
size_t told_as(const struct seen *seen, enum ibsa_reach reach);

#endif
