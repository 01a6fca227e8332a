/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads JSON as the command writes it: flat objects, in an array or by themselves. */
#ifndef CLI_JSON_READ_H
#define CLI_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct json_reader - what to call
 * @member: called for each member of an object with its name and value; a number
 *          is its text, and NULL stands for null, true and false
 * @end:    called after the last member of an object
 * @arg:    passed to both
 *
 * Both return 0, or a value that ends the reading.
 */
struct json_reader {
	int (*member)(const char *name, const char *value, void *arg);
	int (*end)(void *arg);
	void *arg;
};

enum { JSON_MALFORMED = -1 };

/*
 * Read @text, which ends in a NUL and is changed. Return: 0; JSON_MALFORMED; or what
 * a function of @reader returned. After JSON_MALFORMED, *@out_line is the line.
 */
int json_read(char *text, const struct json_reader *reader, size_t *out_line);

#endif
