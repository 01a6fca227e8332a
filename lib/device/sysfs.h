/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Device files of this machine or of a test tree. The files are opened only
 * with open() and opendir(), which ibsim's preload library replaces. For these
 * files, open() and opendir() return ordinary descriptors, for which no other
 * function needs to be replaced.
 */
#ifndef DEVICE_SYSFS_H
#define DEVICE_SYSFS_H

#include "device/files.h"

/*
 * Prepare to read the device files below @root; NULL or "" means /sys. The
 * caller releases *@out with ibsa__files_put(). Return: 0; -ENOMEM.
 */
int ibsa__sysfs_open(const char *root, struct device_files **out) IBSA_MUST_USE;

#endif
