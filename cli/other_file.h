/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a file that is to be written is another one than is in use. */
#ifndef CLI_OTHER_FILE_H
#define CLI_OTHER_FILE_H

/*
 * To open a file for writing empties it: @path, which @option names, must not
 * be @other, whatever name it goes by. @use: what becomes of @other, as "what
 * is read". Either may be NULL, for none, and "-" is no file.
 *
 * Return: the exit status; what is wrong has been said.
 */
int other_file(const char *option, const char *path, const char *other,
	       const char *use);

#endif
