/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the fields of records as cells of the output. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/selector.h"
#include "output/codes.h"
#include "output/fields.h"

enum { NAME_ROOM = 64 }; /* for any field's name */

/*
 * Whether the JSON output has the field as a number. Many JSON readers store
 * numbers as doubles, which hold only 53 bits; fields of 64 bits are strings.
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
		return field->nbits < 64 && !codes_is_pkey(field);
	}
}

/*
 * One value of a field, as a cell of each row. @code is the code in the
 * previous row, and @meaning is its meaning: most rows have the code of the
 * previous row.
 */
struct cell {
	const struct ibsa_field *field;
	struct out_name name;
	struct out_name meaning_name;
	struct out_name quantity_name;
	const char *meaning;
	uint64_t code;
	unsigned int index;
	bool is_number;
	bool is_code;
	bool has_code; /* @code is set */
	char meaning_room[CODE_TEXT];
	char name_room[NAME_ROOM];
	char meaning_name_room[NAME_ROOM + sizeof("_text")];
	char quantity_name_room[NAME_ROOM + sizeof("_bytes")];
};

static void quantity_init(struct cell *cell, const char *name)
{
	const char *suffix = codes_quantity_suffix(cell->field);
	char *room = cell->quantity_name_room;

	cell->quantity_name = (struct out_name){ .len = 0 };
	if (!suffix)
		return;
	snprintf(room, sizeof(cell->quantity_name_room), "%s%s", name, suffix);
	cell->quantity_name = (struct out_name){ room, strlen(room) };
}

/*
 * @name: the name of the cell; NULL: the name of the field, or of its value
 * @index if it has several.
 */
static void cell_init(struct cell *cell, const char *name,
		      const struct ibsa_field *field, unsigned int index)
{
	char *meaning_name = cell->meaning_name_room;

	if (!name && ibsa_field_values(field) > 1 &&
	    ibsa_field_name_format(field, index, cell->name_room, NAME_ROOM) >=
		    0)
		name = cell->name_room;
	else if (!name)
		name = field->name;
	cell->field = field;
	cell->index = index;
	cell->name = (struct out_name){ name, strlen(name) };
	cell->is_number = is_number(field);
	cell->is_code = codes_has_text(field);
	cell->has_code = false;
	if (!cell->is_code)
		return;
	snprintf(meaning_name, sizeof(cell->meaning_name_room), "%s_text",
		 name);
	cell->meaning_name = (struct out_name){ meaning_name,
						strlen(meaning_name) };
	quantity_init(cell, name);
}

static const char *cell_meaning(struct cell *cell, uint64_t code)
{
	if (!cell->has_code || cell->code != code)
		cell->meaning = codes_text(cell->field, code,
					   cell->meaning_room);
	cell->has_code = true;
	cell->code = code;
	return cell->meaning;
}

static void quantity_put(struct out *out, const struct cell *cell,
			 uint64_t code)
{
	char room[CODE_TEXT];
	const char *text;

	if (!cell->quantity_name.len)
		return;
	text = codes_quantity(cell->field, code, room);
	out_named(out, &cell->quantity_name,
		  &(struct out_cell){ text ? OUT_DECIMAL : OUT_NONE, 0, text });
}

static void cell_put(struct out *out, struct cell *cell, const void *host)
{
	const uint64_t number = ibsa_field_get(cell->field, cell->index, host);
	char text[IBSA_VALUE_TEXT];
	const char *meaning;

	text[0] = '\0';
	if ((!cell->is_number || out_has_text(out)) &&
	    ibsa_field_format(cell->field, cell->index, host, text,
			      sizeof(text)) < 0)
		return;
	out_named(out, &cell->name,
		  &(struct out_cell){ cell->is_number ? OUT_NUMBER : OUT_TEXT,
				      number, text });
	if (!cell->is_code || !out_is_data(out))
		return;
	meaning = cell_meaning(cell, number);
	out_named(out, &cell->meaning_name,
		  &(struct out_cell){ meaning ? OUT_TEXT : OUT_NONE, 0,
				      meaning });
	quantity_put(out, cell, number);
}

static void one_value(struct out *out, const char *name,
		      const struct ibsa_field *field, unsigned int index,
		      const void *host)
{
	struct cell cell;

	cell_init(&cell, name, field, index);
	cell_put(out, &cell, host);
}

void fields_field(struct out *out, const struct ibsa_field *field,
		  const void *host)
{
	for (unsigned int i = 0; i < ibsa_field_values(field); i++)
		one_value(out, NULL, field, i, host);
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
	err = ibsa__selector_parse(record, text, host, &mask->all, error);
	if (err)
		return err;
	mask->implied |= mask->all & ~before & ~own;
	mask->implied &= ~own;
	return 0;
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

/*
 * Return: a record that has each bit which is set in at least one record of
 * the reply.
 */
static union fields_host fields_union(const struct ibsa_reply *reply)
{
	union fields_host all = { 0 };
	union fields_host host;

	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &host,
				      reply->record->host_size) != 0)
			continue;
		for (size_t k = 0; k < reply->record->host_size; k++)
			((uint8_t *)&all)[k] |= ((const uint8_t *)&host)[k];
	}
	return all;
}

bool fields_hidden(const struct ibsa_reply *reply, char *out, size_t size)
{
	const struct ibsa_record *record = reply->record;
	const union fields_host all = fields_union(reply);
	char name[NAME_ROOM];
	size_t len = 0;

	out[0] = '\0';
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];

		for (unsigned int k = 0; k < ibsa_field_values(field); k++) {
			if (ibsa_field_name_format(field, k, name,
						   sizeof(name)) < 0 ||
			    is_brief(record, name) || is_zero(field, k, &all))
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

/* The rows of a reply, and the cells of each. */
struct rows {
	const struct ibsa_reply *reply;
	size_t count;
	struct cell cells[OUT_COLUMNS];
};

static void rows_add(struct rows *rows, const struct ibsa_field *field,
		     unsigned int index)
{
	if (rows->count < OUT_COLUMNS)
		cell_init(&rows->cells[rows->count++], NULL, field, index);
}

/*
 * Add the cells of the view with one line per record: the fields that the
 * record type lists for it.
 */
static void rows_add_brief(struct rows *rows, const struct ibsa_record *record)
{
	char name[NAME_ROOM];
	unsigned int index;

	for (const char *at = record->brief; *at;) {
		const int len = (int)strcspn(at, ",");
		const struct ibsa_field *field;

		snprintf(name, sizeof(name), "%.*s", len, at);
		field = ibsa_field_find(record, name, &index);
		if (field)
			rows_add(rows, field, index);
		at += len;
		at += *at == ',';
	}
}

static void row_put(struct out *out, size_t index, void *arg)
{
	struct rows *rows = arg;
	union fields_host host;

	if (ibsa_reply_decode(rows->reply, index, &host,
			      rows->reply->record->host_size) != 0)
		return;
	for (size_t i = 0; i < rows->count; i++)
		cell_put(out, &rows->cells[i], &host);
}

void fields_reply(struct out *out, const struct ibsa_reply *reply)
{
	const struct ibsa_record *record = reply->record;
	struct rows rows;

	rows.reply = reply;
	rows.count = 0;
	if (out_is_brief(out)) {
		rows_add_brief(&rows, record);
	} else {
		for (unsigned int i = 0; i < record->field_count; i++)
			for (unsigned int k = 0;
			     k < ibsa_field_values(&record->fields[i]); k++)
				rows_add(&rows, &record->fields[i], k);
	}
	out_rows(out, reply->count, row_put, &rows);
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

void fields_guid_or_none(struct out *out, const char *name, uint64_t guid)
{
	if (guid)
		fields_guid(out, name, guid);
	else
		out_none(out, name);
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
