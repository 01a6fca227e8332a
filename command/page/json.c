/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes JSON that is valid inside a script element of HTML. */
#include <inttypes.h>
#include <string.h>

#include "common/clean.h"
#include "page/page.h"

enum { PART_BYTES = 512 };

static void value_start(struct page_json *json, const char *name)
{
	if (json->needs_comma)
		putc(',', json->file);
	if (name)
		fprintf(json->file, "\"%s\":", name);
	json->needs_comma = true;
}

void page_open(struct page_json *json, const char *name, char bracket)
{
	value_start(json, name);
	putc(bracket, json->file);
	json->needs_comma = false;
}

void page_close(struct page_json *json, char bracket)
{
	putc(bracket, json->file);
	json->needs_comma = true;
}

void page_number(struct page_json *json, const char *name, uint64_t number)
{
	value_start(json, name);
	fprintf(json->file, "%" PRIu64, number);
}

void page_null(struct page_json *json, const char *name)
{
	value_start(json, name);
	fputs("null", json->file);
}

/*
 * A '<' must be escaped: it could end the script element, or begin a comment in
 * this element. Characters that end a line in JavaScript are replaced by
 * ibsa__text_clean().
 */
static void part_put(FILE *file, const char *part)
{
	for (; *part; part++) {
		if (strchr("\"\\<>&", *part))
			fprintf(file, "\\u%04x", (unsigned char)*part);
		else
			putc(*part, file);
	}
}

void page_text(struct page_json *json, const char *name, const char *text)
{
	char part[PART_BYTES];

	value_start(json, name);
	putc('"', json->file);
	while (ibsa__text_clean(&text, part, sizeof(part)))
		part_put(json->file, part);
	putc('"', json->file);
}

void page_hex(struct page_json *json, const char *name, uint64_t number,
	      int digits)
{
	value_start(json, name);
	fprintf(json->file, "\"0x%0*" PRIx64 "\"", digits, number);
}
