/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line on the terminal while answers are long in coming. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct progress {
	bool terminal; /* whether standard error is one; else nothing shows */
	struct timespec start;
	long long counted_ms; /* when one of the two below showed something */
};

void progress_start(struct progress *progress);

/* How long to wait until progress_show() has something new; -1: for ever. */
int progress_pause_ms(const struct progress *progress);

/* Show how many tries there were, once it has taken a second. */
void progress_show(const struct progress *progress, unsigned long long tries);

/* Show how far it has come, likewise. */
void progress_count(struct progress *progress, size_t done, size_t total);

/* Show what it is that takes so long, and for how long it has, likewise. */
void progress_text(struct progress *progress, const char *what);

/* Erase the line if it is there. */
void progress_end(void);

#endif
