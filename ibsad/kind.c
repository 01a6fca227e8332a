/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What users can register at the SA.
 *
 * Source: IBA vol 1, 15.2.5.14 (ServiceRecord), 15.2.5.17 (MCMemberRecord).
 */
#include <ibsa/records.h>

#include "ibsad/registration.h"
#include "wire/mad.h"

enum { LEASE_AT = 28 };

static const struct owned_kind kinds[] = {
	/* An SA takes the P_Key from the record, or only if the mask selects it. */
	{
		.record = &ibsa_service_record,
		.key_bytes = 26,
		.user_bytes = 24,
		.gid_at = 8,
		.key_mask = IBSA_SERVICE_CM(service_id) |
			    IBSA_SERVICE_CM(service_gid),
		.option_mask = IBSA_SERVICE_CM(service_pkey),
		.noun = "a service",
	},
	{
		.record = &ibsa_mcmember_record,
		.key_bytes = 32,
		.user_bytes = 32,
		.gid_at = 16,
		.key_mask = IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(port_gid),
		.states_at = 48,
		.noun = "a membership",
	},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

const struct owned_kind *ibsad_kind_of(uint16_t attribute)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].record->attribute == attribute)
			return &kinds[i];
	}
	return NULL;
}

const struct owned_kind *ibsad_kind_sized(size_t bytes)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].record->size == bytes)
			return &kinds[i];
	}
	return NULL;
}

uint32_t ibsad_lease_s(const struct owned_kind *kind, const uint8_t *record,
		       uint64_t mask)
{
	if (kind->record != &ibsa_service_record ||
	    !(mask & IBSA_SERVICE_CM(service_lease)))
		return IBSA_LEASE_INFINITE;
	return ibsa_be32(record + LEASE_AT);
}
