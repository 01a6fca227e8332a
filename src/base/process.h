/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Other processes, as the files below /proc show them. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <sys/types.h>

#include <ibsa/types.h>

#define PROCESS_FOLDER "/proc"

enum {
	PROCESSES_MAX = 2, /* that a search returns */
	PROCESS_TEXT = 48,
};

/* "pid 12 (opensm)", or "pid 12" if its name cannot be read. */
struct process_text {
	char text[PROCESS_TEXT];
};

/* @count may be larger than the number of @pids that are filled. */
struct processes {
	pid_t pids[PROCESSES_MAX];
	size_t count;
};

/*
 * The name is as the process has set it: any bytes but NUL, to be cleaned
 * before it is shown. @proc: PROCESS_FOLDER, but for tests.
 */
void ibsa__process_text(const char *proc, pid_t pid, struct process_text *out);

/*
 * Find the processes, but for this one, that have @file open under this path,
 * as far as this user may see their descriptors. Opens none of these files and
 * waits for nothing. It looks at a limited number of descriptors.
 */
void ibsa__processes_find(const char *proc, const char *file,
			  struct processes *out);

#endif
