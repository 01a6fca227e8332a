/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Omni-Path: detects whether the SA supports Omni-Path PathRecords, and
 * converts LIDs of 32 bits.
 */
#ifndef COMMAND_OPA_H
#define COMMAND_OPA_H

#include "output/cli.h"

#define OPA_LID_UNICAST_MAX UINT32_C(0xbfffffff)

/*
 * Whether the SA of an Omni-Path port supports Omni-Path PathRecords. If the
 * SA does not answer, the result is false and nothing is printed: the next
 * query reports the missing answer.
 */
bool opa_has_paths(struct cli *cli);

/*
 * opa_gid_of_lid() returns the GID that encodes a LID, with the prefix of @own.
 * opa_lid_of_gid() returns the LID that a GID encodes; 0 if it encodes none.
 */
struct ibsa_gid opa_gid_of_lid(const struct ibsa_gid *own, uint32_t lid);
uint32_t opa_lid_of_gid(const struct ibsa_gid *gid);

#endif
