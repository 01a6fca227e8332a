/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A captured request and response from test/data/vectors, and the lines of
 * saquery's text. */
#ifndef TEST_WIRE_CASE_H
#define TEST_WIRE_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CASE_BYTES = 8192, CASE_TEXT = 200 * 1024 };

struct wire_case {
	char name[64];
	uint8_t request[CASE_BYTES];
	uint8_t answer[CASE_BYTES];
	size_t request_len;
	size_t answer_len;    /* 0: no response */
	char text[CASE_TEXT]; /* saquery's output; may be empty */
};

/* One line of the text. */
struct wire_line {
	bool starts_record; /* "PathRecord dump:" */
	/* Label of the line, such as "dgid"; empty if the line has no value. */
	char label[64];
	char value[200]; /* "fe80::1" */
	/*
	 * The numbers in a line of a table, such as "SL: 0| 1|"; empty for
	 * other lines.
	 */
	char numbers[200];
};

/*
 * Read the captured case @name in the directory @dir. Return: false if it has
 * no request.
 */
bool wire_case_read(const char *dir, const char *name, struct wire_case *out);

/*
 * Read the line of text at *@at and move *@at to the next one. Return: false
 * at the end of the text.
 */
bool wire_line_next(const char **at, struct wire_line *out);

#endif
