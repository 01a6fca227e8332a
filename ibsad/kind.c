/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What users can register at the SA.
 *
 * Source: IBA vol 1, 15.2.5.14 (ServiceRecord), 15.2.5.17 (MCMemberRecord),
 * 15.2.5.19 (GUIDInfoRecord).
 */
#include <string.h>

#include <ibsa/records.h>

#include "ibsad/registration.h"
#include "wire/mad.h"

enum {
	LID_BYTES = 2,
	LEASE_AT = 28, /* in a ServiceRecord */
	JOIN_AT = 48,  /* in an MCMemberRecord */
	BLOCK_AT = 2,  /* in a GUIDInfoRecord */
	GUIDS_AT = 8,
	GUIDS = 8,
	GUID_BIT = 4, /* of the first GUID, in the component mask */
};
_Static_assert(IBSA_GUID_INFO_CM(guid) == 1 << GUID_BIT, "mask of GUIDs");

static const struct owned_kind kinds[] = {
	/* An SA takes the P_Key from the record, or only if the mask selects it. */
	{
		.record = &ibsa_service_record,
		.key_end = 26,
		.user_end = 24,
		.gid_at = 8,
		.key_mask = IBSA_SERVICE_CM(service_id) |
			    IBSA_SERVICE_CM(service_gid),
		.option_mask = IBSA_SERVICE_CM(service_pkey),
	},
	{
		.record = &ibsa_mcmember_record,
		.key_end = 32,
		.user_end = 32,
		.gid_at = 16,
		.key_mask = IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(port_gid),
		.states = STATES_JOIN,
	},
	/* A block of alias GUIDs: a user has all of it, or nothing. */
	{
		.record = &ibsa_guid_info_record,
		.key_end = 3,
		.user_end = 3,
		.key_mask = IBSA_GUID_INFO_CM(lid) |
			    IBSA_GUID_INFO_CM(block_num),
		.states = STATES_GUIDS,
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

bool ibsad_keys_equal(const struct owned_kind *kind, const uint8_t *a,
		      const uint8_t *b, size_t end)
{
	const size_t at = kind->gid_at ? 0 : LID_BYTES;

	return !memcmp(a + at, b + at, end - at);
}

uint32_t ibsad_lease_s(const struct owned_kind *kind, const uint8_t *record,
		       uint64_t mask)
{
	if (kind->record != &ibsa_service_record ||
	    !(mask & IBSA_SERVICE_CM(service_lease)))
		return IBSA_LEASE_INFINITE;
	return ibsa_be32(record + LEASE_AT);
}

uint8_t ibsad_states_of(const struct owned_kind *kind, const uint8_t *record,
			uint64_t mask)
{
	switch (kind->states) {
	case STATES_JOIN:
		return record[JOIN_AT] & 0xf;
	case STATES_GUIDS:
		return (uint8_t)(mask >> GUID_BIT);
	default:
		return 0;
	}
}

uint64_t ibsad_states_mask(const struct owned_kind *kind, uint8_t states)
{
	switch (kind->states) {
	case STATES_JOIN:
		return IBSA_MCMEMBER_CM(join_state);
	case STATES_GUIDS:
		return (uint64_t)states << GUID_BIT;
	default:
		return 0;
	}
}

void ibsad_states_set(struct registration *registration, uint8_t states)
{
	uint8_t *join = &registration->record[JOIN_AT];

	if (registration->kind->states == STATES_JOIN)
		*join = (uint8_t)((*join & 0xf0) | states);
	else if (registration->kind->states == STATES_GUIDS)
		registration->mask = registration->kind->key_mask |
				     ibsad_states_mask(registration->kind,
						       states);
}

void ibsad_states_add(struct registration *registration, const uint8_t *record,
		      uint64_t mask)
{
	const struct owned_kind *kind = registration->kind;
	const uint8_t before = ibsad_states_of(kind, registration->record,
					       registration->mask);
	const uint8_t now = ibsad_states_of(kind, record, mask);
	uint8_t merged[STATE_RECORD_MAX];

	memcpy(merged, record, kind->record->size);
	for (size_t i = 0; kind->states == STATES_GUIDS && i < GUIDS; i++) {
		const size_t at = GUIDS_AT + 8 * i;

		if (!(now >> i & 1))
			memcpy(merged + at, registration->record + at, 8);
	}
	memcpy(registration->record, merged, kind->record->size);
	registration->mask = mask;
	ibsad_states_set(registration, before | now);
}

/* The SA chooses each GUID that is 0 in a Set, and another one the next time. */
void ibsad_states_answered(struct registration *registration,
			   const uint8_t *record)
{
	static const uint8_t none[8];

	if (registration->kind->states != STATES_GUIDS)
		return;
	for (size_t i = 0; i < GUIDS; i++) {
		const size_t at = GUIDS_AT + 8 * i;

		if (registration->states >> i & 1 &&
		    memcmp(record + at, none, 8) != 0)
			memcpy(registration->record + at, record + at, 8);
	}
}

/* The first GUID of block 0 is the port GUID. */
static bool block_is_free(const uint8_t *record)
{
	static const uint8_t none[8];

	for (size_t i = record[BLOCK_AT] ? 0 : 1; i < GUIDS; i++) {
		if (memcmp(record + GUIDS_AT + 8 * i, none, 8) != 0)
			return false;
	}
	return true;
}

bool ibsad_kind_is_free(const struct owned_kind *kind,
			const struct ibsa_reply *reply)
{
	if (kind->states != STATES_GUIDS)
		return !reply->count;
	for (size_t i = 0; i < reply->count; i++) {
		if (!block_is_free(reply->records + i * reply->stride))
			return false;
	}
	return true;
}
