/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open umad files that libibumad's functions use. The portid is the file's
 * descriptor, because programs poll it. If a file has more state than its
 * descriptor, the state is found by the portid.
 */
#ifndef LIBIBUMAD_FILE_H
#define LIBIBUMAD_FILE_H

#include "device/files.h"
#include "libibumad/section.h"
#include "umad_dev/fd.h"

struct registry_slot;

/* The use of a portid's umad file by one function call. */
struct portid_use {
	struct umad_file *file;
	struct registry_slot *slot; /* NULL: the file is @plain */
	struct umad_fd plain;
	struct section section; /* used only if @slot is set */
};

/*
 * Open the MAD device @name, such as "umad0", of @files, in the mode with
 * 64-byte umad headers. Return: the portid; or the error from opening the file.
 */
int ibsa__portid_open(struct device_files *files,
		      const char *name) IBSA_MUST_USE;

void ibsa__portid_close(int portid);

/*
 * ibsa__portid_get() finds the umad file of a portid, ibsa__portid_put() ends
 * its use. If the file was lost with its fabric server, ibsa__portid_get()
 * tries to open it again. Neither of the two functions allocates memory by
 * malloc(). If the file has more state than its descriptor, signals and
 * cancellation are blocked from the get to the put.
 */
void ibsa__portid_get(int portid, struct portid_use *use);
void ibsa__portid_put(struct portid_use *use);

/*
 * Whether the fabric server has ended and there is nothing to receive, although
 * the portid may be readable.
 */
bool ibsa__portid_is_idle(int portid);

/*
 * Wait for a packet; a negative @timeout_ms means no timeout. Return: 0 a
 * packet may have arrived; -ETIMEDOUT; -EINTR a signal arrived; or the error of
 * poll(). The function is a cancellation point, and at this point the thread
 * holds no resources.
 */
int ibsa__portid_poll(int portid, int timeout_ms) IBSA_MUST_USE;

#endif
