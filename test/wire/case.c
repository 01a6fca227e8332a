/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads hex dumps, and lines such as "label.....value" that saquery prints. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "case.h"

static FILE *case_open(const char *dir, const char *name, const char *suffix)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, suffix);
	return fopen(path, "r");
}

static size_t hex_read(FILE *file, uint8_t *out)
{
	unsigned int byte;
	size_t len = 0;

	if (!file)
		return 0;
	while (len < CASE_BYTES && fscanf(file, "%2x", &byte) == 1)
		out[len++] = (uint8_t)byte;
	fclose(file);
	return len;
}

bool wire_case_read(const char *dir, const char *name, struct wire_case *out)
{
	FILE *text = case_open(dir, name, ".txt");
	size_t len = 0;

	snprintf(out->name, sizeof(out->name), "%s", name);
	out->request_len = hex_read(case_open(dir, name, ".req.hex"),
				    out->request);
	out->answer_len = hex_read(case_open(dir, name, ".rsp.hex"),
				   out->answer);
	if (text) {
		len = fread(out->text, 1, sizeof(out->text) - 1, text);
		fclose(text);
	}
	out->text[len] = '\0';
	return out->request_len != 0;
}

/* Return: the start of the dots between label and value. A label may contain
 * one dot; after a colon, one dot is enough. */
static size_t dots_find(const char *line, size_t len)
{
	for (size_t i = 1; i + 1 < len; i++) {
		if (line[i] != '.')
			continue;
		if (line[i + 1] == '.' || line[i - 1] == ':')
			return i;
	}
	return 0;
}

static void line_split(const char *line, size_t len, struct wire_line *out)
{
	size_t dots = dots_find(line, len);
	size_t value = dots;
	size_t label = dots;

	if (!dots) {
		snprintf(out->numbers, sizeof(out->numbers), "%.*s", (int)len,
			 line);
		return;
	}
	while (value < len && line[value] == '.')
		value++;
	if (line[label - 1] == ':')
		label--;
	snprintf(out->label, sizeof(out->label), "%.*s", (int)label, line);
	snprintf(out->value, sizeof(out->value), "%.*s", (int)(len - value),
		 line + value);
}

bool wire_line_next(const char **at, struct wire_line *out)
{
	static const char end[] = " dump:";
	const char *line = *at;
	size_t len = strcspn(line, "\n");

	if (!*line)
		return false;
	*at = line + len + (line[len] == '\n');
	memset(out, 0, sizeof(*out));
	out->starts_record =
		!isspace((unsigned char)*line) && len >= strlen(end) &&
		!memcmp(line + len - strlen(end), end, strlen(end));
	if (len && !strncmp(line, "SA ClassPortInfo:", len))
		out->starts_record = true;
	while (len && isspace((unsigned char)*line)) {
		line++;
		len--;
	}
	line_split(line, len, out);
	return true;
}
