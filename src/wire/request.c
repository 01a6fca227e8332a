/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encoding of a request to the SA into a MAD. */
#include <errno.h>

#include "wire/mad.h"
#include "wire/request.h"
#include "wire/word.h"

enum { BASE_VERSION = 1, BASE_VERSION_OPA = 0x80 };

/*
 * Clear the MAD by copies of zeroed pieces: for one memset() of this length,
 * gcc generates "rep stos", which is slow.
 */
static void mad_clear(uint8_t *mad)
{
	static const uint8_t zeroes[32];

	UNROLL
	for (size_t i = 0; i < IBSA_MAD_BYTES; i += sizeof(zeroes))
		memcpy(mad + i, zeroes, sizeof(zeroes));
}

/*
 * Write the request's MAD and SA headers, without reading a byte that was just
 * written.
 */
static void header_put(const struct ibsa__request *request, uint8_t *mad)
{
	const struct ibsa_record *record = request->record;
	const bool opa = record->class_version == IBSA_CLASS_VERSION_OPA;

	mad[MAD_BASE_VERSION] = opa ? BASE_VERSION_OPA : BASE_VERSION;
	mad[MAD_CLASS] = IBSA_CLASS_SA;
	mad[MAD_CLASS_VERSION] = record->class_version;
	mad[MAD_METHOD] = request->method;
	ibsa_put_be64(mad + MAD_TID, request->transaction_id);
	ibsa_put_be16(mad + MAD_ATTRIBUTE, record->attribute);
	ibsa_put_be32(mad + MAD_MODIFIER, request->attribute_modifier);
	ibsa_put_be64(mad + MAD_SM_KEY, request->sm_key);
	ibsa_put_be64(mad + MAD_COMPONENT_MASK, request->mask);
}

/*
 * Write the RMPP header of a GetMulti request: it is sent by RMPP, here as a
 * single segment. The length covers the record and the part of the SA header
 * that each RMPP segment repeats. The kernel would write the same header.
 * Source: IBA vol 1, 13.6.2, 15.2.2.
 */
static void rmpp_put(const struct ibsa__request *request, uint8_t *mad)
{
	const uint32_t repeated = IBSA_SA_HEADER_BYTES - MAD_SM_KEY;

	mad[MAD_RMPP_VERSION] = 1;
	mad[MAD_RMPP_TYPE] = IBSA_RMPP_TYPE_DATA;
	mad[MAD_RMPP_FLAGS] = IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST |
			      IBSA_RMPP_LAST;
	ibsa_put_be32(mad + MAD_RMPP_SEGMENT, 1);
	ibsa_put_be32(mad + MAD_RMPP_LENGTH, repeated + request->record->size);
}

int ibsa__request_encode(const struct ibsa__request *request,
			 uint8_t mad[IBSA_MAD_BYTES])
{
	uint64_t over = 0;

	mad_clear(mad);
	header_put(request, mad);
	if (request->method == IBSA_METHOD_GET_MULTI)
		rmpp_put(request, mad);
	if (request->match)
		request->record->encode(request->match,
					mad + IBSA_SA_HEADER_BYTES, &over);
	return over ? -ERANGE : 0;
}

void ibsa__request_set_id(uint8_t *mad, uint64_t transaction_id)
{
	ibsa_put_be64(mad + MAD_TID, transaction_id);
}
