/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes a file that an option names, such as --output. */
#ifndef COMMAND_FILE_WRITE_H
#define COMMAND_FILE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A new file, which takes the place of another when it is complete: a program
 * that reads the path gets either the whole old text or the whole new one, and
 * a failure leaves the old text. It has the mode of the old file. A file that is
 * not regular, such as /dev/null, is written in place.
 *
 * Links are followed. In a sticky folder that all users may write to, such as
 * /tmp, only those of this user and of the folder's owner are followed, as Linux
 * does with fs.protected_symlinks.
 */
struct new_file {
	const char *path; /* as it was given; for messages */
	char *real;	  /* without the links */
	char *name;	  /* of the new file; NULL: written in place */
	bool has_foreign_link;
	mode_t mode;
	int fd;
};

/* Return: the exit status; a failure is printed. */
int new_file_open(struct new_file *file, const char *path);

/*
 * Close the file. If it @is_complete, it takes its place; otherwise it is
 * removed. Return: the exit status; a failure is printed.
 */
int new_file_close(struct new_file *file, bool is_complete);

/* Write the whole text to a descriptor. Return: 0 or -errno. */
int text_write(int fd, const char *text, size_t len);

/*
 * Write the text to a file, as struct new_file says. Return: the exit status; a
 * failure is printed.
 */
int file_write(const char *path, const char *text, size_t len);

#endif
