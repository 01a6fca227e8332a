/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queries the kernel for the IP route between two RoCE GIDs. */
#ifndef DEVICE_ROUTE_H
#define DEVICE_ROUTE_H

#include <ibsa/types.h>

/*
 * A route. @ifindex: index of its network interface; @is_routed: the route
 * leads through a gateway.
 */
struct ibsa__route {
	uint32_t ifindex;
	bool is_routed;
};

/*
 * Find the route of packets from @source to @destination over an interface, in
 * the caller's network namespace. A GID that contains an IPv4 address stands
 * for this address; any other GID is an IPv6 address. The next hop's MAC
 * address is not resolved. Return: 0; -EINVAL one GID is IPv4 and the other is
 * not; -EPROTO the kernel's reply is invalid; or as ibsa__nl_query(), such as
 * -ENETUNREACH if there is no route.
 */
int ibsa__route_find(const struct ibsa_gid *source,
		     const struct ibsa_gid *destination, uint32_t ifindex,
		     struct ibsa__route *out) IBSA_MUST_USE;

/*
 * Check whether a RoCE path can be used, by the kernel's rules. Return: 0;
 * -EINVAL no interface, or one GID is IPv4 and the other is not, or the route
 * uses a gateway and the path is not RoCE v2; or as ibsa__route_find().
 *
 * Source: Linux drivers/infiniband/core/addr.c, roce_resolve_route_from_path.
 */
int ibsa__route_check(const struct ibsa_gid *source,
		      const struct ibsa_gid *destination, uint32_t ifindex,
		      bool is_roce_v2) IBSA_MUST_USE;

#endif
