/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program "reporter" as the SA at rxe1, connected by two pipes. */
#ifndef TEST_VM_REPORTER_RIG_H
#define TEST_VM_REPORTER_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

enum {
	REPORTER_LINE = 80,

	/* fe80::, by which the kernel finds the requester; see reports.c. */
	REPORTER_GID_INDEX = 0,
	REPORTER_HOP_LIMIT = 64,
};

struct reporter {
	pid_t pid;
	FILE *to, *from;
};

/*
 * Whether the test program has one argument, which is then the path of the
 * program "reporter" for reporter_start().
 */
bool reporter_is_named(int argc, char **argv);

/*
 * Start the program "reporter" for a test. If the test then takes more than
 * 60 s, the test program ends.
 */
void reporter_start(struct reporter *reporter);
void reporter_stop(struct reporter *reporter);

void reporter_write(struct reporter *reporter, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Let "reporter" send a Report; @gid has 32 digits. */
void reporter_report(struct reporter *reporter, unsigned int trap,
		     const char *gid);

/* The next line that it writes. */
void reporter_line(struct reporter *reporter, char line[REPORTER_LINE]);

/* Read until it writes that line. */
void reporter_await(struct reporter *reporter, const char *line);

/* Run a command in the guest's shell; it must succeed. */
void vm_shell(const char *command);

#endif
