/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Umad files at a fabric server, by their portids: the data end's descriptor,
 * which programs may poll.
 */
#ifndef LIBIBUMAD_REMOTE_PORT_H
#define LIBIBUMAD_REMOTE_PORT_H

#include "device/files.h"
#include "remote/file.h"

/* Open the MAD device @name of a server's @files. The portid or -errno. */
int ibsa__remote_port_open(struct device_files *files,
			   const char *name) IBSA_MUST_USE;

/* The file behind a portid, to be put; NULL: it is none of a server. */
struct remote_file *ibsa__remote_port_find(int portid);
void ibsa__remote_port_put(struct remote_file *file);

/* Close it when nobody uses it any more. */
void ibsa__remote_port_close(struct remote_file *file);

#endif
