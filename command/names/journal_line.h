/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events as entries of the systemd journal. */
#ifndef COMMAND_JOURNAL_LINE_H
#define COMMAND_JOURNAL_LINE_H

#include "names/event_lines.h"

/* Return: a descriptor, which the caller closes, or a negative errno. */
int journal_open(void);

/*
 * Open the journal for the option --journal. Return: the exit status; a failure
 * is printed.
 */
int journal_option_open(int *out);

/* Whether standard output leads to the journal. */
bool journal_is_output(void);

/*
 * Send an event to the journal at @fd. @device is that of --device or NULL;
 * @name is the name of the event's node, safe to print, or NULL. A failure is
 * printed.
 */
void journal_line(int fd, const struct event_line *line, const char *device,
		  const char *name);

#endif
