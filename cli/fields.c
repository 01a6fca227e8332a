/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the fields of records as cells of the output. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "codes.h"
#include "fields.h"

enum { NAME_ROOM = 64 }; /* for any field's name */

/*
 * Whether the JSON output has the field as a number. Many JSON readers store
 * numbers as doubles, which hold only 53 bits; larger fields are strings.
 */
static bool is_number(const struct ibsa_field *field)
{
	switch (field->show) {
	case IBSA_SHOW_gid:
	case IBSA_SHOW_guid:
	case IBSA_SHOW_text:
	case IBSA_SHOW_blob:
	case IBSA_SHOW_vl_weight:
		return false;
	default:
		return field->nbits < 64;
	}
}

static void one_value(struct out *out, const char *name,
		      const struct ibsa_field *field, unsigned int index,
		      const void *host)
{
	const uint64_t number = ibsa_field_get(field, index, host);
	const bool has_number = is_number(field);
	char text[IBSA_VALUE_TEXT];
	char meaning[CODE_TEXT];

	text[0] = '\0';
	if ((!has_number || out_has_text(out)) &&
	    ibsa_field_format(field, index, host, text, sizeof(text)) < 0)
		return;
	if (codes_has_text(field))
		out_code(out, name, number, text,
			 codes_text(field, number, meaning));
	else if (has_number)
		out_number(out, name, number, text);
	else
		out_text(out, name, text);
}

void fields_field(struct out *out, const struct ibsa_field *field,
		  const void *host)
{
	unsigned int values = ibsa_field_values(field);
	char name[NAME_ROOM];

	if (values == 1) {
		one_value(out, field->name, field, 0, host);
		return;
	}
	for (unsigned int i = 0; i < values; i++)
		if (ibsa_field_name(field, i, name, sizeof(name)) >= 0)
			one_value(out, name, field, i, host);
}

void fields_named_as(struct out *out, const char *as,
		     const struct ibsa_record *record, const char *name,
		     const void *host)
{
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(record, name, &index);

	if (field)
		one_value(out, as, field, index, host);
}

void fields_named(struct out *out, const struct ibsa_record *record,
		  const char *name, const void *host)
{
	fields_named_as(out, name, record, name, host);
}

size_t fields_name_len(const char *text)
{
	return strcspn(text, "=<>");
}

const struct ibsa_field *fields_find(const struct ibsa_record *record,
				     const char *text, unsigned int *index)
{
	char name[NAME_ROOM];

	snprintf(name, sizeof(name), "%.*s", (int)fields_name_len(text), text);
	return ibsa_field_find(record, name, index);
}

int fields_select(const struct ibsa_record *record, const char *text,
		  void *host, struct fields_mask *mask,
		  struct ibsa_error *error)
{
	unsigned int index;
	const struct ibsa_field *field = fields_find(record, text, &index);
	const uint64_t own = field ? ibsa_field_cm(field, index) : 0;
	const uint64_t before = mask->all;
	int err;

	if (before & own & ~mask->implied) {
		snprintf(error->text, sizeof(error->text),
			 "%.*s is given twice; it takes one value",
			 (int)fields_name_len(text), text);
		return -EINVAL;
	}
	err = ibsa_selector_parse(record, text, host, &mask->all, error);
	if (err)
		return err;
	mask->implied |= mask->all & ~before & ~own;
	mask->implied &= ~own;
	return 0;
}

/*
 * Write the fields in a comma-separated list, for the view with one line for
 * each record.
 */
static void brief(struct out *out, const struct ibsa_record *record,
		  const void *host)
{
	char name[NAME_ROOM];

	for (const char *at = record->brief; *at;) {
		size_t len = strcspn(at, ",");

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			name[len] = '\0';
			fields_named(out, record, name, host);
		}
		at += len;
		at += *at == ',';
	}
}

static bool is_brief(const struct ibsa_record *record, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = record->brief; *at;) {
		const size_t word = strcspn(at, ",");

		if (word == len && memcmp(at, name, len) == 0)
			return true;
		at += word;
		at += *at == ',';
	}
	return false;
}

/*
 * Whether a field's value is zero. Text, bytes and GIDs are zero if all their
 * bytes are zero.
 */
static bool is_zero(const struct ibsa_field *field, unsigned int index,
		    const void *host)
{
	const unsigned char *at = (const unsigned char *)host +
				  field->host_offset;
	size_t len = field->count;

	switch (field->show) {
	case IBSA_SHOW_gid:
		len = sizeof(struct ibsa_gid);
		at += index * len;
		break;
	case IBSA_SHOW_text:
	case IBSA_SHOW_blob:
		break;
	default:
		return ibsa_field_get(field, index, host) == 0;
	}
	while (len > 0 && at[len - 1] == 0)
		len--;
	return len == 0;
}

static bool is_hidden(const struct ibsa_reply *reply,
		      const struct ibsa_field *field, unsigned int index,
		      const char *name)
{
	union fields_host host;

	if (is_brief(reply->record, name))
		return false;
	for (size_t i = 0; i < reply->count; i++)
		if (ibsa_reply_decode(reply, i, &host) == 0 &&
		    !is_zero(field, index, &host))
			return true;
	return false;
}

bool fields_hidden(const struct ibsa_reply *reply, char *out, size_t size)
{
	const struct ibsa_record *record = reply->record;
	char name[NAME_ROOM];
	size_t len = 0;

	out[0] = '\0';
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		for (unsigned int k = 0; k < ibsa_field_values(field); k++) {
			if (ibsa_field_name(field, k, name, sizeof(name)) < 0 ||
			    !is_hidden(reply, field, k, name))
				continue;
			if (len + strlen(name) + sizeof(", ...") > size) {
				snprintf(out + len, size - len, ", ...");
				return true;
			}
			len += (size_t)snprintf(out + len, size - len, "%s%s",
						len ? ", " : "", name);
		}
	}
	return len > 0;
}

void fields_row(struct out *out, size_t index, void *arg)
{
	const struct ibsa_reply *reply = arg;
	const struct ibsa_record *record = reply->record;
	union fields_host host;

	if (ibsa_reply_decode(reply, index, &host) != 0)
		return;
	if (out_is_brief(out)) {
		brief(out, record, &host);
		return;
	}
	for (unsigned int i = 0; i < record->field_count; i++)
		fields_field(out, &record->fields[i], &host);
}

const char *fields_text(const struct ibsa_record *record, const char *name,
			const void *host, char out[IBSA_VALUE_TEXT])
{
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(record, name, &index);

	if (!field ||
	    ibsa_field_format(field, index, host, out, IBSA_VALUE_TEXT) < 0)
		return "?";
	return out;
}

const char *fields_clean(const char *text, char out[IBSA_VALUE_TEXT])
{
	struct ibsa_node node = { 0 };
	size_t len = strnlen(text, sizeof(node.node_description) - 1);

	memcpy(node.node_description, text, len);
	return fields_text(&ibsa_node_record, "node_description", &node, out);
}

void fields_text_or_none(struct out *out, const char *name, const char *text)
{
	char clean[IBSA_VALUE_TEXT];

	out_text_or_none(out, name, text ? fields_clean(text, clean) : NULL);
}

void fields_gid(struct out *out, const char *name, const struct ibsa_gid *gid)
{
	char text[IBSA_GID_TEXT];

	if (ibsa_gid_format(gid, text, sizeof(text)) >= 0)
		out_text(out, name, text);
}

void fields_guid(struct out *out, const char *name, uint64_t guid)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	out_text(out, name, text);
}

uint64_t fields_gid_guid(const struct ibsa_gid *gid)
{
	return ibsa_be64(gid->raw + 8);
}

struct ibsa_gid fields_guid_gid(const struct ibsa_gid *prefix, uint64_t guid)
{
	struct ibsa_gid gid = *prefix;

	ibsa_put_be64(gid.raw + 8, guid);
	return gid;
}
