/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of ibsa watch, and what its files share. */
#ifndef COMMAND_WATCH_H
#define COMMAND_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <ibsa/event.h>

#include "output/cli.h"
#include "options/option.h"

/**
 * struct watch_options - options of ibsa watch
 * @audit_nodes: also read the table of nodes at intervals, to find changes
 *               whose Report was lost
 * @journal:     write events to the systemd journal
 */
struct watch_options {
	bool audit_nodes;
	bool journal;
};

/* The options of the command that runs. */
static inline const struct watch_options *watch_own(const struct cli *cli)
{
	return cli->own;
}

enum {
	/*
	 * Maximum number of events that are printed without delay: every port
	 * of a large fabric may come or go at once.
	 */
	WATCH_LIMIT_BURST = 65536,
	WATCH_LIMIT_PER_S = 1000,
};

struct watch_limit {
	/* the time at which the whole burst can be used again */
	int64_t full_ms;
	/*
	 * Number of events left out since watch_limit_left_out() has returned
	 * this number.
	 */
	uint64_t left_out;
	uint64_t sequence; /* of the last one */
};

/* Return: whether to print an event; if not, it is counted as left out. */
bool watch_limit_take(struct watch_limit *limit, uint64_t sequence);

/*
 * Return: the number of events that were left out; 0: none, or there is not yet
 * room for the events of half a second and @is_ending is false.
 */
uint64_t watch_limit_left_out(struct watch_limit *limit, bool is_ending);

/* Return: the kinds that a word stands for, or 0. */
unsigned int watch_kinds_of(const char *word);

extern const struct option_table watch_table;

/* Print the details of ibsa watch, for --help. */
void watch_details(struct cli *cli);

/*
 * Open the journal if --journal is given. If it is not, open the journal if
 * lines of text on standard output would reach it; a failure then leaves the
 * lines. Otherwise @out is unchanged. Return: the exit status; a failure is
 * printed.
 */
int watch_journal_open(const struct cli *cli, int *out);

/*
 * Send an event to the journal at @fd. @device is that of --device or NULL;
 * @name is the name of the event's node, safe to print, or NULL. A failure is
 * printed.
 */
void watch_journal(int fd, const struct ibsa_event *event, const char *device,
		   const char *name);

#endif
