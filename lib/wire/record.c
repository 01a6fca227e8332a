/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds record types and their fields by name or by number. */
#include <errno.h>

#include <ibsa/records.h>

#include "base/letter.h"
#include "wire/host.h"

/*
 * Size of the largest record in bytes: a buffer of this size receives the
 * bytes of an encoding that fails.
 */
enum { RECORD_BYTES_MAX = 200 };

const struct ibsa_record *ibsa_record_find(const char *name)
{
	const struct ibsa_record *record;

	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++) {
		if (letters_are_same(name, record->name) ||
		    letters_are_same(name, record->short_name))
			return record;
	}
	return NULL;
}

int ibsa_record_decode(const struct ibsa_record *record, const void *wire,
		       size_t len, void *out, size_t size)
{
	if (len < record->size)
		return -EPROTO;
	record_host_decode(record, wire, out, size);
	return 0;
}

int ibsa_record_encode(const struct ibsa_record *record, const void *host,
		       size_t size, void *out, size_t len)
{
	union record_host known;
	uint8_t wire[RECORD_BYTES_MAX];
	uint64_t over;

	if (len < record->size)
		return -EINVAL;
	if (size != record->host_size) {
		if (record_host_read(record, &known, host, size))
			return -E2BIG;
		host = &known;
	}
	record->encode(host, wire, &over);
	if (over)
		return -ERANGE;
	memcpy(out, wire, record->size);
	return 0;
}

static bool field_is_one_value(const struct ibsa_field *field)
{
	return field->count == 1 || field->show == IBSA_SHOW_text ||
	       field->show == IBSA_SHOW_blob;
}

static bool field_is_number(const struct ibsa_field *field)
{
	return field->show != IBSA_SHOW_gid && field->show != IBSA_SHOW_text &&
	       field->show != IBSA_SHOW_blob;
}

unsigned int ibsa_field_values(const struct ibsa_field *field)
{
	return field_is_one_value(field) ? 1 : field->count;
}

uint64_t ibsa_field_cm(const struct ibsa_field *field, unsigned int index)
{
	if (index >= ibsa_field_values(field))
		return 0;
	return IBSA__CM(field->cm) << index;
}

uint64_t ibsa_field_get(const struct ibsa_field *field, unsigned int index,
			const void *host)
{
	const char *at = (const char *)host + field->host_offset +
			 (size_t)index * field->host_size;
	uint64_t value = 0;

	if (!field_is_number(field) || index >= field->count)
		return 0;
	switch (field->host_size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)(const void *)at;
	case 4:
		return *(const uint32_t *)(const void *)at;
	default:
		memcpy(&value, at, sizeof(value));
		return value;
	}
}

int ibsa_field_set(const struct ibsa_field *field, unsigned int index,
		   uint64_t value, void *host)
{
	char *at = (char *)host + field->host_offset +
		   (size_t)index * field->host_size;

	if (!field_is_number(field) || index >= field->count)
		return -EINVAL;
	if (value & ~(~UINT64_C(0) >> (64 - field->nbits)))
		return -ERANGE;
	switch (field->host_size) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)(void *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)(void *)at = (uint32_t)value;
		break;
	default:
		memcpy(at, &value, sizeof(value));
	}
	return 0;
}
