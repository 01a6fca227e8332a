/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Comparison of a line of saquery's output with a decoded record. */
#ifndef TEST_WIRE_TEXT_H
#define TEST_WIRE_TEXT_H

#include <ibsa/records.h>

#include "case.h"

enum { WIRE_NUMBERS = 6 };

/*
 * Check a line of a table: the test fails if its numbers differ from @host.
 * @done, of WIRE_NUMBERS elements, counts this record's lines of each kind.
 * Return: 1 for such a line, else 0.
 */
unsigned int wire_numbers_check(const struct ibsa_record *record,
				const void *host, const char *numbers,
				unsigned int *done);

/* The test fails if the line differs from @host or cannot be parsed. */
void wire_line_check(const struct ibsa_record *record, const void *host,
		     const struct wire_line *line);

#endif
