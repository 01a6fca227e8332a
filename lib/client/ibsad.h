/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sockets of ibsad, which a program uses if it may not open the device file
 * of a port; see ibsad(8).
 */
#ifndef CLIENT_IBSAD_H
#define CLIENT_IBSAD_H

#include <errno.h>

#include <ibsa/ibsa.h>

#include "device/files.h"
#include "umad/file.h"

/*
 * Whether ibsad may have a port whose device file cannot be opened because of
 * @err: this user may not open it, or a container does not have it.
 */
static inline bool ibsad_may_help(int err)
{
	return err == -EACCES || err == -EPERM || err == -ENODEV ||
	       err == -ENOENT;
}

/*
 * Open a port of a device in @files at ibsad, the port that a client with
 * @options would open. Return: 0; -ENODEV ibsad serves no such port here; or an
 * error of ibsa__remote_open(), with *@error set.
 */
int ibsa__ibsad_open(struct device_files *files,
		     const struct ibsa_options *options,
		     struct ibsa_error *error,
		     struct ibsa_transport **out) IBSA_MUST_USE;

/*
 * If ibsad serves the device of a transport of ibsa__umad_open(), let the
 * transport receive Reports from ibsad. If this fails, nothing is changed.
 */
void ibsa__ibsad_split(struct ibsa_transport **transport);

/*
 * Open the umad file of the MAD device @name, such as "umad0", at ibsad.
 * @reopen: value of IBSA_UMAD_REOPEN or NULL. Return: as ibsa__ibsad_open().
 */
int ibsa__ibsad_umad_open(struct device_files *files, const char *name,
			  const char *reopen,
			  struct umad_file **out) IBSA_MUST_USE;

#endif
