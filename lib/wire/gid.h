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

static inline bool gid_is_multicast(const struct ibsa_gid *gid)
{
	return gid->raw[0] == 0xff;
}

/* fe80::/10 */
static inline bool gid_is_link_local(const struct ibsa_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

/* Whether the last four bytes are an IPv4 address. */
static inline bool gid_is_ipv4(const struct ibsa_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

/* Return: the port GUID, which is the lower half. */
static inline uint64_t gid_guid(const struct ibsa_gid *gid)
{
	return ibsa_be64(gid->raw + 8);
}

#endif
