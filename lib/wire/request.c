/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of a request to the SA that few requests need. */
#include "wire/request.h"

#define CHECK(record, TABLE, answer, full, abbreviation, attr, version, \
	      changed_by, bytes, one_line)                              \
	_Static_assert((bytes) >= IBSA__RECORD_MIN,                     \
		       full " is shorter than IBSA__RECORD_MIN");
IBSA_RECORDS(CHECK)

/*
 * Source: IBA vol 1, 13.6.2, 15.2.2. The kernel would write the same header.
 */
void ibsa__request_put_rmpp(const struct ibsa_record *record, uint8_t *mad)
{
	const uint32_t repeated = IBSA_SA_HEADER_BYTES - MAD_SM_KEY;

	mad[MAD_RMPP_VERSION] = 1;
	mad[MAD_RMPP_TYPE] = IBSA_RMPP_TYPE_DATA;
	mad[MAD_RMPP_FLAGS] = IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST |
			      IBSA_RMPP_LAST;
	ibsa_put_be32(mad + MAD_RMPP_SEGMENT, 1);
	ibsa_put_be32(mad + MAD_RMPP_LENGTH, repeated + record->size);
}
