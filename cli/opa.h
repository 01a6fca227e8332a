/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Omni-Path: support for OpaPathRecords, and LIDs of 32 bits. */
#ifndef CLI_OPA_H
#define CLI_OPA_H

#include "cli.h"

#define OPA_LID_UNICAST_MAX UINT32_C(0xbfffffff)

/*
 * Whether the SA of an Omni-Path port supports OpaPathRecords. Without an answer
 * the result is false and nothing is printed: the next query reports the silence.
 */
bool opa_has_paths(struct cli *cli);

/*
 * The GID that encodes a LID, with the prefix of @own; and back, 0 if the GID does
 * not encode a LID.
 */
struct ibsa_gid opa_gid_of_lid(const struct ibsa_gid *own, uint32_t lid);
uint32_t opa_lid_of_gid(const struct ibsa_gid *gid);

#endif
