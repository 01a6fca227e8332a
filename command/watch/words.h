/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of the command line of ibsa watch: kinds of events, options. */
#ifndef COMMAND_WATCH_WORDS_H
#define COMMAND_WATCH_WORDS_H

#include "options/option.h"
#include "output/cli.h"

/* Return: the kinds that a word stands for, or 0. */
unsigned int watch_kinds_of(const char *word);

extern const struct option_table watch_table;

/* Print the details of ibsa watch, for --help. */
void watch_details(struct cli *cli);

#endif
