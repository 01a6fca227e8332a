/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device files of this machine, or of a test tree, by calls that ibsim's
 * preload catches: open, read, close, opendir, readdir and closedir, no other.
 */
#ifndef DEVICE_SYSFS_H
#define DEVICE_SYSFS_H

#include "device/files.h"

/*
 * The files below @root; NULL or "": /sys. *@out is to be put with
 * ibsa__files_put(). Return: 0; -ENOMEM.
 */
int ibsa__sysfs_open(const char *root, struct device_files **out) IBSA_MUST_USE;

#endif
