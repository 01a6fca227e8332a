/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the device files that a call or an object reads. */
#ifndef CLIENT_FILES_H
#define CLIENT_FILES_H

#include "base/environment.h"
#include "device/files.h"
#include "umad/file.h"

/*
 * Open the files that @environment names: a fabric server's, or those below
 * SYSFS_PATH or /sys. The caller releases *@out with ibsa__files_put(). Return:
 * 0; -ENOMEM.
 */
int ibsa__files_open(const struct ibsa__environment *environment,
		     struct device_files **out) IBSA_MUST_USE;

/*
 * Like ibsa__files_open(), with the environment as it is now, for a call
 * without a handle.
 */
int ibsa__files_open_now(struct device_files **out) IBSA_MUST_USE;

/*
 * Open the MAD device @name ("umad0") of @files, with 64-byte headers. *@out is
 * its file, or NULL if it has no state besides the descriptor. Return: the
 * descriptor; or the error of opening it.
 */
int ibsa__files_umad_open(struct device_files *files, const char *name,
			  struct umad_file **out) IBSA_MUST_USE;

/*
 * Get the path of the file that marks a port as an SM's while it is open. The
 * port is number @port of the device whose MAD device is @name. Return: 0;
 * -ENAMETOOLONG @room is too small; or the error of @files.
 */
int ibsa__files_issm_path(struct device_files *files, const char *name,
			  unsigned int port, char *out,
			  size_t room) IBSA_MUST_USE;

#endif
