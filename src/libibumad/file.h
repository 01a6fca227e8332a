/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open umad file behind a portid. A portid is the file's descriptor, which
 * programs may poll. A file that is more than its descriptor is found by it.
 */
#ifndef LIBIBUMAD_FILE_H
#define LIBIBUMAD_FILE_H

#include "device/files.h"
#include "libibumad/section.h"
#include "umad_dev/fd.h"

struct port_object;

/* A call that uses the file of a portid. */
struct portid_use {
	struct umad_file *file;
	struct port_object *object; /* NULL: the file is @plain */
	struct umad_fd plain;
	struct section section; /* with @object alone */
};

/*
 * Open the MAD device @name, "umad0", which @files show, with 64-byte headers.
 * The portid, or the error of opening it.
 */
int ibsa__portid_open(struct device_files *files,
		      const char *name) IBSA_MUST_USE;

/* Return: 0; -ENOMEM: it is still open. */
int ibsa__portid_close(int portid);

/*
 * The file behind a portid, to be put. Takes a lock only if some file of the
 * process is more than its descriptor; then the thread is not interrupted until
 * the file is put. Return: 0; -ENOMEM, and nothing is to be put.
 */
int ibsa__portid_get(int portid, struct portid_use *use) IBSA_MUST_USE;
void ibsa__portid_put(struct portid_use *use);

/*
 * Wait for a packet to read, below 0 without an end. 0 there may be one;
 * -ETIMEDOUT; -EINTR by a signal; or the error of waiting. A cancellation
 * point that holds nothing.
 */
int ibsa__portid_poll(int portid, int timeout_ms) IBSA_MUST_USE;

#endif
