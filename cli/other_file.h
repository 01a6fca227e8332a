/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that an output file is not the same file as one that is being used. */
#ifndef CLI_OTHER_FILE_H
#define CLI_OTHER_FILE_H

/*
 * Check that @path, the file that @option writes, is not @other under whatever
 * name: opening it for writing would empty it. @use describes @other in the
 * message, such as "what is read". Either may be NULL for none; "-" is not a file.
 *
 * Return: the exit status; a failure is printed.
 */
int other_file(const char *option, const char *path, const char *other,
	       const char *use);

#endif
