/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of options that several commands have in their own tables, with the same
 * help in each command; only that of --all differs. @type is the struct that
 * the table fills; @parts are the parts of the command that accept the option.
 */
#ifndef COMMAND_SHARED_H
#define COMMAND_SHARED_H

#include "findings/node_options.h"
#include "options/option.h"

/* clang-format off */
#define OPTION_ALL(help, type, member)                                       \
	{ 'a', "all", NULL, help, OPTION_AT(type, member) }
#define OPTION_EXPECT(type, member, parts)                                   \
	{ 0, "expect", "FILE",                                               \
	  "report differences from this topology file",                 \
	  OPTION_AT(type, member), parts, OPTION_READS }
#define OPTION_EXPECTED(type, member)                                        \
	{ 0, "expect", "FILE",                                               \
	  "tell where absent hosts should be, from this file",               \
	  OPTION_AT(type, member), 0, OPTION_READS }
#define OPTION_PEERS(type, member, parts)                                    \
	{ 0, "peers", "FILE",                                                \
	  "ports that must be reachable, one a line",               \
	  OPTION_AT(type, member), parts, OPTION_READS }
#define OPTION_PKEY(type, member, parts)                                     \
	{ 0, "pkey", "KEY",                                                  \
	  "P_Key that the ports must have",            \
	  OPTION_BY(pkey_option, type, member), parts, .repeats = true }
#define OPTION_RATE(type, member, parts)                                     \
	{ 0, "rate", "RATE",                                                 \
	  "rate of the ports in Gb/s, such as '>=400'",              \
	  OPTION_BY(rate_option, type, member), parts }
/* clang-format on */

#endif
