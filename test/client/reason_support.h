/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric of the tests of reasons. */
#ifndef TEST_CLIENT_REASON_SUPPORT_H
#define TEST_CLIENT_REASON_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibsa/reach.h>
#include <ibsa/fabric.h>

enum { SM_KEY = 1 };

extern struct ibsa_fabric *fabric;
extern struct ibsa_client *clients[2]; /* without and with the SM_Key */

/*
 * Set up the fabric. The clients are at the host "a", whose port has to be a
 * member of the default partition, because requests to the SA use its P_Key.
 */
int reason_start(void **state);
int reason_stop(void **state);

struct ibsa_gid gid_of(uint64_t guid);
void set_link(const char *node, unsigned int port, bool up);

/* Number of requests that the SA has received. */
uint64_t requests(void);

#endif
