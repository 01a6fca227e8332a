/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which device files a call or an object reads. */
#ifndef CLIENT_FILES_H
#define CLIENT_FILES_H

#include "base/environment.h"
#include "device/files.h"
#include "umad/file.h"

/*
 * The files that @environment names: a fabric server's, else those below
 * SYSFS_PATH or /sys. *@out is to be put with ibsa__files_put().
 * Return: 0; -ENOMEM.
 */
int ibsa__files_open(const struct ibsa__environment *environment,
		     struct device_files **out) IBSA_MUST_USE;

/* The same, of the environment at the moment of a call without a handle. */
int ibsa__files_open_now(struct device_files **out) IBSA_MUST_USE;

/*
 * Open the MAD device @name, "umad0", of @files, with 64-byte headers. Return:
 * its descriptor, and *@out is its file, or NULL if the descriptor is all there
 * is of it; or the error of opening it.
 */
int ibsa__files_umad_open(struct device_files *files, const char *name,
			  struct umad_file **out) IBSA_MUST_USE;

/*
 * The path of the file that marks a port as a subnet manager's while it is open:
 * @port of the device that has the MAD device @name. Return: 0; -ENAMETOOLONG;
 * or the error of @files.
 */
int ibsa__files_issm_path(struct device_files *files, const char *name,
			  unsigned int port, char *out,
			  size_t room) IBSA_MUST_USE;

#endif
