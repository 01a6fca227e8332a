/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads JSON as the command writes it: flat objects, in an array or by themselves. */
#include <stdint.h>
#include <string.h>

#include "json_read.h"

static void blanks_skip(char **at)
{
	*at += strspn(*at, " \t\r\n");
}

static bool char_take(char **at, char c)
{
	blanks_skip(at);
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* Four hexadecimal digits. Return: false: there are none. */
static bool hex_take(char **at, uint32_t *out)
{
	static const char digits[] = "0123456789abcdef";

	*out = 0;
	for (int i = 0; i < 4; i++) {
		const char lower = **at >= 'A' && **at <= 'F' ? **at + 32
							      : **at;
		const char *digit = lower ? strchr(digits, lower) : NULL;

		if (!digit)
			return false;
		*out = *out << 4 | (uint32_t)(digit - digits);
		++*at;
	}
	return true;
}

/* Write a character as UTF-8. Return: the end. */
static char *utf8_put(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/* A character after \u; a surrogate pair is one. A NUL is not accepted. */
static bool unicode_take(char **at, uint32_t *out)
{
	uint32_t low;

	if (!hex_take(at, out) || !*out)
		return false;
	if (*out >= 0xd800 && *out < 0xdc00) {
		if ((*at)[0] != '\\' || (*at)[1] != 'u')
			return false;
		*at += 2;
		if (!hex_take(at, &low) || low < 0xdc00 || low > 0xdfff)
			return false;
		*out = 0x10000 + ((*out - 0xd800) << 10 | (low - 0xdc00));
		return true;
	}
	return *out < 0xdc00 || *out > 0xdfff;
}

static bool escape_take(char **at, char **to)
{
	static const char names[] = "\"\\/bfnrt";
	static const char meanings[] = "\"\\/\b\f\n\r\t";
	const char c = *(*at)++;
	const char *name = c ? strchr(names, c) : NULL;
	uint32_t unicode;

	if (name) {
		*(*to)++ = meanings[name - names];
		return true;
	}
	if (c != 'u' || !unicode_take(at, &unicode))
		return false;
	*to = utf8_put(*to, unicode);
	return true;
}

/* A string, converted in place: it does not become longer. */
static char *string_take(char **at)
{
	char *text;
	char *to;

	if (!char_take(at, '"'))
		return NULL;
	text = to = *at;
	while (**at != '"') {
		if ((unsigned char)**at < ' ')
			return NULL;
		if (**at != '\\')
			*to++ = *(*at)++;
		else if (++*at, !escape_take(at, &to))
			return NULL;
	}
	++*at;
	*to = '\0';
	return text;
}

static bool word_take(char **at, const char *word)
{
	const size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/*
 * A number or a string. The character after a number is returned in @next, as a NUL
 * takes its place.
 */
static bool value_take(char **at, char **out, char *next)
{
	size_t len;

	*next = '\0';
	*out = NULL;
	blanks_skip(at);
	if (**at == '"') {
		*out = string_take(at);
		return *out;
	}
	if (word_take(at, "null") || word_take(at, "true") ||
	    word_take(at, "false"))
		return true;
	len = strspn(*at, "+-.0123456789eE");
	*out = *at;
	*at += len;
	*next = **at;
	return len > 0;
}

static int member_read(char **at, const struct json_reader *reader)
{
	const char *name = string_take(at);
	char *value;
	char next;
	int result;

	if (!name || !char_take(at, ':') || !value_take(at, &value, &next))
		return JSON_MALFORMED;
	if (next)
		**at = '\0';
	result = reader->member(name, value, reader->arg);
	if (next)
		**at = next;
	return result;
}

static int object_read(char **at, const struct json_reader *reader)
{
	int result = 0;

	if (!char_take(at, '{'))
		return JSON_MALFORMED;
	if (char_take(at, '}'))
		return reader->end(reader->arg);
	do
		result = member_read(at, reader);
	while (!result && char_take(at, ','));
	if (result)
		return result;
	return char_take(at, '}') ? reader->end(reader->arg) : JSON_MALFORMED;
}

static int objects_read(char **at, const struct json_reader *reader)
{
	const bool is_array = char_take(at, '[');
	int result = 0;

	blanks_skip(at);
	if (is_array && char_take(at, ']')) {
		blanks_skip(at);
		return **at ? JSON_MALFORMED : 0;
	}
	do {
		result = object_read(at, reader);
		blanks_skip(at);
	} while (!result && (is_array ? char_take(at, ',') : **at == '{'));
	if (!result && is_array && !char_take(at, ']'))
		return JSON_MALFORMED;
	blanks_skip(at);
	return !result && **at ? JSON_MALFORMED : result;
}

int json_read(char *text, const struct json_reader *reader, size_t *out_line)
{
	size_t lines = 1;
	char *counted = text;
	char *at = text;
	int result;

	/* Count first: strings are converted in place. */
	for (; *counted; counted++)
		lines += *counted == '\n';
	result = objects_read(&at, reader);
	for (; *at; at++)
		lines -= *at == '\n';
	*out_line = lines;
	return result;
}
