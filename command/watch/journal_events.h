/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of ibsa watch as entries of the journal. */
#ifndef COMMAND_WATCH_JOURNAL_H
#define COMMAND_WATCH_JOURNAL_H

#include <ibsa/event.h>

#include "output/cli.h"

/*
 * Open the journal if --journal is given; else @out is unchanged. Return: the
 * exit status; a failure is printed.
 */
int watch_journal_open(const struct cli *cli, int *out);

/*
 * Send an event to the journal at @fd. @device is that of --device or NULL;
 * @name is the name of the event's node, safe to print, or NULL. A failure is
 * printed.
 */
void watch_journal(int fd, const struct ibsa_event *event, const char *device,
		   const char *name);

/* Write the table of MESSAGE_IDs, for --help. */
void watch_journal_list(struct out *out);

#endif
