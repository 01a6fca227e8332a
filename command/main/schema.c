/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: schema COMMAND
 *
 * Writes the JSON Schema of a command's output, from the tables of columns.
 * This program runs during the build.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/codes.h"
#include "main/command_list.h"
#include "options/options.h"
#include "output/columns.h"

/* Whether a definition was written before. */
static bool has_definition;

static void put_type(const char *type, bool can_be_none)
{
	if (can_be_none)
		printf("\"type\": [\"%s\", \"null\"]", type);
	else
		printf("\"type\": \"%s\"", type);
}

static void put_pattern(const char *pattern)
{
	printf(", \"pattern\": \"^%s$\"", pattern);
}

/*
 * Write a list of the texts that are separated by '|' in @words. A '|' at the
 * beginning of @words is skipped.
 */
static void put_words(const char *words, bool can_be_none)
{
	printf("\"enum\": [");
	words += *words == '|';
	while (*words) {
		const size_t len = strcspn(words, "|");

		printf("\"%.*s\"", (int)len, words);
		words += len;
		if (*words)
			words++;
		printf(*words || can_be_none ? ", " : "");
	}
	printf(can_be_none ? "null]" : "]");
}

/*
 * Write the possible meanings of a code; the meaning of an unknown code is
 * null.
 */
static void put_meanings(const struct ibsa_field *field)
{
	char out[CODE_TEXT];

	printf("\"enum\": [");
	for (uint64_t code = 0; code >> field->nbits == 0; code++) {
		const char *text = codes_text(field, code, out);

		if (text)
			printf("\"%s\", ", text);
	}
	printf("null]");
}

static unsigned int field_bits(const struct ibsa_field *field,
			       const struct column *column)
{
	if (column->has_long_lids && (strcmp(field->name, "slid") == 0 ||
				      strcmp(field->name, "dlid") == 0))
		return 32;
	return field->nbits;
}

static void put_number(const struct ibsa_field *field,
		       const struct column *column)
{
	put_type("integer", column->can_be_none);
	printf(", \"minimum\": 0, \"maximum\": %" PRIu64,
	       ~UINT64_C(0) >> (64 - field_bits(field, column)));
}

/* Write the schema of a record's field: numbers of 64 bits are strings. */
static void put_field(const struct ibsa_field *field,
		      const struct column *column)
{
	char pattern[64];

	if (field->show != IBSA_SHOW_gid && field->show != IBSA_SHOW_guid &&
	    field->show != IBSA_SHOW_text && field->show != IBSA_SHOW_blob &&
	    field->show != IBSA_SHOW_vl_weight && field->nbits < 64 &&
	    !codes_is_pkey(field)) {
		put_number(field, column);
		return;
	}
	put_type("string", column->can_be_none);
	snprintf(pattern, sizeof(pattern), "[0-9a-f]{%u}", 2 * field->count);
	if (field->show == IBSA_SHOW_gid)
		put_pattern("[0-9a-f:.]{2,45}");
	else if (codes_is_pkey(field))
		put_pattern("0x[0-9a-f]{4}");
	else if (field->show == IBSA_SHOW_vl_weight)
		put_pattern("[0-9]+:[0-9]+");
	else if (field->show == IBSA_SHOW_blob)
		put_pattern(pattern);
	else if (field->show == IBSA_SHOW_dec)
		put_pattern("[0-9]+");
	else if (field->show != IBSA_SHOW_text)
		put_pattern("0x[0-9a-f]{16}");
}

static void put_column(const struct column *column)
{
	if (column->words) {
		put_words(column->words, column->can_be_none);
		return;
	}
	if (column->kind == COLUMN_DECIMAL) {
		put_type("number", column->can_be_none);
		return;
	}
	if (column->kind == COLUMN_NUMBER) {
		put_type("integer", column->can_be_none);
		printf(", \"minimum\": 0");
		return;
	}
	put_type("string", column->can_be_none);
	if (column->kind == COLUMN_GID)
		put_pattern("[0-9a-f:.]{2,45}");
	else if (column->kind == COLUMN_GUID)
		put_pattern("0x[0-9a-f]{16}");
	else if (column->kind == COLUMN_IPV4)
		put_pattern("[0-9]{1,3}([.][0-9]{1,3}){3}");
	else if (column->kind == COLUMN_RATE)
		put_pattern("[0-9.]+ Gb/sec.*");
	else if (column->kind == COLUMN_TIME)
		put_pattern("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:"
			    "[0-9]{2}(\\\\.[0-9]+)?Z");
}

/*
 * Begin an item of a list: write a comma unless it is the first; @arg counts
 * the items.
 */
static void put_comma(void *arg)
{
	size_t *count = arg;

	printf((*count)++ > 0 ? ", " : "");
}

static void put_required(const struct cell_type *type, void *arg)
{
	put_comma(arg);
	printf("\"%s\"", type->name);
}

static void put_property(const struct cell_type *type, void *arg)
{
	size_t *count = arg;

	printf((*count)++ > 0 ? ",\n" : "\n");
	printf("          \"%s\": {", type->name);
	if (type->is_meaning)
		put_meanings(type->field);
	else if (type->is_quantity)
		put_type("number", true);
	else if (type->field)
		put_field(type->field, type->column);
	else
		put_column(type->column);
	printf("}");
}

/*
 * If a column has a value only in certain rows, write this condition for the
 * cell @type into the schema.
 */
static void put_condition(const struct cell_type *type, void *arg)
{
	const char *words = type->column->words_of_no;

	(void)arg;
	if (!words)
		return;
	printf(",\n        \"if\": {\"properties\": {\"reach\": {\"const\": "
	       "\"no\"}}},\n        \"then\": {\"properties\": {\"%s\": {",
	       type->name);
	put_words(words, true);
	printf("}}}");
}

static void put_definition(const char *name, const struct columns *columns)
{
	size_t required = 0;
	size_t properties = 0;

	printf(has_definition ? ",\n" : "\n");
	has_definition = true;
	printf("    \"%s\": {\n", name);
	if (!columns->is_stream)
		printf("      \"type\": \"array\",\n      \"items\": {\n");
	printf("        \"type\": \"object\",\n        \"required\": [");
	columns_each(columns, put_required, &required);
	printf("],\n        \"properties\": {");
	columns_each(columns, put_property, &properties);
	printf("\n        },\n        \"additionalProperties\": false");
	columns_each(columns, put_condition, NULL);
	printf("\n");
	printf(columns->is_stream ? "    }" : "      }\n    }");
}

typedef void (*definition_fn)(const char *name, const struct columns *columns);

/*
 * Call @done for each kind of row that the command writes. Return: the number
 * of kinds.
 */
static size_t each_definition(const char *name, definition_fn done)
{
	const struct command *command = command_find(commands, name);
	const struct columns *const *columns = command ? command->columns
						       : NULL;
	const struct ibsa_record *record;
	size_t count = 0;

	for (; columns && *columns; columns++, count++)
		done((*columns)->name, *columns);
	for (unsigned int i = 0;
	     strcmp(name, "query") == 0 && (record = ibsa_record_at(i)); i++) {
		const struct column column = column_of_record(record);
		const struct columns one = { "query", &column, 1 };

		if (record->reply != record)
			continue;
		done(record->name, &one);
		count++;
	}
	return count;
}

static void put_reference(const char *name, const struct columns *columns)
{
	(void)columns;
	printf(has_definition ? ",\n" : "\n");
	has_definition = true;
	printf("    {\"$ref\": \"#/$defs/%s\"}", name);
}

int main(int argc, char **argv)
{
	size_t count;

	if (argc != 2) {
		fprintf(stderr, "usage: schema COMMAND\n");
		return 2;
	}
	printf("{\n  \"$schema\": "
	       "\"https://json-schema.org/draft/2020-12/schema\",\n"
	       "  \"title\": \"ibsa -j %s\",\n  \"anyOf\": [",
	       argv[1]);
	count = each_definition(argv[1], put_reference);
	printf("\n  ],\n  \"$defs\": {");
	has_definition = false;
	each_definition(argv[1], put_definition);
	printf("\n  }\n}\n");
	return count == 0 || fflush(stdout) != 0;
}
