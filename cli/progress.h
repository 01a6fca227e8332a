/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shows progress on a terminal while an answer takes long. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct progress {
	bool terminal; /* stderr is a terminal; if not, nothing is printed */
	struct timespec start;
	long long
		counted_ms; /* time of the last progress_count() or progress_text() line */
};

void progress_start(struct progress *progress);

/* Milliseconds until progress_show() has something new; -1: never. */
int progress_pause_ms(const struct progress *progress);

/* Print the number of tries, if a second has passed. */
void progress_show(const struct progress *progress, unsigned long long tries);

/* Print how many of @total are done, if a second has passed. */
void progress_count(struct progress *progress, size_t done, size_t total);

/* Print what takes long, and for how long, if a second has passed. */
void progress_text(struct progress *progress, const char *what);

/* Erase the line, if there is one. */
void progress_end(void);

#endif
