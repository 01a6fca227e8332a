/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The P_Keys of ports. Two P_Keys match if they are of one partition and at
 * least one has full membership (IBA vol 1, 10.9.3).
 */
#include "fabric/subnet/subnet.h"

bool ibsa__pkey_passes(const struct end_setup *setup, uint16_t pkey)
{
	for (uint32_t i = 0; i < setup_pkey_count(setup); i++) {
		if (pkeys_match(setup_pkey(setup, i), pkey))
			return true;
	}
	return false;
}

uint16_t ibsa__pkey_index(const struct end_setup *setup, uint16_t pkey)
{
	for (uint32_t i = 0; i < setup_pkey_count(setup); i++) {
		if (pkeys_match(setup_pkey(setup, i), pkey))
			return (uint16_t)i;
	}
	return 0;
}

bool ibsa__pkey_has(const struct end_setup *setup, uint16_t pkey)
{
	if (!(pkey & ~IBSA_PKEY_FULL))
		return true;
	for (uint32_t i = 0; i < setup_pkey_count(setup); i++) {
		if (!((setup_pkey(setup, i) ^ pkey) & ~IBSA_PKEY_FULL))
			return true;
	}
	return false;
}

bool ibsa__pkey_is_usable(const struct end_setup *a, const struct end_setup *b,
			  uint16_t pkey)
{
	for (uint32_t i = 0; i < setup_pkey_count(a); i++) {
		const uint16_t have = setup_pkey(a, i);

		if (!((have ^ pkey) & ~IBSA_PKEY_FULL) &&
		    ibsa__pkey_passes(b, have))
			return true;
	}
	return false;
}

uint16_t ibsa__pkey_shared(const struct end_setup *a, const struct end_setup *b)
{
	uint16_t best = 0;

	if (!a->pkeys && !b->pkeys)
		return IBSA_PKEY_DEFAULT;
	for (uint32_t i = 0; i < setup_pkey_count(a); i++) {
		const uint16_t have = setup_pkey(a, i);

		if (best &&
		    (have & ~IBSA_PKEY_FULL) >= (best & ~IBSA_PKEY_FULL))
			continue;
		if (ibsa__pkey_passes(b, have))
			best = have;
	}
	return best;
}

/*
 * Return: the end port whose P_Keys apply to @port: for a switch port, the end
 * port at the other end of its cable. Between two switches, only the default
 * P_Key applies.
 */
static const struct end_setup *pkeys_of(const struct subnet *subnet,
					const struct topo_port *port)
{
	static const struct end_setup default_alone;

	if (port->end == NO_INDEX)
		port = &subnet->topo.ports[port->peer];
	return port->end == NO_INDEX ? &default_alone
				     : &subnet->setups[port->end];
}

bool ibsa__ports_share_pkey(const struct subnet *subnet,
			    const struct topo_port *a,
			    const struct topo_port *b)
{
	if (a == b)
		return true;
	/*
	 * A switch's external port without a link has no P_Key table; OpenSM
	 * shows the records of such a port to every requester.
	 */
	if ((a->end == NO_INDEX && a->peer == NO_INDEX) ||
	    (b->end == NO_INDEX && b->peer == NO_INDEX))
		return true;
	return ibsa__pkey_shared(pkeys_of(subnet, a), pkeys_of(subnet, b));
}
