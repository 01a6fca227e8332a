/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs and their values as JSON, one object a line, to compare this codec with
 * another one. Each MAD holds one record after its SA header:
 *
 *   {"record": "PathRecord", "mad": "0103...", "header": {...},
 *    "fields": {"dlid": 4, "dgid": "fe80...", ...}}
 *
 * Without arguments: read lines of "RECORD HEADER-HEX RECORD-HEX" and print the
 * decoded values. With COUNT: generate that many MADs of each record, and print
 * the values that were encoded.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ibsa/records.h>
#include <ibsa/types.h>

#include "../support/random.h"

enum { HOST_BYTES = 512 };

/* The struct of any record. */
union host {
	struct ibsa_sa_header sa_header;
	uint64_t align;
	uint8_t bytes[HOST_BYTES];
};

static void hex_print(const uint8_t *bytes, size_t len)
{
	putchar('"');
	for (size_t i = 0; i < len; i++)
		printf("%02x", bytes[i]);
	putchar('"');
}

static void field_print(const struct ibsa_field *field, const union host *host)
{
	const unsigned int values = ibsa_field_values(field);

	printf("\"%s\": ", field->name);
	if (field->show == IBSA_SHOW_gid || field->show == IBSA_SHOW_text ||
	    field->show == IBSA_SHOW_blob) {
		hex_print(host->bytes + field->host_offset,
			  (size_t)field->nbits / 8 * field->count);
		return;
	}
	for (unsigned int i = 0; i < values; i++)
		printf("%s%llu",
		       i	    ? ", "
		       : values > 1 ? "["
				    : "",
		       (unsigned long long)ibsa_field_get(field, i, host));
	if (values > 1)
		putchar(']');
}

static void fields_print(const struct ibsa_record *record,
			 const union host *host)
{
	for (unsigned int i = 0; i < record->field_count; i++) {
		printf(i ? ", " : "{");
		field_print(&record->fields[i], host);
	}
	putchar('}');
}

static void mad_print(const struct ibsa_record *record, const uint8_t *mad,
		      const union host *header, const union host *host)
{
	printf("{\"record\": \"%s\", \"mad\": ", record->name);
	hex_print(mad, IBSA_MAD_BYTES);
	printf(", \"header\": ");
	fields_print(&ibsa_sa_header_record, header);
	printf(", \"fields\": ");
	fields_print(record, host);
	printf("}\n");
}

/* Return: a value of the field's width, often one of the extremes. */
static uint64_t value_make(unsigned int nbits, uint64_t *random)
{
	const uint64_t value = random_next(random);
	const uint64_t ones = ~UINT64_C(0) >> (64 - nbits);

	switch (random_next(random) % 8) {
	case 0:
		return 0;
	case 1:
		return ones;
	case 2:
		return UINT64_C(1) << value % nbits;
	default:
		return value & ones;
	}
}

static void field_make(const struct ibsa_field *field, union host *host,
		       uint64_t *random)
{
	uint8_t *at = host->bytes + field->host_offset;
	const size_t size = (size_t)field->nbits / 8 * field->count;

	if (field->show == IBSA_SHOW_text) {
		const size_t len = random_next(random) % (size + 1);

		for (size_t i = 0; i < len; i++)
			at[i] = (uint8_t)(' ' + random_next(random) % 95);
		return;
	}
	if (field->show == IBSA_SHOW_gid || field->show == IBSA_SHOW_blob) {
		for (size_t i = 0; i < size; i++)
			at[i] = (uint8_t)value_make(8, random);
		return;
	}
	for (unsigned int i = 0; i < field->count; i++) {
		uint64_t value = value_make(field->nbits, random);

		if (ibsa_field_set(field, i, value, host))
			abort();
	}
}

static void host_make(const struct ibsa_record *record, union host *host,
		      uint64_t *random)
{
	memset(host, 0, sizeof(*host));
	for (unsigned int i = 0; i < record->field_count; i++)
		field_make(&record->fields[i], host, random);
}

static void mad_make(const struct ibsa_record *record, uint64_t *random)
{
	union host header;
	union host host;
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	host_make(&ibsa_sa_header_record, &header, random);
	host_make(record, &host, random);
	header.sa_header.base_version = 1;
	header.sa_header.mgmt_class = IBSA_CLASS_SA;
	header.sa_header.class_version = record->class_version;
	header.sa_header.method = record == &ibsa_notice_record
					  ? IBSA_METHOD_REPORT
					  : IBSA_METHOD_GET_RESP;
	header.sa_header.attribute_id = record->attribute;
	header.sa_header.rmpp_type = IBSA_RMPP_TYPE_DATA;
	if (ibsa_record_encode(&ibsa_sa_header_record, &header, sizeof(header),
			       mad, sizeof(mad)) ||
	    ibsa_record_encode(record, &host, record->host_size,
			       mad + IBSA_SA_HEADER_BYTES, IBSA_SA_DATA_BYTES))
		abort();
	mad_print(record, mad, &header, &host);
}

static size_t hex_get(const char *hex, uint8_t *out, size_t max)
{
	size_t len = 0;
	unsigned int byte;

	while (len < max && sscanf(hex + 2 * len, "%2x", &byte) == 1)
		out[len++] = (uint8_t)byte;
	return len;
}

/* NULL: none that we know. */
static const struct ibsa_record *record_of(const struct ibsa_sa_header *header)
{
	const struct ibsa_record *record;
	unsigned int i;

	for (i = 0; (record = ibsa_record_at(i)); i++) {
		if (record->attribute == header->attribute_id &&
		    record->class_version == header->class_version)
			break;
	}
	return record;
}

static int line_decode(const char *line)
{
	const struct ibsa_record *record;
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };
	uint8_t *data = mad + IBSA_SA_HEADER_BYTES;
	union host header = { .align = 0 };
	union host host = { .align = 0 };
	char head[2 * IBSA_SA_HEADER_BYTES + 1];
	char hex[2 * IBSA_SA_DATA_BYTES + 1];
	size_t len;

	if (sscanf(line, "%112s %400s", head, hex) != 2 ||
	    hex_get(head, mad, IBSA_SA_HEADER_BYTES) != IBSA_SA_HEADER_BYTES ||
	    ibsa_record_decode(&ibsa_sa_header_record, mad, sizeof(mad),
			       &header, sizeof(header)))
		return -1;
	len = hex_get(hex, data, IBSA_SA_DATA_BYTES);
	record = record_of(&header.sa_header);
	if (!record)
		return 0;
	if (ibsa_record_decode(record, data, len, &host, record->host_size))
		return -1;
	mad_print(record, mad, &header, &host);
	return 0;
}

int main(int argc, char **argv)
{
	const struct ibsa_record *record;
	uint64_t random = 1;
	char line[1024];

	if (argc > 1) {
		for (int n = 0; n < atoi(argv[1]); n++) {
			for (unsigned int i = 0; (record = ibsa_record_at(i));
			     i++)
				mad_make(record, &random);
		}
		return 0;
	}
	while (fgets(line, sizeof(line), stdin)) {
		if (line_decode(line)) {
			fprintf(stderr, "not understood: %s", line);
			return 1;
		}
	}
	return 0;
}
