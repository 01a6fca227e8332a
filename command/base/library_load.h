/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads libraries that few commands need. */
#ifndef COMMAND_LIBRARY_LOAD_H
#define COMMAND_LIBRARY_LOAD_H

#include <stddef.h>

/* A function of a library, and the offset of its pointer in a struct. */
struct library_function {
	const char *name;
	size_t at;
};

/*
 * Write the pointers of @count functions of @library into the struct
 * @functions. Return: @library; NULL if it was NULL or has not all of the
 * functions, and dlerror() returns the reason.
 */
void *library_functions(void *library, const struct library_function *all,
			size_t count, void *functions);

#endif
