/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kinds of events as words of the command line of ibsa watch. */
#ifndef COMMAND_WATCH_WORDS_H
#define COMMAND_WATCH_WORDS_H

#include "output/cli.h"

/* Return: the kinds that a word stands for, or 0. */
unsigned int watch_kinds_of(const char *word);

/* Print the details of ibsa watch, for --help. */
void watch_details(struct cli *cli);

#endif
