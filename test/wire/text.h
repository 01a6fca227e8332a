/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One line that saquery printed, checked against a decoded record. */
#ifndef TEST_WIRE_TEXT_H
#define TEST_WIRE_TEXT_H

#include <ibsa/record.h>

#include "case.h"

enum { WIRE_NUMBERS = 6 };

/*
 * A line of a table: fails the test if its numbers are not @host's. Counts in
 * @done, of WIRE_NUMBERS, the lines of this record of each kind. Return: 1 if
 * it was such a line, else 0.
 */
unsigned int wire_numbers_check(const struct ibsa_record *record,
				const void *host, const char *numbers,
				unsigned int *done);

/* Fails the test if the line says other than @host, or is not understood. */
void wire_line_check(const struct ibsa_record *record, const void *host,
		     const struct wire_line *line);

#endif
