/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Splits an RMPP message into its segments. */
#include <stdbool.h>
#include <string.h>

#include <ibsa/types.h>

#include "common/segment.h"
#include "wire/mad.h"

static bool is_rmpp(const uint8_t *mad, size_t len, size_t header)
{
	return header && len >= header && mad[MAD_RMPP_VERSION] == 1 &&
	       mad[MAD_RMPP_TYPE] == IBSA_RMPP_TYPE_DATA &&
	       mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE;
}

/*
 * Write the RMPP header of segment @number of the @count segments of a message.
 * PayloadLength includes the class header: in the first segment it covers the
 * whole message, in the last one only that segment. IBA vol 1, 13.6.2.
 */
static void header_put(uint8_t *segment, uint32_t number, uint32_t count,
		       uint32_t last_len)
{
	enum { ROOM = IBSA_MAD_BYTES - MAD_RMPP_END };
	uint8_t flags = (uint8_t)(segment[MAD_RMPP_FLAGS] & 0xf8) |
			IBSA_RMPP_ACTIVE;
	uint32_t len = 0;

	if (number == count) {
		flags |= IBSA_RMPP_LAST;
		len = last_len;
	}
	if (number == 1) {
		flags |= IBSA_RMPP_FIRST;
		len = (count - 1) * ROOM + last_len;
	}
	segment[MAD_RMPP_FLAGS] = flags;
	ibsa_put_be32(segment + MAD_RMPP_SEGMENT, number);
	ibsa_put_be32(segment + MAD_RMPP_LENGTH, len);
}

void ibsa__segments_put(const uint8_t *mad, size_t len, size_t header,
			segment_fn put, void *arg)
{
	const bool has_segments = is_rmpp(mad, len, header);
	const size_t head = has_segments ? header : 0;
	const size_t room = IBSA_MAD_BYTES - head;
	const size_t data = len - head;
	const size_t count = has_segments && data ? (data + room - 1) / room
						  : 1;
	uint8_t segment[IBSA_MAD_BYTES] = { 0 };

	memcpy(segment, mad, head);
	for (size_t i = 0; i < count; i++) {
		const size_t left = data - i * room;
		const size_t part = left < room ? left : room;

		memcpy(segment + head, mad + head + i * room, part);
		memset(segment + head + part, 0, room - part);
		if (has_segments)
			header_put(segment, (uint32_t)i + 1, (uint32_t)count,
				   (uint32_t)(head - MAD_RMPP_END + data -
					      (count - 1) * room));
		put(segment, arg);
	}
}

void ibsa__tid_own(uint8_t *mad, bool is_sent)
{
	const bool is_response = mad[MAD_METHOD] & METHOD_RESPONSE;

	if (is_sent != is_response)
		ibsa_put_be32(mad + MAD_TID, 0);
}
