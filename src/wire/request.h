/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encoding of a request to the SA into a MAD. */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include <ibsa/records.h>
#include <ibsa/sa.h>

/*
 * Contents of a request to the SA. If @match is NULL, the request's record is
 * all zeros.
 */
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
 * Encode @request into the 256 bytes of @mad. Return: 0; -ERANGE a value of
 * the record is wider than its field; the content of @mad is undefined in this
 * case. Source: IBA vol 1, 15.2.1.
 */
int ibsa__request_encode(const struct ibsa__request *request,
			 uint8_t mad[IBSA_MAD_BYTES]) IBSA_MUST_USE;

/* Replace the TransactionID of an encoded MAD. */
void ibsa__request_set_id(uint8_t *mad, uint64_t transaction_id);

/*
 * Return: the method of the response to a request with @method: @method with
 * the response bit (0x80), except for Set, whose response is GetResp.
 */
static inline uint8_t ibsa__response_method(uint8_t method)
{
	enum { RESPONSE = 0x80 };

	if (method == IBSA_METHOD_SET)
		return IBSA_METHOD_GET_RESP;
	return method | RESPONSE;
}

#endif
