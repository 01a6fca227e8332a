/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the file of an option --output. */
#ifndef CLI_FILE_WRITE_H
#define CLI_FILE_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Write the text to a new file, which then takes the place of @path: a program
 * that reads @path gets either the whole old text or the whole new one, and a
 * failure leaves the old text. A file that is not regular, such as /dev/null,
 * is written in place.
 *
 * @mode: the rights of the file
 *
 * Return: the exit status; a failure is printed.
 */
int file_write(const char *path, mode_t mode, const char *text, size_t len);

#endif
