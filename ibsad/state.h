/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The registrations of users in a file, for the next ibsad. The file is below /run,
 * so a file is all that is needed to survive the end of the process.
 */
#ifndef IBSAD_STATE_H
#define IBSAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <ibsa/types.h>

enum { STATE_RECORD_MAX = 176, STATE_LINE_MAX = 512 };

/*
 * A registration. @record, @mask: of the last Set; the size tells which kind it is.
 * @end_ns: of the lease, by the monotonic clock
 */
struct state_row {
	uint32_t port;
	uid_t user;
	uint64_t mask;
	uint64_t end_ns;
	size_t size;
	uint8_t record[STATE_RECORD_MAX];
};

/* @lines: in the file, those of what has ended included */
struct ibsad_state {
	int fd;
	size_t lines;
	char path[4096];
};

/*
 * A row as a line: "+ PORT USER MASK END_NS RECORD" for a registration, "-"
 * instead of "+" for its end.
 */
size_t ibsad_state_format(const struct state_row *row, bool is_end,
			  char out[STATE_LINE_MAX]);
bool ibsad_state_parse(const char *line, struct state_row *out,
		       bool *out_is_end);

/*
 * Read the file in the directory @folder; NULL: there is no file, now or later.
 * @restore is called with each line that is valid. Return: 0 or -errno.
 */
int ibsad_state_open(struct ibsad_state *state, const char *folder,
		     void (*restore)(const struct state_row *row, bool is_end,
				     void *arg),
		     void *arg) IBSA_MUST_USE;
void ibsad_state_close(struct ibsad_state *state);

/* Append a line. */
int ibsad_state_put(struct ibsad_state *state, const struct state_row *row,
		    bool is_end) IBSA_MUST_USE;

/*
 * Replace the file: ibsad_state_begin() creates an empty one, to which
 * ibsad_state_put() writes; ibsad_state_end() puts it in place of the old file.
 * If this fails, the old file stays.
 */
int ibsad_state_begin(struct ibsad_state *state, int *out_fd) IBSA_MUST_USE;
int ibsad_state_end(struct ibsad_state *state, int fd) IBSA_MUST_USE;

#endif
