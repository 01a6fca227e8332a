/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open umad file behind a portid. The portid is the file's descriptor,
 * since programs poll it. A file with more state is looked up by it.
 */
#ifndef LIBIBUMAD_FILE_H
#define LIBIBUMAD_FILE_H

#include "device/files.h"
#include "libibumad/section.h"
#include "umad_dev/fd.h"

struct registry_slot;

/* The use of a portid's file by one call. */
struct portid_use {
	struct umad_file *file;
	struct registry_slot *slot; /* NULL: the file is @plain */
	struct umad_fd plain;
	struct section section; /* used only if @slot is set */
};

/*
 * Open the MAD device @name ("umad0") of @files, with 64-byte headers. Return:
 * the portid; or the error of opening the file.
 */
int ibsa__portid_open(struct device_files *files,
		      const char *name) IBSA_MUST_USE;

void ibsa__portid_close(int portid);

/*
 * Get the file behind a portid, and put it. Neither takes a lock or allocates
 * memory. If the file has more state than its descriptor, signals and
 * cancellation are held back until the file is put.
 */
void ibsa__portid_get(int portid, struct portid_use *use);
void ibsa__portid_put(struct portid_use *use);

/*
 * Wait for a packet; @timeout_ms below 0: for ever. Return: 0 there may be one;
 * -ETIMEDOUT; -EINTR a signal; or the error of poll(). A cancellation point
 * that holds no resources.
 */
int ibsa__portid_poll(int portid, int timeout_ms) IBSA_MUST_USE;

#endif
