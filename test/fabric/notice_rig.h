/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of subscriptions and Reports. */
#ifndef FABRIC_NOTICE_RIG_H
#define FABRIC_NOTICE_RIG_H

#include "../interface/everything.h"
#include "support.h"

/* The first transaction ID of a Report. */
#define RIG_FIRST_ID UINT64_C(0x102dab001)

/* Topology of these tests. LIDs: a 1, the switches 4 and 5, b 2, c 3. */
extern const char rig_fabric[];

/*
 * A multicast group, and the component mask of a request to leave a group or of
 * a join to an existing one.
 */
extern const struct ibsa_gid rig_group;
extern const uint64_t rig_membership;

/* A received Report. */
struct report {
	struct ibsa_sa_header header;
	struct ibsa_notice notice;
};

/* Set up a test: the client at b has subscribed to all events, and listens. */
int rig_start(void **state);

/* Open another client of the same fabric, at @node. */
struct bench rig_beside(const struct bench *bench, const char *node);
void rig_close(struct bench *bench);

/* Send a Set of InformInfo. Return: the status of the reply; -1: no reply. */
int rig_inform(struct bench *bench, const struct ibsa_inform_info *info);

int rig_listen(struct ibsa_transport *transport, bool on);

void rig_set_capabilities(struct bench *bench, uint32_t mask);
void rig_advance(struct bench *bench, uint64_t ms);

/* Join or leave, depending on @method. */
void rig_change_member(struct bench *bench, uint8_t method,
		       const struct ibsa_gid *mgid, uint16_t pkey,
		       uint8_t join_state);

/* Return: the GID of the port with this LID, from its NodeRecord. */
struct ibsa_gid rig_gid_at(struct bench *bench, uint16_t lid);

/* Receive a Report. Return: whether one came; any other MAD fails the test. */
bool rig_take(struct bench *bench, struct report *out);

/* Answer the Report that was received last. */
void rig_respond(struct bench *bench);

/*
 * Receive and answer the next Report. Return: its trap number; 0: there is
 * none.
 */
unsigned int rig_next_trap(struct bench *bench);

/* Check that the next Report is about this trap and this GID. */
void rig_expect_gid(struct bench *bench, unsigned int trap,
		    const struct ibsa_gid *gid);

#endif
