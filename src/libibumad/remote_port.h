/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Umad files at a fabric server, by their portids: the data end's descriptor,
 * which programs may poll.
 */
#ifndef LIBIBUMAD_REMOTE_PORT_H
#define LIBIBUMAD_REMOTE_PORT_H

#include "device/files.h"
#include "libibumad/section.h"
#include "remote/file.h"

/* Open the MAD device @name of a server's @files. The portid or -errno. */
int ibsa__remote_port_open(struct device_files *files,
			   const char *name) IBSA_MUST_USE;

/*
 * The file behind a portid, and @section has begun, which put ends; NULL: the
 * portid is not a remote port's, and nothing is to be put. Takes a lock only
 * if the process has a remote port open.
 */
struct remote_file *ibsa__remote_port_get(int portid, struct section *section);
void ibsa__remote_port_put(struct remote_file *file, struct section *section);

/* Instead of put: close the file once no other thread uses it. */
void ibsa__remote_port_close(struct remote_file *file, struct section *section);

#endif
