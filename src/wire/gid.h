/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GIDs. */
#ifndef WIRE_GID_H
#define WIRE_GID_H

#include <string.h>

#include <ibsa/types.h>

static inline bool gid_is_zero(const struct ibsa_gid *gid)
{
	static const struct ibsa_gid zero;

	return !memcmp(gid, &zero, sizeof(zero));
}

#endif
