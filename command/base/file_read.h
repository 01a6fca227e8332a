/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a file, pipe or device that the user names, as a whole or by lines. */
#ifndef COMMAND_FILE_READ_H
#define COMMAND_FILE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <ibsa/ibsa.h>

/**
 * struct file_text - a file that was read
 * @text:       the bytes, followed by a NUL; the caller frees them
 * @len:        number of bytes
 * @is_regular: the file can be read once more
 */
struct file_text {
	char *text;
	size_t len;
	bool is_regular;
};

/*
 * Read all of @path once, at most 256 MB. A FIFO must have a writer within
 * @timeout_ms, the time of --timeout; 0: within the default. Return: 0; or a
 * negative error number with the reason in @error.
 */
int file_read(const char *path, unsigned int timeout_ms,
	      struct ibsa_error *error, struct file_text *out);

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
