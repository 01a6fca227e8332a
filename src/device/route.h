/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the system has a route between two GIDs of RoCE. */
#ifndef DEVICE_ROUTE_H
#define DEVICE_ROUTE_H

#include <ibsa/types.h>

/* @ifindex: of the interface that leads there; @is_routed: by a gateway. */
struct ibsa__route {
	uint32_t ifindex;
	bool is_routed;
};

/*
 * Look up the route that packets from one GID to another would take out of
 * an interface, in the caller's network name space. GIDs that hold an IPv4
 * address stand for that, all others are IPv6 addresses. Neighbours are not
 * asked for. 0; -EINVAL one is IPv4 and the other is not; -EPROTO the answer
 * is nonsense; or as ibsa__nl_query(), such as -ENETUNREACH no route.
 */
int ibsa__route_find(const struct ibsa_gid *source,
		     const struct ibsa_gid *destination, uint32_t ifindex,
		     struct ibsa__route *out) IBSA_MUST_USE;

/*
 * Whether a RoCE path can be taken, by the kernel's rules: 0; -EINVAL no
 * interface, one GID is IPv4 and the other is not, or the path leads over a
 * gateway while it is not of RoCE v2, which alone can; or as
 * ibsa__route_find().
 *
 * Source: Linux drivers/infiniband/core/addr.c, roce_resolve_route_from_path.
 */
int ibsa__route_check(const struct ibsa_gid *source,
		      const struct ibsa_gid *destination, uint32_t ifindex,
		      bool is_roce_v2) IBSA_MUST_USE;

#endif
