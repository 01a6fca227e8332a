/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client on a fabric of its own, for tests with failing allocations. */
#ifndef TEST_MEMORY_RIG_H
#define TEST_MEMORY_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibsa/ibsa.h>
#include <ibsa/fabric.h>

#include "test/support/fail_alloc.h"

/* The clock is virtual, and random numbers have a fixed seed. */
struct memory_rig {
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;
};

/* @topology: a file. */
struct memory_rig memory_rig_open(const char *topology);

/* Close the client while allocations fail as before, then close the rest. */
void memory_rig_close(struct memory_rig *rig);

/* Let @ms pass, and dispatch in each millisecond. */
void memory_rig_pass(const struct memory_rig *rig, unsigned int ms);

#endif
