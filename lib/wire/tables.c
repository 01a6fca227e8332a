/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Codec, field table and struct ibsa_record of each record type, generated
 * from its list of fields.
 */
#include <ibsa/records.h>

#include "wire/array.h"
#include "wire/word.h"

#include "wire/codecs.inc"

#define RECORD sa_header
#define FIELDS IBSA_SA_HEADER_FIELDS
#include "wire/record.inc"

/*
 * Number of component mask bits of an array field: an array of numbers has a
 * bit for each value, a text or blob has one bit.
 */
#define SPAN_dec(count) (count)
#define SPAN_hex(count) (count)
#define SPAN_guid(count) (count)
#define SPAN_gid(count) (count)
#define SPAN_vl_weight(count) (count)
#define SPAN_text(count) 1
#define SPAN_blob(count) 1
#define SPAN(cm, values) (IBSA__CM(cm) * ((UINT64_C(2) << ((values)-1)) - 1))
#define MASK_F(type, name, bits, cm, show) | IBSA__CM(cm)
#define MASK_ARR(type, name, bits, count, cm, show) \
	| SPAN(cm, SPAN_##show(count))
#define NOTHING(name, bits)

#define OBJECT(record, TABLE, answer, full, abbreviation, attr, version,   \
	       changed_by, bytes, one_line)                                \
	_Static_assert(sizeof(struct ibsa__##record##_bits) == (bytes)*8,  \
		       full ": the bytes in IBSA_RECORDS are not the sum " \
			    "of its table's bits");                        \
	const struct ibsa_record ibsa_##record##_record = {                \
		.name = full,                                              \
		.short_name = abbreviation,                                \
		.brief = one_line,                                         \
		.attribute = attr,                                         \
		.class_version = version,                                  \
		.writer = IBSA_WRITER_##changed_by,                        \
		.size = bytes,                                             \
		.host_size = sizeof(struct ibsa_##record),                 \
		.reply = &ibsa_##answer##_record,                          \
		.mask = 0 IBSA_##TABLE##_FIELDS(MASK_F, MASK_ARR, NOTHING, \
						MASK_F),                   \
		.fields = record##_rows,                                   \
		.field_count = sizeof(record##_rows) /                     \
			       sizeof(record##_rows[0]),                   \
		.decode = record##_decode,                                 \
		.encode = record##_encode,                                 \
	};

IBSA_RECORDS(OBJECT)
OBJECT(sa_header, SA_HEADER, sa_header, "SAHeader", "SAH", 0, 2, CLIENTS, 56,
       "method,status,transaction_id,attribute_id")

#define OBJECT_ADDRESS(record, ...) &ibsa_##record##_record,

static const struct ibsa_record *const records[] = { IBSA_RECORDS(
	OBJECT_ADDRESS) };

const struct ibsa_record *ibsa_record_at(unsigned int index)
{
	if (index >= sizeof(records) / sizeof(records[0]))
		return NULL;
	return records[index];
}
