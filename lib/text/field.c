/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fields of a record type by name, and the conversion of a field's value to
 * text and back.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/text.h>

#include "base/digit.h"
#include "base/letter.h"
#include "common/clean.h"
#include "text/code.h"
#include "text/value.h"
#include "common/text.h"

int ibsa_field_name_format(const struct ibsa_field *field, unsigned int index,
			   char *out, size_t size)
{
	struct ibsa__text text = { .len = 0 };

	if (index >= ibsa_field_values(field))
		return -EINVAL;
	ibsa__text_string(&text, field->name);
	if (ibsa_field_values(field) > 1) {
		ibsa__text_char(&text, '_');
		ibsa__text_dec(&text, index + 1);
	}
	return ibsa__text_done(&text, out, size);
}

/*
 * Return: the length of @field if the @len characters at @name start with
 * @field; otherwise 0.
 */
static size_t field_name_match(const char *field, const char *name, size_t len)
{
	size_t i = 0;

	while (field[i] && i < len && name_fold(name[i]) == field[i])
		i++;
	return field[i] ? 0 : i;
}

/*
 * Parse "_N", the index of an array's value, with N from 1 to @count without
 * leading zeros. Return: N; 0 if the text has another form.
 */
static unsigned int index_suffix_parse(const char *name, size_t len,
				       unsigned int count)
{
	unsigned int number = 0;

	if (len < 2 || name_fold(name[0]) != '_' || name[1] == '0')
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (name[i] < '0' || name[i] > '9' || number > count)
			return 0;
		number = number * 10 + (unsigned int)(name[i] - '0');
	}
	return number <= count ? number : 0;
}

const struct ibsa_field *ibsa_field_find(const struct ibsa_record *record,
					 const char *name,
					 unsigned int *out_index)
{
	const size_t len = strlen(name);

	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];
		const unsigned int values = ibsa_field_values(field);
		const size_t matched = field_name_match(field->name, name, len);
		unsigned int number = 1;

		if (!matched)
			continue;
		if (values > 1)
			number = index_suffix_parse(name + matched,
						    len - matched, values);
		else if (matched != len)
			continue;
		if (!number)
			continue;
		*out_index = number - 1;
		return field;
	}
	return NULL;
}

/*
 * Write a string field of @max bytes. NULs at its end are omitted; a backslash,
 * and each byte that is not safe to print, such as another NUL, is written as
 * \xNN.
 */
static void string_put(struct ibsa__text *text, const char *string, size_t max)
{
	size_t left = max;

	while (left && !string[left - 1])
		left--;
	while (left) {
		size_t len = *string == '\\'
				     ? 0
				     : ibsa__character_len(string, left);

		if (!len) {
			ibsa__text_string(text, "\\x");
			ibsa__text_hex(text, (uint8_t)*string, 2);
			len = 1;
		} else {
			for (size_t i = 0; i < len; i++)
				ibsa__text_char(text, string[i]);
		}
		string += len;
		left -= len;
	}
}

/*
 * In an entry of a VL arbitration table, the VL is in the bits above the
 * weight.
 */
enum { WEIGHT_BITS = 8, WEIGHT_MAX = 0xff };

/*
 * Write one number of a field in the field's format; a code that has a name is
 * written as the name.
 */
static void number_put(struct ibsa__text *text, const struct ibsa_field *field,
		       uint64_t value)
{
	const char *name = ibsa_code_name(field->show, value);

	if (name) {
		ibsa__text_string(text, name);
	} else if (field->show == IBSA_SHOW_vl_weight) {
		ibsa__text_dec(text, value >> WEIGHT_BITS);
		ibsa__text_char(text, ':');
		ibsa__text_dec(text, value & WEIGHT_MAX);
	} else if (field->show == IBSA_SHOW_hex ||
		   field->show == IBSA_SHOW_guid) {
		ibsa__text_string(text, "0x");
		ibsa__text_hex(text, value, (field->nbits + 3u) / 4);
	} else {
		ibsa__text_dec(text, value);
	}
}

int ibsa_field_format(const struct ibsa_field *field, unsigned int index,
		      const void *host, char *out, size_t size)
{
	const char *at = (const char *)host + field->host_offset;
	struct ibsa__text text = { .len = 0 };
	struct ibsa_gid gid;

	if (index >= ibsa_field_values(field))
		return -EINVAL;
	switch (field->show) {
	case IBSA_SHOW_gid:
		memcpy(&gid, at + index * sizeof(gid), sizeof(gid));
		return ibsa_gid_format(&gid, out, size);
	case IBSA_SHOW_text:
		string_put(&text, at, field->count);
		break;
	case IBSA_SHOW_blob:
		for (unsigned int i = 0; i < field->count; i++)
			ibsa__text_hex(&text, (uint8_t)at[i], 2);
		break;
	default:
		number_put(&text, field, ibsa_field_get(field, index, host));
	}
	return ibsa__text_done(&text, out, size);
}

/*
 * Parse two hexadecimal digits. Return: their value; -1 if the text does not
 * start with two of them.
 */
static int hex_byte_get(const char *text)
{
	const int high = digit_value(text[0]);

	if (high < 0 || digit_value(text[1]) < 0)
		return -1;
	return high << 4 | digit_value(text[1]);
}

static int string_get(const char *text, unsigned int max, char *out)
{
	char string[IBSA_VALUE_TEXT] = { 0 };
	size_t len = 0;

	for (; *text; text++) {
		int c = (unsigned char)*text;

		if (c == '\\') {
			c = text[1] == 'x' ? hex_byte_get(text + 2) : -1;
			text += 3;
		}
		if (c < 0)
			return -EINVAL;
		if (len < sizeof(string))
			string[len++] = (char)c;
	}
	if (len > max || len >= sizeof(string))
		return -ERANGE;
	memset(out, 0, max + 1);
	memcpy(out, string, len);
	return 0;
}

static int blob_get(const char *text, unsigned int max, uint8_t *out)
{
	uint8_t blob[IBSA_VALUE_TEXT] = { 0 };
	size_t len = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text += 2) {
		int byte = hex_byte_get(text);

		if (byte < 0)
			return -EINVAL;
		if (len < sizeof(blob))
			blob[len++] = (uint8_t)byte;
	}
	if (len > max || len >= sizeof(blob))
		return -ERANGE;
	memcpy(out, blob, max);
	return 0;
}

/* Parse "VL:WEIGHT". */
static int vl_weight_parse(const char *text, uint64_t *out)
{
	const char *colon = strchr(text, ':');
	uint64_t vl;
	uint64_t weight;
	int vl_err;
	int err;

	if (!colon)
		return -EINVAL;
	vl_err = ibsa__number_parse(text, (size_t)(colon - text), WEIGHT_BITS,
				    &vl);
	err = ibsa_number_parse(colon + 1, WEIGHT_BITS, &weight);
	/* If one part is not a number, it does not matter how large the other is. */
	if (vl_err && err != -EINVAL)
		err = vl_err;
	if (!err)
		*out = vl << WEIGHT_BITS | weight;
	return err;
}

static int number_get(const struct ibsa_field *field, unsigned int index,
		      const char *text, void *host)
{
	uint64_t value;
	int err = 0;

	if (field->show == IBSA_SHOW_vl_weight)
		err = vl_weight_parse(text, &value);
	else if (!ibsa__code_find(field->show, text, &value))
		err = ibsa_number_parse(text, field->nbits, &value);
	return err ? err : ibsa_field_set(field, index, value, host);
}

int ibsa_field_parse(const struct ibsa_field *field, unsigned int index,
		     const char *text, void *host)
{
	char *at = (char *)host + field->host_offset;
	struct ibsa_gid gid;

	if (index >= ibsa_field_values(field))
		return -EINVAL;
	switch (field->show) {
	case IBSA_SHOW_gid:
		if (ibsa_gid_parse(text, &gid))
			return -EINVAL;
		memcpy(at + index * sizeof(gid), &gid, sizeof(gid));
		return 0;
	case IBSA_SHOW_text:
		return string_get(text, field->count, at);
	case IBSA_SHOW_blob:
		return blob_get(text, field->count, (uint8_t *)at);
	default:
		return number_get(field, index, text, host);
	}
}
