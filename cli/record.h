/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is on a fabric into a file that Wireshark reads. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <ibsa/sim.h>

#include "cli.h"

struct record;

/*
 * Begin to write all that is on the links of @fabric, which has been read from
 * the file @source, to the file @path, another one; @is_counted: the times are
 * numbers, a millisecond for each packet, so that the same packets make the
 * same file.
 *
 * Return: the exit status; what went wrong has been said.
 */
int record_start(const char *path, const char *source,
		 struct ibsa_fabric *fabric, bool is_counted,
		 struct record **out);

/* End it. NULL is none. Return: the exit status; not all may be written. */
int record_end(struct record *record);

/*
 * Before the client is opened: if --record is given, let it be on a fabric
 * of which all is written. Return: the exit status.
 */
int record_open(struct cli *cli);

/* After it has been closed. Return: the exit status. */
int record_close(struct cli *cli);

#endif
