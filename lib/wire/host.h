/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Structs of records of callers whose headers may be older or newer: their
 * structs may be shorter or longer than those of this version.
 */
#ifndef WIRE_HOST_H
#define WIRE_HOST_H

#include <ibsa/records.h>

#include "base/sized.h"

/* Room for the struct of any record. */
union record_host {
#define RECORD_HOST(record, ...) struct ibsa_##record record;
	IBSA_RECORDS(RECORD_HOST)
#undef RECORD_HOST
	struct ibsa_sa_header sa_header;
};

/* As ibsa__sized_read(), for the struct of @record. */
static inline int record_host_read(const struct ibsa_record *record,
				   union record_host *out, const void *in,
				   size_t size)
{
	return ibsa__sized_read(out, record->host_size, in, size);
}

/* Decode @wire into the caller's struct @out of @size bytes. */
static inline void record_host_decode(const struct ibsa_record *record,
				      const uint8_t *wire, void *out,
				      size_t size)
{
	union record_host host;

	if (size == record->host_size) {
		record->decode(wire, out);
		return;
	}
	memset(&host, 0, sizeof(host));
	record->decode(wire, &host);
	ibsa__sized_write(out, size, &host, record->host_size);
}

#endif
