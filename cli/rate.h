/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rates of ports, and the limit of --rate. */
#ifndef CLI_RATE_H
#define CLI_RATE_H

#include <stdbool.h>
#include <stddef.h>

/* Rates are in tenths of Gb/s: single data rate, one lane, is 2.5 Gb/s. */
struct rate_limit {
	enum { RATE_ANY, RATE_AT_LEAST, RATE_ABOVE, RATE_EXACTLY } kind;
	unsigned int tenths;
};

/*
 * Parse "[>=|>|=]NUMBER[Gb[/s]]"; without an operator, ">=". Return: whether it
 * is such a text; @out is unchanged if not.
 */
bool rate_limit_parse(const char *text, struct rate_limit *out);

bool rate_limit_fits(const struct rate_limit *limit, unsigned int tenths);

enum { RATE_LIMIT_TEXT = 24 };

/* Write ">=400 Gb/s". */
const char *rate_limit_text(const struct rate_limit *limit,
			    char out[RATE_LIMIT_TEXT]);

/* Write the number, as "400" or "2.5". */
const char *tenths_text(unsigned int tenths, char out[RATE_LIMIT_TEXT]);

/*
 * The rate in the kernel's text, such as "100 Gb/sec (4X EDR)". Return: whether
 * there is one, above 0.
 */
bool rate_of_port(const char *text, unsigned int *out);

#endif
