/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device files of a fabric server, which writes them as the kernel does,
 * from the state at that moment.
 */
#ifndef REMOTE_FILES_H
#define REMOTE_FILES_H

#include "device/files.h"
#include "remote/connection.h"
#include "umad/file.h"

/*
 * The files of the node at the place that ibsa__remote_address_find() finds. The
 * connection is made when the first file is read, and made again after the
 * server was restarted. Reading returns the kernel's errors, and those of
 * ibsa__remote_address_find() and ibsa__remote_connect(). *@out is to be put with
 * ibsa__files_put(). Return: 0; -ENOMEM.
 */
int ibsa__remote_files_open(const char *fabric, const char *node,
			    const char *process_node,
			    struct device_files **out) IBSA_MUST_USE;

/* Whether @files are a fabric server's. */
bool ibsa__files_are_remote(const struct device_files *files);

/*
 * Open the MAD device @name, "umad0", of a server's @files. Return: 0; -ENOMEM;
 * or the error of reading @files or of connecting.
 */
int ibsa__remote_files_umad_open(struct device_files *files, const char *name,
				 struct umad_file **out) IBSA_MUST_USE;

/*
 * The path of a file to open for as long as a subnet manager runs at @port of
 * the node. @files are a server's; @out has room for @room bytes.
 * Return: 0; -ENODEV no such port or server; -ENAMETOOLONG; or the server's
 * error.
 */
int ibsa__remote_issm_path(struct device_files *files, unsigned int port,
			   char *out, size_t room) IBSA_MUST_USE;

#endif
