/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the codecs of records. The first three bytes of the input select the
 * record, by attribute id and class version. Checked: a decoded record is
 * encoded to the same bytes, except for reserved bits, and each field's text
 * is parsed to the same value.
 */
#include <stdlib.h>

#include <ibsa/records.h>
#include <ibsa/text.h>

enum { SELECTOR_BYTES = 3, WIRE_BYTES = 256, HOST_BYTES = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool so)
{
	if (!so)
		abort();
}

/*
 * Return: the record type with this attribute id and class version, so that an
 * input keeps its record type when others are added. If there is none, return
 * a record type chosen by the id. Id 0 stands for the SA header.
 */
static const struct ibsa_record *record_select(const uint8_t *selector)
{
	const uint16_t attribute = ibsa_be16(selector);
	const struct ibsa_record *record;
	unsigned int count;

	if (!attribute)
		return &ibsa_sa_header_record;
	for (count = 0; (record = ibsa_record_at(count)); count++) {
		if (record->attribute == attribute &&
		    record->class_version == selector[2])
			return record;
	}
	return ibsa_record_at(attribute % count);
}

/*
 * Copy @wire to @out with all reserved bits, which no field contains, set to
 * 0.
 */
static void wire_clean(const struct ibsa_record *record, const uint8_t *wire,
		       uint8_t *out)
{
	memset(out, 0, record->size);
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];
		unsigned int bits = field->nbits * (unsigned int)field->count;

		for (unsigned int n = 0; n < bits; n++) {
			unsigned int bit = field->bit_offset + n;

			out[bit / 8] |= wire[bit / 8] & 0x80 >> bit % 8;
		}
	}
}

/* One value to text and back. */
static void value_check(const struct ibsa_record *record,
			const struct ibsa_field *field, unsigned int index,
			const void *host)
{
	_Alignas(8) uint8_t back[HOST_BYTES] = { 0 };
	char text[IBSA_VALUE_TEXT];
	char name[64];
	unsigned int found;
	const size_t at = field->host_offset;
	size_t size = (size_t)field->host_size * field->count;

	must(ibsa_field_name_format(field, index, name, sizeof(name)) > 0);
	must(ibsa_field_find(record, name, &found) == field && found == index);
	must(ibsa_field_format(field, index, host, text, sizeof(text)) >= 0);
	must(ibsa_field_parse(field, index, text, back) == 0);
	if (ibsa_field_values(field) == 1) {
		must(!memcmp(back + at, (const uint8_t *)host + at, size));
		return;
	}
	must(ibsa_field_get(field, index, back) ==
	     ibsa_field_get(field, index, host));
}

static void record_check(const struct ibsa_record *record, const uint8_t *wire)
{
	_Alignas(8) uint8_t host[HOST_BYTES] = { 0 };
	_Alignas(8) uint8_t again[HOST_BYTES] = { 0 };
	uint8_t clean[WIRE_BYTES];
	uint8_t back[WIRE_BYTES];

	must(ibsa_record_decode(record, wire, record->size, host,
				record->host_size) == 0);
	must(ibsa_record_encode(record, host, record->host_size, back,
				sizeof(back)) == 0);
	wire_clean(record, wire, clean);
	must(!memcmp(back, clean, record->size));
	must(ibsa_record_decode(record, back, record->size, again,
				record->host_size) == 0);
	must(!memcmp(host, again, sizeof(host)));
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		for (unsigned int n = 0; n < ibsa_field_values(field); n++)
			value_check(record, field, n, host);
	}
}

/*
 * Encode a record with arbitrary field values. If the encoder does not refuse
 * them, check that decoding returns the same values.
 */
static void host_check(const struct ibsa_record *record, const uint8_t *data,
		       size_t size)
{
	_Alignas(8) uint8_t host[HOST_BYTES] = { 0 };
	_Alignas(8) uint8_t back[HOST_BYTES] = { 0 };
	uint8_t wire[WIRE_BYTES];
	char text[IBSA_VALUE_TEXT];

	memcpy(host, data, size < record->host_size ? size : record->host_size);
	for (unsigned int i = 0; i < record->field_count; i++)
		must(ibsa_field_format(&record->fields[i], 0, host, text,
				       sizeof(text)) >= 0);
	if (ibsa_record_encode(record, host, record->host_size, wire,
			       sizeof(wire)))
		return;
	must(ibsa_record_decode(record, wire, sizeof(wire), back,
				record->host_size) == 0);
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];
		const size_t at = field->host_offset;

		must(!memcmp(host + at, back + at,
			     (size_t)field->host_size * field->count));
	}
}

static void input_check(const struct ibsa_record *record, const uint8_t *data,
			size_t size)
{
	_Alignas(8) uint8_t host[HOST_BYTES];

	if (size < record->size)
		must(ibsa_record_decode(record, data, size, host,
					record->host_size) != 0);
	else
		record_check(record, data);
	host_check(record, data, size);
}

/*
 * Check each record type with all bits of its fields set, in a buffer of its
 * size and in one that is one byte too short.
 */
static void limits_check(void)
{
	const struct ibsa_record *record;

	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++) {
		for (size_t size = record->size - 1u; size <= record->size;
		     size++) {
			uint8_t *data = malloc(size);

			must(data);
			memset(data, 0xff, size);
			input_check(record, data, size);
			free(data);
		}
	}
}

/* The fuzzer's first input is empty: the limits are tested with it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		limits_check();
	if (size >= SELECTOR_BYTES)
		input_check(record_select(data), data + SELECTOR_BYTES,
			    size - SELECTOR_BYTES);
	return 0;
}
