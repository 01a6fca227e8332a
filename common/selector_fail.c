/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages about a selector that is not valid, which suggest a correction. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/text.h>

#include "base/error.h"
#include "base/letter.h"
#include "common/nearest.h"
#include "common/selector_fail.h"
#include "common/text.h"

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Return: the field with the most similar name; NULL if none is similar. */
static const struct ibsa_field *field_nearest(const struct ibsa_record *record,
					      const char *name, size_t len)
{
	struct nearest nearest = ibsa__nearest_start(name, len, true);
	const struct ibsa_field *best = NULL;

	if (len > SELECTOR_SHOWN_MAX)
		return NULL;
	for (unsigned int i = 0; i < record->field_count; i++) {
		ibsa__nearest_try(&nearest, record->fields[i].name);
		if (nearest.name == record->fields[i].name)
			best = &record->fields[i];
	}
	return best;
}

/*
 * Whether the @len characters at @name are the beginning of the name @field,
 * in any case and with or without its underscores.
 */
static bool name_abbreviates(const char *name, size_t len, const char *field)
{
	for (size_t i = 0; i < len; i++) {
		const char c = name_fold(name[i]);

		if (c == '_')
			continue;
		field += strspn(field, "_");
		if (*field++ != c)
			return false;
	}
	return true;
}

/*
 * Return: the only field of which the name is an abbreviation, and by which the
 * SA can select; NULL if there is none, or more than one.
 */
static const struct ibsa_field *
field_abbreviated(const struct ibsa_record *record, const char *name,
		  size_t len)
{
	const struct ibsa_field *only = NULL;

	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		if (field->cm == IBSA_NO_BIT ||
		    !name_abbreviates(name, len, field->name))
			continue;
		if (only)
			return NULL;
		only = field;
	}
	return only;
}

/*
 * Write the names of a record type's fields, for an error message; "..."
 * replaces names that do not fit.
 */
static void fields_list(const struct ibsa_record *record, char *out,
			size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (unsigned int i = 0; i < record->field_count; i++) {
		const char *name = record->fields[i].name;
		const size_t more = strlen(name);

		if (record->fields[i].cm == IBSA_NO_BIT)
			continue;
		if (len + more + sizeof(", ...") > size) {
			memcpy(out + len, "...", sizeof("..."));
			return;
		}
		memcpy(out + len, name, more);
		len += more;
		memcpy(out + len, ", ", sizeof(", "));
		len += 2;
	}
	if (len)
		out[len - 2] = '\0';
	else
		snprintf(out, size, "none to select by");
}

int ibsa__selector_field_fail(const struct ibsa_record *record,
			      const char *name, size_t len,
			      struct ibsa_error *error)
{
	const struct ibsa_field *meant = field_abbreviated(record, name, len);
	const int shown = (int)smaller_of(len, SELECTOR_SHOWN_MAX);
	char list[160];

	if (!meant)
		meant = field_nearest(record, name, len);
	if (meant)
		return ibsa__fail(error, -ENOENT,
				  "%s has no field '%.*s'; did you mean '%s'%s",
				  record->name, shown, name, meant->name,
				  ibsa_field_values(meant) > 1
					  ? " with '_1', '_2', ... after it?"
					  : "?");
	fields_list(record, list, sizeof(list));
	return ibsa__fail(error, -ENOENT, "%s has no field '%.*s'; it has %s",
			  record->name, shown, name, list);
}

/*
 * Write the names of all rates, without the unit at their end, for an error
 * message.
 */
static void rates_list(struct ibsa__text *out)
{
	for (uint64_t code = 0; code < 64; code++) {
		const char *name = ibsa_code_name(IBSA_SHOW_rate, code);

		for (; name && *name && *name != 'G'; name++)
			ibsa__text_char(out, *name);
		if (name)
			ibsa__text_string(out, ", ");
	}
	ibsa__text_string(out, "with Gb/s after it, or the code as a number");
}

/*
 * Write the names of a field's codes, each followed by ", ", for an error
 * message.
 */
static void codes_list(const struct ibsa_field *field, struct ibsa__text *out)
{
	for (uint64_t code = 0; code >> field->nbits == 0; code++) {
		const char *name = ibsa_code_name(field->show, code);

		if (!name)
			continue;
		ibsa__text_string(out, name);
		ibsa__text_string(out, ", ");
	}
	ibsa__text_string(out, "or the code as a number");
}

/*
 * Write which values a field accepts, for an error message such as "dlid takes
 * ...".
 */
static void accepted_values_put(const struct ibsa_field *field,
				struct ibsa__text *out)
{
	switch (field->show) {
	case IBSA_SHOW_gid:
		ibsa__text_string(out, "a GID written as an IPv6 address");
		return;
	case IBSA_SHOW_text:
		ibsa__text_string(out, "up to ");
		ibsa__text_dec(out, field->count);
		ibsa__text_string(out, " bytes of text, with \\xNN for a byte");
		return;
	case IBSA_SHOW_blob:
		ibsa__text_string(out, "1 to ");
		ibsa__text_dec(out, field->count);
		ibsa__text_string(out, " bytes of two hex digits each");
		return;
	case IBSA_SHOW_dec:
	case IBSA_SHOW_hex:
	case IBSA_SHOW_guid:
		ibsa__text_string(out, "a number from 0 to 0x");
		ibsa__text_hex(out, ~UINT64_C(0) >> (64 - field->nbits), 1);
		ibsa__text_string(out, ", decimal or after 0x hexadecimal");
		return;
	case IBSA_SHOW_lease:
		ibsa__text_string(out,
				  "seconds, up to 4294967294, or infinite");
		return;
	case IBSA_SHOW_rate:
		rates_list(out);
		return;
	default:
		codes_list(field, out);
	}
}

/* Whether a value is a rate, but lacks the unit. */
static bool is_rate_without_unit(const struct ibsa_field *field,
				 const char *value)
{
	const size_t len = strlen(value);

	for (uint64_t code = 0; code < 64 && field->show == IBSA_SHOW_rate;
	     code++) {
		const char *name = ibsa_code_name(IBSA_SHOW_rate, code);

		if (name && strncmp(name, value, len) == 0 && name[len] == 'G')
			return true;
	}
	return false;
}

int ibsa__selector_value_fail(const struct ibsa_field *field, int err,
			      const char *value, struct ibsa_error *error)
{
	const bool is_bytes = field->show == IBSA_SHOW_text ||
			      field->show == IBSA_SHOW_blob;
	const bool is_number = field->show == IBSA_SHOW_dec ||
			       field->show == IBSA_SHOW_hex ||
			       field->show == IBSA_SHOW_guid;
	struct ibsa__text takes = { .len = 0 };
	char text[sizeof(error->text)];

	if (is_rate_without_unit(field, value))
		return ibsa__fail(error, err,
				  "the value '%s' is not valid: a %s without a "
				  "unit is a code; type %sGb/s",
				  value, field->name, value);
	accepted_values_put(field, &takes);
	if (ibsa__text_done(&takes, text, sizeof(text)) < 0)
		text[0] = '\0';
	return ibsa__fail(error, err, "the value '%.*s' is %s; %s takes %s",
			  SELECTOR_SHOWN_MAX, value,
			  err != -ERANGE ? "not valid"
			  : is_bytes	 ? "too long"
			  : is_number	 ? "too large"
					 : "not valid",
			  field->name, text);
}
