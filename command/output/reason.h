/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes why there is no path. */
#ifndef COMMAND_REASON_H
#define COMMAND_REASON_H

#include <ibsa/reach.h>

#include "output/out.h"

enum {
	REASON_CELL_TEXT = 64,
	/*
	 * Maximum number of failures of which the reason is searched, which
	 * takes several queries each. Further failures usually have the same
	 * reason.
	 */
	REASONS_MAX = 32,
};

/*
 * A reason that the library does not have, beside enum ibsa_reason_code: the
 * host has no such port, but the hosts like it have.
 */
enum { REASON_RAIL_MISSING = 128 };
#define REASON_RAIL_MISSING_TEXT "the rail is missing"
#define REASON_RAIL_MISSING_CODE "rail-missing"

/* Detail text of the reason that no node has the name. */
/* clang-format off */
#define REASON_NO_NAME_TEXT \
	"the SA shows no node with this name; it does not show nodes whose " \
	"ports are all down, or in no partition of this port"
/* clang-format on */

/* Codes of reasons, which scripts may compare; they never change. */
/* clang-format off */
#define REASON_CODES(CODE)			\
	CODE(NO_NAME, "no-name")		\
	CODE(UNKNOWN_PORT, "unknown-port")	\
	CODE(FAR_PORT_DOWN, "far-port-down")	\
	CODE(THIS_PORT_DOWN, "this-port-down")	\
	CODE(NO_PKEY, "no-pkey")		\
	CODE(BOTH_LIMITED, "both-limited")	\
	CODE(OTHER_SUBNET, "other-subnet")	\
	CODE(CONSTRAINT, "constraint")		\
	CODE(NOT_MEMBER, "not-member")

/*
 * For tables of columns: all reasons, and all codes of reasons, each after a
 * '|'.
 */
#define REASON_WORD(name, text) "|" text "|possibly " text
#define REASON_WORDS \
	IBSA_REASONS(REASON_WORD) REASON_WORD(, REASON_RAIL_MISSING_TEXT)
#define CODE_WORD(name, text) "|" text
#define CODE_WORDS REASON_CODES(CODE_WORD) "|" REASON_RAIL_MISSING_CODE
/* clang-format on */

/* Return: the code of a reason; NULL for IBSA_REASON_NONE. */
const char *reason_code_name(unsigned int code);

/*
 * Return: the text of a reason why there is no path, with "possibly " before
 * it if it is not certain.
 */
const char *reason_words(unsigned int code, bool is_certain,
			 char out[REASON_CELL_TEXT]);

/*
 * Write the reason why there is no path as a cell; a cell without a value if
 * it is not known.
 */
void reason_cell(struct out *out, const char *name, unsigned int code,
		 bool is_certain);

#endif
