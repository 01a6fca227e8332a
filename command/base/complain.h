/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages on stderr, and the exit status of a command that fails. */
#ifndef COMMAND_COMPLAIN_H
#define COMMAND_COMPLAIN_H

#include <stdbool.h>

/* Exit status of the command. */
enum cli_exit {
	CLI_DONE = 0,
	CLI_NO = 1,	/* no such path, node, record or service */
	CLI_USAGE = 2,	/* the command line was wrong */
	CLI_SILENT = 3, /* the SA did not answer, or its reply cannot be used */
	/* no device, no permission, or the output cannot be written */
	CLI_DEVICE = 4,
	CLI_REFUSED = 5, /* the SA refused */
};

/*
 * Print a message on stderr, unless messages are muted. complaint_first()
 * returns the first message, even if it was muted.
 */
void complaints_mute(bool is_muted);
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Print a message as complain() does. Return: the exit status that the name
 * says, so that a caller can write "return fail_usage(...)".
 */
int fail_no(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_silent(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_device(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print that memory is short. Return: CLI_DEVICE. */
int no_memory(void);

/*
 * Return: the first message of complain(); "" if there is none.
 */
const char *complaint_first(void);

#endif
