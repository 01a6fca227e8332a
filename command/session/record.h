/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the packets of a fabric to a file for Wireshark. */
#ifndef COMMAND_RECORD_H
#define COMMAND_RECORD_H

#include <ibsa/fabric.h>

#include "output/cli.h"

struct record;

/*
 * Begin to write all packets on the links of @fabric to the file @path.
 * @is_counted: packet times are numbers, one millisecond apart, so that equal
 * packets give an equal file.
 *
 * Return: the exit status; a failure is printed.
 */
int record_start(const char *path, struct ibsa_fabric *fabric, bool is_counted,
		 struct record **out);

/*
 * Stop writing packets; @record may be NULL. Return: the exit status; it is a
 * failure if packets could not be written.
 */
int record_end(struct record *record);

/*
 * If --record is given, load the fabric and begin to record its packets. Call
 * this before the client is opened. Return: the exit status.
 */
int record_open(struct cli *cli);

/*
 * Complete the file of --record. Call this after the client is closed. Return:
 * the exit status.
 */
int record_close(struct cli *cli);

#endif
