/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries the kernel for the IP route between two RoCE GIDs.
 *
 * Source: rtnetlink(7).
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "device/nl.h"
#include "device/route.h"
#include "wire/gid.h"

/* The IP address that a GID stands for. */
struct address {
	const uint8_t *bytes;
	uint16_t len;
	uint8_t family;
};

struct lookup {
	bool is_found;
	/*
	 * Error of packets to the route's destinations: an IPv6 route may
	 * contain one, such as "unreachable"; 0 otherwise.
	 */
	int err;
	struct ibsa__route route;
};

static struct address gid_address(const struct ibsa_gid *gid)
{
	if (gid_is_ipv4(gid))
		return (struct address){ gid->raw + 12, 4, AF_INET };
	return (struct address){ gid->raw, 16, AF_INET6 };
}

static void route_on_reply(const struct ibsa__nl_reply *reply, void *arg)
{
	struct lookup *lookup = arg;
	struct ibsa__route *route = &lookup->route;
	struct rta_cacheinfo cache;
	const void *ifindex;
	const void *data;

	data = ibsa__nl_find(reply, RTA_CACHEINFO, sizeof(cache));
	if (data) {
		memcpy(&cache, data, sizeof(cache));
		lookup->err = (int)cache.rta_error;
	}
	ifindex = ibsa__nl_find(reply, RTA_OIF, sizeof(route->ifindex));
	if (!ifindex)
		return;
	memcpy(&route->ifindex, ifindex, sizeof(route->ifindex));
	/*
	 * RTA_VIA is the address of a gateway of the other address family
	 * (IPv6 for an IPv4 route).
	 */
	route->is_routed = ibsa__nl_find(reply, RTA_GATEWAY, 4) ||
			   ibsa__nl_find(reply, RTA_VIA, 4);
	lookup->is_found = true;
}

int ibsa__route_find(const struct ibsa_gid *source,
		     const struct ibsa_gid *destination, uint32_t ifindex,
		     struct ibsa__route *out)
{
	const struct address from = gid_address(source);
	const struct address to = gid_address(destination);
	const struct rtmsg head = {
		.rtm_family = to.family,
		.rtm_src_len = (unsigned char)(8 * from.len),
		.rtm_dst_len = (unsigned char)(8 * to.len),
	};
	const struct ibsa__nl_attr attrs[] = {
		{ RTA_SRC, from.len, from.bytes },
		{ RTA_DST, to.len, to.bytes },
		{ RTA_OIF, sizeof(ifindex), &ifindex },
	};
	struct lookup lookup = { 0 };
	const struct ibsa__nl_request request = {
		.protocol = NETLINK_ROUTE,
		.type = RTM_GETROUTE,
		.head = &head,
		.head_len = sizeof(head),
		.attrs = attrs,
		.attr_count = 3,
		.on_reply = route_on_reply,
		.arg = &lookup,
	};
	int err;

	if (from.family != to.family)
		return -EINVAL;
	err = ibsa__nl_query(&request);
	if (err)
		return err;
	if (lookup.err)
		return lookup.err;
	if (!lookup.is_found)
		return -EPROTO;
	*out = lookup.route;
	return 0;
}

int ibsa__route_check(const struct ibsa_gid *source,
		      const struct ibsa_gid *destination, uint32_t ifindex,
		      bool is_roce_v2)
{
	struct ibsa__route route;
	int err;

	if (!ifindex)
		return -EINVAL;
	err = ibsa__route_find(source, destination, ifindex, &route);
	if (err)
		return err;
	return route.is_routed && !is_roce_v2 ? -EINVAL : 0;
}
