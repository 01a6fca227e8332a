/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes a file that an option names, such as --output. */
#ifndef COMMAND_FILE_WRITE_H
#define COMMAND_FILE_WRITE_H

#include <stddef.h>

/* Write the whole text to a descriptor. Return: 0 or -errno. */
int text_write(int fd, const char *text, size_t len);

/*
 * Write the text to the file @path. First a new file is written, which is renamed
 * to the path when it is complete. A program that opens the path
 * therefore gets either the whole old text or the whole new text. After a
 * failure the old file is unchanged. The new file has the mode of the old file.
 * If the path is not a regular file, such as /dev/null, the text is written to
 * it directly.
 *
 * Symbolic links at the end of the path are followed. In a sticky directory
 * that all users may write to, such as /tmp, a link is followed only if it
 * belongs to this user or to the owner of the directory, as Linux does with
 * fs.protected_symlinks.
 *
 * Return: the exit status; a failure is printed.
 */
int file_write(const char *path, const char *text, size_t len);

#endif
