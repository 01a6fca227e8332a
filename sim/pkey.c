/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * P_Keys and who has them. IBA vol 1, 10.9.3: two match if they are of one
 * partition and one of them is a full member's.
 */
#include "sim/fabric.h"

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
