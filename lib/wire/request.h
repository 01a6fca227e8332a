/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encoding of a request to the SA into a MAD. */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include <errno.h>

#include "wire/mad.h"
#include "wire/word.h"

#define CODEC_ONLY
#define RECORD sa_header
#define FIELDS IBSA_SA_HEADER_FIELDS
#include "wire/record.inc"
#undef CODEC_ONLY

enum { IBSA__RECORD_MIN = 8 }; /* no record has fewer bytes */

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
 * Write the RMPP header of a GetMulti request: it is sent by RMPP, here as a
 * single segment. The length covers the record and the part of the SA header
 * that each RMPP segment repeats.
 */
void ibsa__request_put_rmpp(const struct ibsa_record *record, uint8_t *mad);

/* Write the MAD, RMPP and SA headers of @request, by the table of headers. */
static inline void
ibsa__request_put_headers(const struct ibsa__request *request, uint8_t *mad)
{
	const struct ibsa_record *record = request->record;
	const bool opa = record->class_version == IBSA_CLASS_VERSION_OPA;
	const struct ibsa_sa_header header = {
		.base_version = opa ? 0x80 : 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = record->class_version,
		.method = request->method,
		.transaction_id = request->transaction_id,
		.attribute_id = record->attribute,
		.attribute_modifier = request->attribute_modifier,
		.sm_key = request->sm_key,
		.component_mask = request->mask,
	};
	uint64_t over;

	sa_header_encode(&header, mad, &over);
}

static inline IBSA_MUST_USE int
ibsa__request_put_record(const struct ibsa__request *request, uint8_t *mad)
{
	uint64_t over = 0;

	if (request->match)
		request->record->encode(request->match,
					mad + IBSA_SA_HEADER_BYTES, &over);
	return over ? -ERANGE : 0;
}

static inline void
ibsa__request_put_all_headers(const struct ibsa__request *request, uint8_t *mad)
{
	ibsa__request_put_headers(request, mad);
	if (request->method == IBSA_METHOD_GET_MULTI)
		ibsa__request_put_rmpp(request->record, mad);
}

/*
 * Encode @request into the 256 bytes of @mad. Return: 0; -ERANGE a value of
 * the record is wider than its field; the record in @mad is undefined in this
 * case. Source: IBA vol 1, 15.2.1.
 */
static inline IBSA_MUST_USE int
ibsa__request_encode(const struct ibsa__request *request,
		     uint8_t mad[IBSA_MAD_BYTES])
{
	static const uint8_t zeroes[16];

	/*
	 * A loop, because for one memset() of the whole length gcc generates a
	 * slow "rep stos".
	 */
	UNROLL
	for (size_t i = IBSA_SA_HEADER_BYTES + IBSA__RECORD_MIN;
	     i < IBSA_MAD_BYTES; i += sizeof(zeroes))
		memcpy(mad + i, zeroes, sizeof(zeroes));
	if (!request->match)
		memset(mad + IBSA_SA_HEADER_BYTES, 0, IBSA__RECORD_MIN);
	ibsa__request_put_all_headers(request, mad);
	return ibsa__request_put_record(request, mad);
}

/*
 * Encode @request into @mad. Either @mad is all zeros and @last is NULL, or
 * @mad has an earlier request with the same SM_Key and the same upper half of
 * the TransactionID, for the record @last and with @last_method. Bytes that are
 * the same in all requests for one record with one method are not written
 * again. Return: as ibsa__request_encode().
 */
static inline IBSA_MUST_USE int
ibsa__request_replace(const struct ibsa__request *request,
		      const struct ibsa_record *last, uint8_t last_method,
		      uint8_t mad[IBSA_MAD_BYTES])
{
	if (last != request->record || last_method != request->method) {
		if (last)
			memset(mad + IBSA_SA_HEADER_BYTES, 0, last->size);
		ibsa__request_put_all_headers(request, mad);
	} else {
		if (!request->match)
			memset(mad + IBSA_SA_HEADER_BYTES, 0, last->size);
		ibsa_put_be32(mad + MAD_MODIFIER, request->attribute_modifier);
		ibsa_put_be64(mad + MAD_COMPONENT_MASK, request->mask);
	}
	return ibsa__request_put_record(request, mad);
}

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
