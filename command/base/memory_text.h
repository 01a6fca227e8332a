/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text in memory that is written through a stream. A lack of memory is an error
 * at the end, even if only a part in the middle was lost; the stream of
 * open_memstream(3) does not report it.
 */
#ifndef COMMAND_MEMORY_TEXT_H
#define COMMAND_MEMORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

#endif
