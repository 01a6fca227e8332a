/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A umad file that ibsad has opened at a port. */
#ifndef IBSAD_UPSTREAM_H
#define IBSAD_UPSTREAM_H

#include "umad_dev/fd.h"

struct daemon;

/*
 * @file:  the umad file; &@plain if the file consists of a descriptor only
 * @fd:    descriptor that is readable if the file may have packets; -1: no file
 *         is open
 */
struct upstream {
	struct umad_file *file;
	struct umad_fd plain;
	struct daemon *daemon;
	int fd;
};

/* @data: as for ibsad_poll_add() */
int ibsad_upstream_open(struct upstream *upstream, struct daemon *daemon,
			uint32_t port, void *data) IBSA_MUST_USE;

/*
 * ibsad_upstream_lose(): the file cannot be used any more, but stays open.
 * ibsad_upstream_close() closes it if it was opened.
 */
void ibsad_upstream_lose(struct upstream *upstream);
void ibsad_upstream_close(struct upstream *upstream);

#endif
