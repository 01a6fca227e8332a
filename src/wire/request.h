/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A request to the SA as the bytes of one MAD. */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include <ibsa/records.h>
#include <ibsa/sa.h>

/* What goes into a request; @match may be NULL for a record of zeroes. */
struct ibsa__request {
	const struct ibsa_record *record;
	const void *match;
	uint64_t mask;
	uint64_t sm_key;
	uint64_t transaction_id;
	uint32_t attribute_modifier;
	uint8_t method;
};

/*
 * Write all 256 bytes of the MAD. Return: 0; -ERANGE if a value of the
 * record is wider than its field, and @mad is then undefined.
 * Source: IBA vol 1, 15.2.1.
 */
int ibsa__request_encode(const struct ibsa__request *request,
			 uint8_t mad[IBSA_MAD_BYTES]) IBSA_MUST_USE;

/* Put another transaction id into an encoded MAD. */
void ibsa__request_set_id(uint8_t *mad, uint64_t transaction_id);

/*
 * The method that answers @method: the same with the response bit, but for
 * Set, which is answered as Get is.
 */
static inline uint8_t ibsa__response_method(uint8_t method)
{
	enum { RESPONSE = 0x80 };

	if (method == IBSA_METHOD_SET)
		return IBSA_METHOD_GET_RESP;
	return method | RESPONSE;
}

#endif
