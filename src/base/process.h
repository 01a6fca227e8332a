/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Other processes, from the files in /proc. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <sys/types.h>

#include <ibsa/types.h>

#define PROCESS_FOLDER "/proc"

enum {
	PROCESSES_MAX = 2, /* that a search stores */
	PROCESS_TEXT = 48,
};

/* "pid 12 (opensm)", or "pid 12" if its name cannot be read. */
struct process_text {
	char text[PROCESS_TEXT];
};

/* @count is the number of processes found; @pids has only the first ones. */
struct processes {
	pid_t pids[PROCESSES_MAX];
	size_t count;
};

/*
 * Write the process's id and name. The name may contain any bytes except NUL
 * and must be cleaned before it is printed. @proc is PROCESS_FOLDER except in
 * tests.
 */
void ibsa__process_text(const char *proc, pid_t pid, struct process_text *out);

/*
 * Find other processes that have @file open under this path, as far as this
 * user may read their descriptors. This opens none of these files and does not
 * block. The number of descriptors that are checked is limited.
 */
void ibsa__processes_find(const char *proc, const char *file,
			  struct processes *out);

#endif
