/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses rates of ports, and the limit of --rate. */
#ifndef COMMAND_RATE_H
#define COMMAND_RATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The limit of --rate. Rates are in tenths of Gb/s, since one lane at single
 * data rate has 2.5 Gb/s.
 */
struct rate_limit {
	enum { RATE_ANY, RATE_AT_LEAST, RATE_ABOVE, RATE_EXACTLY } kind;
	unsigned int tenths;
};

/*
 * Parse a limit of the form "[>=|>|=]NUMBER[Gb[/s]]"; without an operator it
 * means ">=". Return: false if the text has another form; @out is unchanged.
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
 * Parse the rate in the kernel's text, such as "100 Gb/sec (4X EDR)". Return:
 * false if it has none, or it is 0.
 */
bool rate_of_port(const char *text, unsigned int *out);

#endif
