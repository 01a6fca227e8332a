/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which device files a call or an object reads. */
#ifndef CLIENT_FILES_H
#define CLIENT_FILES_H

#include "base/environment.h"
#include "device/files.h"

/*
 * The files that @environment names: a fabric server's, else those below
 * SYSFS_PATH or /sys. *@out is to be put with ibsa__files_put().
 * Return: 0; -ENOMEM.
 */
int ibsa__files_open(const struct ibsa__environment *environment,
		     struct device_files **out) IBSA_MUST_USE;

/* The same, of the environment at the moment of a call without a handle. */
int ibsa__files_open_now(struct device_files **out) IBSA_MUST_USE;

#endif
