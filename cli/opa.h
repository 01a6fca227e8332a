/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Omni-Path: what its SA can be asked, and LIDs of 32 bits. */
#ifndef CLI_OPA_H
#define CLI_OPA_H

#include "cli.h"

#define OPA_LID_UNICAST_MAX UINT32_C(0xbfffffff)

/*
 * Whether the SA of a port of Omni-Path says that it answers for
 * OpaPathRecords. Silence is a no, and is not told: who asks it something
 * else will hear of it.
 */
bool opa_has_paths(struct cli *cli);

/* The GID that stands for a LID, with the prefix of @own; and back, 0 if a
 * GID stands for none. */
struct ibsa_gid opa_gid_of_lid(const struct ibsa_gid *own, uint32_t lid);
uint32_t opa_lid_of_gid(const struct ibsa_gid *gid);

#endif
