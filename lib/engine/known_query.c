/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completes queries of callers that were compiled with other headers. */
#include "engine/known_query.h"

/*
 * Whether the mask selects by a field that is not inside the first @size bytes
 * of the record's struct.
 */
static bool mask_exceeds(const struct ibsa_query *query, size_t size)
{
	const struct ibsa_record *record = query->record;

	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];
		const size_t end = field->host_offset +
				   (size_t)field->host_size * field->count;
		uint64_t bits = 0;

		for (unsigned int k = 0; k < ibsa_field_values(field); k++)
			bits |= ibsa_field_cm(field, k);
		if (end > size && query->mask & bits)
			return true;
	}
	return false;
}

int ibsa__query_read(struct known_query *out, const struct ibsa_query *query,
		     size_t size)
{
	struct ibsa_query *known = &out->query;

	if (ibsa__sized_read(known, sizeof(*known), query, size))
		return -E2BIG;
	if (!known->match || !known->record || !known->match_size ||
	    known->match_size == known->record->host_size)
		return 0;
	if (mask_exceeds(known, known->match_size))
		return -EINVAL;
	if (record_host_read(known->record, &out->match, known->match,
			     known->match_size))
		return -E2BIG;
	known->match = &out->match;
	known->match_size = known->record->host_size;
	return 0;
}
