/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Network interfaces and the GIDs that the kernel makes from their addresses.
 *
 * Source: Linux drivers/infiniband/core/roce_gid_mgmt.c; net/addrconf.h.
 */
#include <ifaddrs.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <string.h>

#include "device/interface.h"
#include "wire/gid.h"

/* The bit of a MAC address that is inverted in an IPv6 interface id. */
enum { LOCAL_BIT = 2 };

/* Whether a GID was made from an address of a network interface. */
enum gid_match { MATCH_UNKNOWN, MATCH_OTHER, MATCH_THIS };

static bool ipv4_is_in(const struct sockaddr *address,
		       const struct ibsa_gid *gid)
{
	const struct sockaddr_in *in = (const void *)address;

	return gid_is_ipv4(gid) &&
	       !memcmp(gid->raw + 12, &in->sin_addr, sizeof(in->sin_addr));
}

static bool address_is_in(const struct sockaddr *address,
			  const struct ibsa_gid *gid)
{
	const struct sockaddr_in6 *in6 = (const void *)address;

	if (!address)
		return false;
	if (address->sa_family == AF_INET)
		return ipv4_is_in(address, gid);
	return address->sa_family == AF_INET6 &&
	       !memcmp(&in6->sin6_addr, gid, sizeof(*gid));
}

/*
 * Whether a GID contains the hardware address @address: in its interface id
 * around two varying bytes, as in the default GIDs of RoCE; or at its start,
 * as in iWARP.
 */
static bool hardware_is_in(const uint8_t *address, const struct ibsa_gid *gid)
{
	const uint8_t *id = gid->raw + 8;

	return !memcmp(address, gid->raw, ETH_ALEN) ||
	       (!((id[0] ^ address[0]) & ~LOCAL_BIT) &&
		!memcmp(id + 1, address + 1, 2) &&
		!memcmp(id + 5, address + 3, 3));
}

static const uint8_t *hardware_address(const struct sockaddr *address)
{
	static const uint8_t none[ETH_ALEN];
	const struct sockaddr_ll *link = (const void *)address;

	if (!address || address->sa_family != AF_PACKET ||
	    link->sll_halen != ETH_ALEN ||
	    !memcmp(link->sll_addr, none, ETH_ALEN))
		return NULL;
	return link->sll_addr;
}

/*
 * Compare one address of an interface with @gid. On a point-to-point link, the
 * peer's address is compared, too, because the kernel makes GIDs from it.
 */
static enum gid_match interface_compare(const struct ifaddrs *at,
					const struct ibsa_gid *gid)
{
	const uint8_t *hardware = hardware_address(at->ifa_addr);

	if (address_is_in(at->ifa_addr, gid) ||
	    address_is_in(at->ifa_dstaddr, gid) ||
	    (hardware && hardware_is_in(hardware, gid)))
		return MATCH_THIS;
	return hardware ? MATCH_OTHER : MATCH_UNKNOWN;
}

uint32_t ibsa__interface_find(struct ibsa__interfaces *interfaces,
			      const char *name, const struct ibsa_gid *gid)
{
	enum gid_match match = MATCH_UNKNOWN;
	const struct ifaddrs *at;

	if (!interfaces->is_read && getifaddrs(&interfaces->all))
		interfaces->all = NULL;
	interfaces->is_read = true;
	for (at = interfaces->all; at && match != MATCH_THIS;
	     at = at->ifa_next) {
		enum gid_match address_match;

		if (strcmp(at->ifa_name, name) != 0)
			continue;
		address_match = interface_compare(at, gid);
		match = address_match > match ? address_match : match;
	}
	return match == MATCH_OTHER ? 0 : if_nametoindex(name);
}

void ibsa__interfaces_done(struct ibsa__interfaces *interfaces)
{
	if (interfaces->all)
		freeifaddrs(interfaces->all);
	interfaces->all = NULL;
	interfaces->is_read = false;
}
