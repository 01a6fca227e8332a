/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of the kernel's calls from several threads. */
#ifndef IB_SA_TALLY_H
#define IB_SA_TALLY_H

#include <stdatomic.h>

#include "test/ib_sa/rig.h"

enum { LONG_MS = 60000 };

/* Counters for callbacks in any thread. */
struct tally {
	atomic_int calls;
	atomic_int good;
	atomic_int interrupted;
};

void tally_note(struct tally *tally, int status);

/* A callback whose context is a tally. */
void tally_path(int status, struct sa_path_rec *resp, void *context);

void tally_await(const atomic_int *count, int wanted);

/* A device on the real clock, with a worker. */
void rig_start_worker(struct rig *rig);

#endif
