/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a file or standard input line by line, with limits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "base/lines.h"

/* The byte order mark, which some editors write at the start of a file. */
static const char utf8_mark[] = "\xef\xbb\xbf";

int lines_open(struct lines *lines, const char *option, const char *path,
	       unsigned int timeout_ms)
{
	struct ibsa_error error;

	*lines = (struct lines){ .file = NULL };
	if (file_read(path, timeout_ms, &error, &lines->whole) == 0)
		return CLI_DONE;
	return fail_usage("%s: %s", option, error.text);
}

void lines_close(struct lines *lines)
{
	free(lines->whole.text);
}

static int byte_read(struct lines *lines)
{
	const size_t at = lines->size++;

	if (!lines->file)
		return at < lines->whole.len
			       ? (unsigned char)lines->whole.text[at]
			       : EOF;
	if (at < (size_t)LINES_MB << 20)
		return getc_unlocked(lines->file);
	lines->err = -EFBIG;
	return EOF;
}

/*
 * Read a line into @text, or its beginning if it is too long. Return: its
 * length in @text; -1 at the end and after an error.
 */
static ssize_t line_read(struct lines *lines, bool *out_is_cut)
{
	size_t len = 0;
	int next = byte_read(lines);

	*out_is_cut = false;
	if (next == EOF)
		return -1;
	for (; next != EOF && next != '\n'; next = byte_read(lines)) {
		*out_is_cut = len == LINE_BYTES;
		if (!*out_is_cut)
			lines->text[len++] = (char)next;
	}
	lines->text[len] = '\0';
	return lines->err ? -1 : (ssize_t)len;
}

char *lines_next(struct lines *lines, const char **out_why)
{
	char *text = lines->text;
	bool is_cut;
	ssize_t len = lines->err ? -1 : line_read(lines, &is_cut);

	*out_why = NULL;
	if (len < 0) {
		if (lines->file && !lines->err && ferror(lines->file))
			lines->err = errno ? -errno : -EIO;
		return NULL;
	}
	lines->number++;
	if (strlen(text) != (size_t)len)
		*out_why = "there is a NUL byte in it";
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	if (lines->number == 1 && strncmp(text, utf8_mark, 3) == 0)
		text += 3;
	text += strspn(text, " \t");
	if (*text == '#')
		*text = '\0';
	if (*text && is_cut)
		*out_why = "it is too long";
	return text;
}

const char *lines_error_text(const struct lines *lines)
{
	return lines->err == -EFBIG ? "it has more than 256 MB"
				    : strerror(-lines->err);
}
