/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens the device files (as in /sys) that a call or an object reads. */
#ifndef CLIENT_FILES_H
#define CLIENT_FILES_H

#include "base/environment.h"
#include "device/files.h"
#include "umad/file.h"

/*
 * Open the device files that the environment variables select now, for a public
 * function without a handle: those of the fabric server in IBSA_FABRIC, or those
 * below SYSFS_PATH or /sys. The caller releases *@out with ibsa__files_put().
 * Return: 0; -ENOMEM.
 */
int ibsa__files_open_now(struct device_files **out) IBSA_MUST_USE;

/*
 * The MAD device @name of @files could not be opened, because of @err: open it
 * at ibsad instead. If IBSA_FABRIC is set, even to an empty text, do nothing.
 * Return: the descriptor; or @err.
 */
int ibsa__files_ibsad_open(struct device_files *files, const char *name,
			   int err, struct umad_file **out) IBSA_MUST_USE;

/*
 * Open the MAD device @name, such as "umad0", of @files, in the mode with
 * 64-byte umad headers. *@out is the file's object; NULL for a device of this
 * machine, for which the descriptor is enough. Return: the descriptor; or the
 * error from opening the device.
 */
int ibsa__files_umad_open(struct device_files *files, const char *name,
			  struct umad_file **out) IBSA_MUST_USE;

/*
 * Write the path of a port's issm file into the buffer: the port has the bit
 * IsSM set while a program has this file open. The MAD device of the port is
 * @name. Return: 0; -ENAMETOOLONG @room is too
 * small; or the error of @files.
 */
int ibsa__files_issm_path(struct device_files *files, const char *name,
			  char *out, size_t room) IBSA_MUST_USE;

#endif
