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

/*
 * Text that identifies a process: "pid 12 (opensm)", or "pid 12" if its name
 * cannot be read.
 */
struct process_text {
	char text[PROCESS_TEXT];
};

/*
 * Result of a search for processes. @count is the number of processes found;
 * @pids contains only the first of them.
 */
struct processes {
	pid_t pids[PROCESSES_MAX];
	size_t count;
};

/*
 * Write the id and the name of process @pid into @out. The name may contain
 * any bytes except NUL; the caller replaces unsafe bytes before printing it.
 * @proc is PROCESS_FOLDER except in tests.
 */
void ibsa__process_text(const char *proc, pid_t pid, struct process_text *out);

/*
 * Find other processes that have @file open, by the path in /proc/PID/fd. A
 * process is found only if this user may read its descriptors. The search does
 * not open @file, does not block, and checks a limited number of descriptors.
 */
void ibsa__processes_find(const char *proc, const char *file,
			  struct processes *out);

#endif
