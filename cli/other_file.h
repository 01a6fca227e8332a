/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that an output file is not the same file as one that is being used. */
#ifndef CLI_OTHER_FILE_H
#define CLI_OTHER_FILE_H

#include "cli.h"

/*
 * Check that no option writes to a file that the command reads, or that another
 * option writes, under whatever name: opening it for writing would empty it.
 *
 * Return: the exit status; a failure is printed.
 */
int other_files_check(const struct cli *cli);

#endif
