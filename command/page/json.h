/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes JSON (RFC 8259) that is valid inside a script element of HTML,
 * whatever the texts contain.
 */
#ifndef COMMAND_PAGE_JSON_H
#define COMMAND_PAGE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * @needs_comma: a comma must precede the next value, because a value precedes
 * it in the same object or array.
 */
struct page_json {
	FILE *file;
	bool needs_comma;
};

/*
 * Each function writes one value. @name is the member's name in an object,
 * which has lower-case letters and '_' only; NULL in an array.
 */
void page_open(struct page_json *json, const char *name, char bracket);
void page_close(struct page_json *json, char bracket);
void page_number(struct page_json *json, const char *name, uint64_t number);
void page_null(struct page_json *json, const char *name);

/* A text from outside, cleaned by ibsa__text_clean(). */
void page_text(struct page_json *json, const char *name, const char *text);

/* A text of 0x and this number of digits. */
void page_hex(struct page_json *json, const char *name, uint64_t number,
	      int digits);

#endif
