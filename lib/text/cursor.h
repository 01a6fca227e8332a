/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A position in a line of text, and functions that parse the text from there.
 */
#ifndef TEXT_CURSOR_H
#define TEXT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const char *at;
	const char *end;
};

struct slice {
	const char *text;
	size_t len;
};

static inline bool cursor_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

void ibsa__cursor_skip_blanks(struct cursor *line);

/* If the text continues with @word, skip it. Return: whether it does. */
static inline bool cursor_take(struct cursor *line, const char *word)
{
	const size_t len = strlen(word);

	if ((size_t)(line->end - line->at) < len || memcmp(line->at, word, len))
		return false;
	line->at += len;
	return true;
}

/*
 * Parse a number at the cursor. Base 0: decimal, or hexadecimal after 0x.
 * Return: false: there is no number, or it has more than 64 bits; the cursor
 * does not move.
 */
bool ibsa__cursor_number(struct cursor *line, int base, uint64_t *out);

/* Parse a text in quotes. */
bool ibsa__cursor_quoted(struct cursor *line, struct slice *out);

/*
 * If the rest of the line contains @word at its start or after a blank, move
 * the cursor behind it. Return: whether it does.
 */
bool ibsa__cursor_find(struct cursor *line, const char *word);

#endif
