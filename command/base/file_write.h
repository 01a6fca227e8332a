/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes a file that an option names, such as --output, and text in memory. */
#ifndef COMMAND_FILE_WRITE_H
#define COMMAND_FILE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Text in memory that is written through a stream. A lack of memory is an error
 * at the end, even if only a part in the middle was lost; the stream of
 * open_memstream(3) does not report it.
 */
struct memory_text {
	FILE *file;
	/* Ends with '\0' after memory_text_close(). */
	char *text;
	size_t len;
	size_t room;
	bool has_failed;
};

/*
 * Open the stream @memory->file. @memory must stay where it is until
 * memory_text_close(). Return: the exit status; a failure is printed.
 */
int memory_text_open(struct memory_text *memory);

/*
 * Close the stream. Return: the exit status; if it is CLI_DONE, @text is
 * complete; a failure is printed. The caller frees @text in any case.
 */
int memory_text_close(struct memory_text *memory);

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
