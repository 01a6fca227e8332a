/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that an output file is not the same file as one that is being used. */
#ifndef COMMAND_OTHER_FILE_H
#define COMMAND_OTHER_FILE_H

#include "output/cli.h"

/*
 * Check that no option writes to a regular file that an argument or another
 * option names, also by another path: opening the file for writing would empty
 * it. Files that a topology file includes are not checked.
 *
 * Return: the exit status; a failure is printed.
 */
int other_files_check(const struct cli *cli);

#endif
