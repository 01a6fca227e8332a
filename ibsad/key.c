/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "ibsad/key.h"
#include "ibsad/queue.h"
#include "wire/mad.h"

/*
 * The parts of a packet in which identical requests are equal: the path by
 * which the packet is sent, and what it queries. The address of the SA is the
 * same in all packets.
 */
static const struct key_part {
	size_t at, end;
} key_parts[] = {
	{ offsetof(struct umad_header, sl),
	  offsetof(struct umad_header, reserved) },
	{ UMAD_HEADER_BYTES + MAD_METHOD, UMAD_HEADER_BYTES + MAD_STATUS },
	{ UMAD_HEADER_BYTES + MAD_ATTRIBUTE,
	  UMAD_HEADER_BYTES + MAD_RMPP_VERSION },
	{ UMAD_HEADER_BYTES + MAD_COMPONENT_MASK, QUEUE_FIRST_BYTES },
};

enum { KEY_PARTS = sizeof(key_parts) / sizeof(*key_parts) };

static uint64_t word_hash(uint64_t hash, const uint8_t *at, size_t len)
{
	uint64_t word = 0;

	memcpy(&word, at, len);
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

uint64_t ibsad_key_hash(uint64_t seed, const uint8_t *packet)
{
	uint64_t hash = seed;

	for (size_t i = 0; i < KEY_PARTS; i++) {
		size_t at = key_parts[i].at;

		for (; at + sizeof(hash) <= key_parts[i].end;
		     at += sizeof(hash))
			hash = word_hash(hash, packet + at, sizeof(hash));
		if (at < key_parts[i].end)
			hash = word_hash(hash, packet + at,
					 key_parts[i].end - at);
	}
	return hash;
}

bool ibsad_key_is_same(const uint8_t *a, const uint8_t *b)
{
	for (size_t i = 0; i < KEY_PARTS; i++) {
		const struct key_part *part = &key_parts[i];

		if (memcmp(a + part->at, b + part->at, part->end - part->at))
			return false;
	}
	return true;
}

void ibsad_key_request(uint8_t *request, const uint8_t *packet)
{
	uint8_t *mad = request + UMAD_HEADER_BYTES;
	const struct umad_header header = {
		.qpn = htobe32(IBSA_QPN_GSI),
		.qkey = htobe32(IBSA_QKEY_GSI),
		.length = QUEUE_FIRST_BYTES,
	};
	const size_t lid = offsetof(struct umad_header, lid);

	memcpy(request, &header, sizeof(header));
	memcpy(request + lid, packet + lid, sizeof(header.lid));
	mad[MAD_BASE_VERSION] = 1;
	mad[MAD_CLASS] = IBSA_CLASS_SA;
	mad[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION;
	for (size_t i = 0; i < KEY_PARTS; i++) {
		const struct key_part *part = &key_parts[i];

		memcpy(request + part->at, packet + part->at,
		       part->end - part->at);
	}
}
