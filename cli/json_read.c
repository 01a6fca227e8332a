/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads JSON as the command writes it: flat objects, in an array or by themselves. */
#include <stdint.h>
#include <string.h>

#include "json_read.h"

/* Where the reading is. Lines end only in blanks: a string has no line end. */
struct json_text {
	char *at;
	size_t line;
};

static void blanks_skip(struct json_text *text)
{
	for (;; text->at++) {
		const char c = *text->at;

		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			return;
		text->line += c == '\n';
	}
}

static bool char_take(struct json_text *text, char c)
{
	blanks_skip(text);
	if (*text->at != c)
		return false;
	text->at++;
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
static char *string_take(struct json_text *text)
{
	char *string;
	char *to;
	char *at;

	if (!char_take(text, '"'))
		return NULL;
	string = to = at = text->at;
	while (*at != '"') {
		if ((unsigned char)*at < ' ')
			return NULL;
		if (*at != '\\')
			*to++ = *at++;
		else if (++at, !escape_take(&at, &to))
			return NULL;
	}
	text->at = at + 1;
	*to = '\0';
	return string;
}

static bool word_take(struct json_text *text, const char *word)
{
	const size_t len = strlen(word);

	if (strncmp(text->at, word, len) != 0)
		return false;
	text->at += len;
	return true;
}

/*
 * A number or a string. The character after a number is returned in @next, as a NUL
 * takes its place.
 */
static bool value_take(struct json_text *text, char **out, char *next)
{
	size_t len;

	*next = '\0';
	*out = NULL;
	blanks_skip(text);
	if (*text->at == '"') {
		*out = string_take(text);
		return *out;
	}
	if (word_take(text, "null") || word_take(text, "true") ||
	    word_take(text, "false"))
		return true;
	len = strspn(text->at, "+-.0123456789eE");
	*out = text->at;
	text->at += len;
	*next = *text->at;
	return len > 0;
}

static int member_read(struct json_text *text, const struct json_reader *reader)
{
	const char *name = string_take(text);
	char *value;
	char next;
	int result;

	if (!name || !char_take(text, ':') || !value_take(text, &value, &next))
		return JSON_MALFORMED;
	if (next)
		*text->at = '\0';
	result = reader->member(name, value, reader->arg);
	if (next)
		*text->at = next;
	return result;
}

static int object_read(struct json_text *text, const struct json_reader *reader)
{
	int result = 0;

	if (!char_take(text, '{'))
		return JSON_MALFORMED;
	if (char_take(text, '}'))
		return reader->end(reader->arg);
	do
		result = member_read(text, reader);
	while (!result && char_take(text, ','));
	if (result)
		return result;
	return char_take(text, '}') ? reader->end(reader->arg) : JSON_MALFORMED;
}

static bool text_is_over(struct json_text *text)
{
	blanks_skip(text);
	return !*text->at;
}

static int objects_read(struct json_text *text,
			const struct json_reader *reader)
{
	const bool is_array = char_take(text, '[');
	int result = 0;

	if (is_array && char_take(text, ']'))
		return text_is_over(text) ? 0 : JSON_MALFORMED;
	do
		result = object_read(text, reader);
	while (!result &&
	       (is_array ? char_take(text, ',') : !text_is_over(text)));
	if (result)
		return result;
	if (is_array && !char_take(text, ']'))
		return JSON_MALFORMED;
	return text_is_over(text) ? 0 : JSON_MALFORMED;
}

int json_read(char *text, const struct json_reader *reader, size_t *out_line)
{
	struct json_text reading = { text, 1 };
	const int result = objects_read(&reading, reader);

	*out_line = reading.line;
	return result;
}
