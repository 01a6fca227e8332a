/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the rows that ibsa topology -j wrote. */
#ifndef COMMAND_EXPECT_ROWS_H
#define COMMAND_EXPECT_ROWS_H

#include <stdint.h>

#include "base/file_read.h"

enum { NAME_BYTES = 65 };

/*
 * One end of a link in the output of ibsa topology -j, or a node without a
 * link.
 */
struct end {
	uint64_t node_guid;
	uint64_t port_guid;
	uint8_t node_type;
	uint8_t num_ports;
	uint8_t port;
	/*
	 * The LID that the NodeRecord for this end gets; expect_rows_read()
	 * sets it to 0.
	 */

	uint16_t lid;
	char name[NAME_BYTES];
};

/* A row: this end and its peer. */
struct row {
	struct end ends[2];
	/*
	 * Number of ends of the link that report the link; 0: this row is a
	 * node without a link.
	 */
	uint8_t count;
	uint8_t width;
	struct speed {
		uint8_t bit, ext, ext2;
	} speed;
};

struct expect_rows {
	struct row *all;
	size_t count;
	size_t room;
};

/*
 * Read JSON: an array, or an object on each line. Return: the exit status; a
 * failure is printed. The caller frees @out->all in any case.
 */
int expect_rows_read(const char *path, const struct file_text *file,
		     struct expect_rows *out);

#endif
