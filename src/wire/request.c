/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A request to the SA as the bytes of one MAD. */
#include <errno.h>

#include "wire/request.h"
#include "wire/word.h"

enum { BASE_VERSION = 1, BASE_VERSION_OPA = 0x80 };

/* Store a number in a header field; the field's type is wide enough. */
#define PUT(mad, field, value)                                             \
	ibsa_bits_put((mad), offsetof(struct ibsa__sa_header_bits, field), \
		      sizeof(((struct ibsa__sa_header_bits *)0)->field),   \
		      (value))

/* In pieces: of one memset of this length gcc makes a slow "rep stos". */
static void clear(uint8_t *mad)
{
	UNROLL
	for (int i = 0; i < IBSA_MAD_BYTES; i += 64)
		memset(mad + i, 0, 64);
}

int ibsa__request_encode(const struct ibsa__request *request,
			 uint8_t mad[IBSA_MAD_BYTES])
{
	const struct ibsa_record *record = request->record;
	uint64_t over = 0;

	clear(mad);
	PUT(mad, base_version,
	    record->class_version == IBSA_CLASS_VERSION_OPA ? BASE_VERSION_OPA
							    : BASE_VERSION);
	PUT(mad, mgmt_class, IBSA_CLASS_SA);
	PUT(mad, class_version, record->class_version);
	PUT(mad, method, request->method);
	PUT(mad, transaction_id, request->transaction_id);
	PUT(mad, attribute_id, record->attribute);
	PUT(mad, attribute_modifier, request->attribute_modifier);
	PUT(mad, sm_key, request->sm_key);
	PUT(mad, component_mask, request->mask);
	if (request->match)
		record->encode(request->match, mad + IBSA_SA_HEADER_BYTES,
			       &over);
	return over ? -ERANGE : 0;
}

void ibsa__request_set_id(uint8_t *mad, uint64_t transaction_id)
{
	PUT(mad, transaction_id, transaction_id);
}

uint8_t ibsa__response_method(uint8_t method)
{
	switch (method) {
	case IBSA_METHOD_GET:
	case IBSA_METHOD_SET:
		return IBSA_METHOD_GET_RESP;
	case IBSA_METHOD_GET_TABLE:
		return IBSA_METHOD_GET_TABLE_RESP;
	case IBSA_METHOD_DELETE:
		return IBSA_METHOD_DELETE_RESP;
	default:
		return 0;
	}
}
