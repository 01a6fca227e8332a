/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of changes in a running fabric. */
#ifndef FABRIC_CHANGE_RIG_H
#define FABRIC_CHANGE_RIG_H

#include "support.h"

#define MS UINT64_C(1000000)
#define S(name) IBSA_STATUS_##name

/*
 * Topology of these tests. LIDs: a 1, with the SA; the switches 4 and 5; b 2;
 * c 3. Node "alone" has no cable.
 */
extern const char change_fabric[];

/* Set up a test; its state is a client at node b. */
int change_start(void **state);

/* Number of NodeRecords; -1: no answer. */
int count_nodes(struct bench *bench);

/*
 * Return: the status of the SA's reply to a Get of the path between two LIDs.
 */
int query_path(struct bench *bench, uint16_t slid, uint16_t dlid);

/* Add a service or a subscription at the SA; count those that the SA has. */
void set_service(struct bench *bench);
size_t count_services(struct bench *bench);
void subscribe(struct bench *bench);
size_t count_subscriptions(struct bench *bench);

#endif
