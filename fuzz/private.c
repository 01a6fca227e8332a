/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes what removes keys and names from the MADs of a report: each byte of a
 * MAD is of the SA's choice.
 */
#include <stdlib.h>
#include <string.h>

#include "../command/doctor/private.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check that the first record of an edited MAD has no key. */
static void keys_check(const uint8_t *mad, size_t len)
{
	struct ibsa_sa_header header;
	const struct ibsa_record *record;
	union any any;

	if (ibsa_record_decode(&ibsa_sa_header_record, mad, len, &header,
			       sizeof(header)) != 0 ||
	    header.sm_key)
		abort();
	record = mad_record(&header);
	mad += IBSA_SA_HEADER_BYTES;
	len -= IBSA_SA_HEADER_BYTES;
	if (!record || len < record->size) {
		for (size_t i = 0; i < len; i++)
			if (mad[i])
				abort();
		return;
	}
	if (ibsa_record_decode(record, mad, len, &any, record->host_size) != 0)
		abort();
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];
		const char *at = (const char *)&any + field->host_offset;

		for (size_t n = 0; is_secret(field) &&
				   n < (size_t)field->host_size * field->count;
		     n++)
			if (at[n])
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int i = 0; i < 2; i++) {
		struct private private = { .is_anonymous = i == 1 };
		uint8_t *mad = malloc(size ? size : 1);

		if (!mad)
			return 0;
		memcpy(mad, data, size);
		if (private_mad(&private, mad, size))
			keys_check(mad, size);
		free(mad);
		private_free(&private);
	}
	return 0;
}
