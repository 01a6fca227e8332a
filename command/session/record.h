/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the packets of a fabric or of the client to a file for Wireshark. */
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
 * If --record is given, begin to write the MADs of the client, which is open.
 * Return: the exit status; a failure is printed.
 */
int record_client_start(struct cli *cli);

/*
 * Write a capture to a stream: record_mad(), which is an ibsa_mad_fn with the
 * result of record_to() as its argument, adds a MAD that a client at @port with
 * @pkey has sent or received. record_to_end() leaves the stream open. Return:
 * NULL: memory is short.
 */
struct record *record_to(FILE *file, const struct ibsa_port_state *port,
			 uint16_t pkey);
void record_mad(const struct ibsa_mad *mad, void *record);
void record_to_end(struct record *record);

/*
 * Complete the file of --record, and release the fabric of @cli. Call this
 * after the client is closed. Return: the exit status.
 */
int record_close(struct cli *cli);

#endif
