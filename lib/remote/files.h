/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device files of a server. The content of the files has the form of
 * the kernel's files in /sys, and shows the state of the simulated port when it
 * is read.
 */
#ifndef REMOTE_FILES_H
#define REMOTE_FILES_H

#include "device/files.h"
#include "remote/connection.h"
#include "umad/file.h"

/*
 * Open the device files of the node or host that ibsa__remote_address_find()
 * finds. The connection to the server is opened when the first file is read, and
 * again after the server has restarted. Reading a file returns the errors of the
 * kernel's files, and those of ibsa__remote_address_find() and
 * ibsa__remote_connect(). The caller releases *@out with ibsa__files_put().
 * Return: 0; -ENOMEM.
 */
int ibsa__remote_files_open(const char *fabric, const char *device,
			    const char *process_node,
			    struct device_files **out) IBSA_MUST_USE;

/*
 * Set for how long umad files that are opened wait for the next server, from the
 * value of IBSA_UMAD_REOPEN or NULL.
 */
void ibsa__remote_files_reopen_set(struct device_files *files,
				   const char *text);

/* Whether @files are the device files of a server. */
bool ibsa__files_are_remote(const struct device_files *files);

/*
 * Open the MAD device @name, such as "umad0", of @files, which are the device
 * files of a server. Return: 0; -ENOMEM; or an error from reading @files
 * or of connecting.
 */
int ibsa__remote_files_umad_open(struct device_files *files, const char *name,
				 struct umad_file **out) IBSA_MUST_USE;

/*
 * Write the path that stands for issmN, N = @number, into the buffer @out of
 * @room bytes: its port has the bit IsSM set while a program has this file open.
 * @files are the device files of a server. Over TCP, the path is that of
 * ibsa__remote_issm_file(). Return: 0; -ENODEV no such port or server;
 * -ENAMETOOLONG @room is too small; or the server's error.
 */
int ibsa__remote_issm_path(struct device_files *files, unsigned int number,
			   char *out, size_t room) IBSA_MUST_USE;

#endif
