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
	char label[64];	    /* "dgid"; empty if the line has no value */
	char value[200];    /* "fe80::1" */
	char numbers[200];  /* for a line of a table: "SL: 0| 1|"; else empty */
};

/* Read the case @name in @dir. Return: false if it has no request. */
bool wire_case_read(const char *dir, const char *name, struct wire_case *out);

/* Read the line at *@at and step past it. Return: false at the end. */
bool wire_line_next(const char **at, struct wire_line *out);

#endif
