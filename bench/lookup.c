/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An SA that only finds both ports of a path: a lower bound. */
#include <stdlib.h>
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/types.h>

#include "lookup.h"

enum { BITS = 16, SLOTS = 1 << BITS, GUID_AT = 8 /* in a GID */ };

static struct {
	uint64_t guid;
	uint16_t lid;
} table[SLOTS];

static uint64_t slot_of(uint64_t guid)
{
	uint64_t at = guid * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS);

	while (table[at].guid && table[at].guid != guid)
		at = (at + 1) % SLOTS;
	return at;
}

void lookup_add(uint64_t guid, uint16_t lid)
{
	uint64_t at = slot_of(guid);

	table[at].guid = guid;
	table[at].lid = lid;
}

void lookup_answer(const uint8_t *mad, uint8_t *out)
{
	const uint8_t *path = mad + IBSA_SA_HEADER_BYTES;
	uint8_t *answer = out + IBSA_SA_HEADER_BYTES;
	uint64_t to =
		slot_of(ibsa_be64(IBSA_GET_GID(path, dgid, path) + GUID_AT));
	uint64_t from =
		slot_of(ibsa_be64(IBSA_GET_GID(path, sgid, path) + GUID_AT));

	if (!table[to].guid || !table[from].guid)
		abort();
	memcpy(out, mad, IBSA_MAD_BYTES);
	ibsa_put_be16(answer + offsetof(struct ibsa__path_bits, dlid) / 8,
		      table[to].lid);
	ibsa_put_be16(answer + offsetof(struct ibsa__path_bits, slid) / 8,
		      table[from].lid);
}
