/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a file or standard input line by line, with limits. */
#ifndef COMMAND_LINES_H
#define COMMAND_LINES_H

#include <stdio.h>

#include "base/file_read.h"

enum { LINE_BYTES = 1024, LINES_MB = 256 /* of all lines */ };

/*
 * A file that is read line by line. To read standard input, set only the member
 * @file, to stdin.
 */
struct lines {
	FILE *file;		/* or NULL */
	struct file_text whole; /* of lines_open() */
	unsigned long number;	/* of the present line, from 1 */
	size_t size;		/* bytes read so far */
	int err;		/* 0, or the negative errno of a failed read */
	char text[LINE_BYTES + 1];
};

/*
 * Read the file @path of the option @option, such as "--peers", as file_read()
 * does. The message of a failure begins with @option. Return: the exit status;
 * a failure is printed.
 */
int lines_open(struct lines *lines, const char *option, const char *path,
	       unsigned int timeout_ms);
void lines_close(struct lines *lines);

/*
 * Read the next line. Return: the line without blanks around it, "" for an
 * empty line and a comment; NULL at the end and after an error. If the line
 * cannot be used, @out_why is set to the reason, or else to NULL.
 */
char *lines_next(struct lines *lines, const char **out_why);

/* Return: the reason of a failed read, for the end of a message. */
const char *lines_error_text(const struct lines *lines);

#endif
