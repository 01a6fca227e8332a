/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that stand for sysfs where $IBSA_FABRIC names a fabric server:
 * the server writes them as the kernel does, from what is so at that moment.
 */
#ifndef REMOTE_FILES_H
#define REMOTE_FILES_H

#include <stddef.h>

#include <ibsa/types.h>

struct remote_files;

/* Whether $IBSA_FABRIC names a server. */
bool ibsa__remote_has_files(void);

/*
 * Keep the connection until it is released: who reads many files in a row
 * connects once. Return: what to release, or NULL.
 */
struct remote_files *ibsa__remote_files_hold(void);
void ibsa__remote_files_release(struct remote_files *files);

/*
 * What the file @path below the root holds, @room at most, and no NUL behind
 * it. Return: 0; -ENOENT, -EISDIR or -EINVAL as the kernel has it; or the
 * error of asking the server.
 */
int ibsa__remote_file_text(const char *path, char *out, size_t room,
			   size_t *out_len) IBSA_MUST_USE;

/* The names in the folder @path, a NUL after each; and -ENOTDIR. */
int ibsa__remote_folder_names(const char *path, char *out, size_t room,
			      size_t *out_len) IBSA_MUST_USE;

/*
 * A file to open for as long as a subnet manager runs at @port of the node.
 * @out has room for @room bytes. Return: 0; -ENODEV no such port or server;
 * -ENAMETOOLONG; or the server's error.
 */
int ibsa__remote_issm_path(unsigned int port, char *out,
			   size_t room) IBSA_MUST_USE;

#endif
