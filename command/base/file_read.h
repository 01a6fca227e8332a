/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a whole file, pipe or device that the user names. */
#ifndef COMMAND_FILE_READ_H
#define COMMAND_FILE_READ_H

#include <stdbool.h>
#include <stddef.h>

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
 * @timeout_ms, the time of --timeout; 0: within the default. Return: 0; or a negative error number with the reason in
 * @error.
 */
int file_read(const char *path, unsigned int timeout_ms,
	      struct ibsa_error *error, struct file_text *out);

#endif
