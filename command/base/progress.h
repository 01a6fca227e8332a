/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shows progress on a terminal while the user waits for an answer. */
#ifndef COMMAND_PROGRESS_H
#define COMMAND_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	int64_t start_ms;
	int64_t
		/*
		 * Time of the last line that progress_count() or
		 * progress_text() has printed.
		 */
		counted_ms;
};

void progress_start(struct progress *progress);

/*
 * Return: milliseconds until a new progress line can be printed; -1: stderr is
 * not a terminal, and none is printed.
 */
int progress_pause_ms(const struct progress *progress);

/*
 * Print the number of tries of a query, if the user has waited for
 * PATIENCE_MS. Call it when progress_pause_ms() has passed.
 */
void progress_show(const struct progress *progress, unsigned long long tries);

/*
 * Print how many of @total are done, if the user has waited for PATIENCE_MS,
 * and STEP_MS have passed since the last line.
 */
void progress_count(struct progress *progress, size_t done, size_t total);

/*
 * Print which operation takes long, and for how long it has run, if the user
 * has waited for PATIENCE_MS, and STEP_MS have passed since the last line.
 */
void progress_text(struct progress *progress, const char *what);

/* Erase the line, if there is one. */
void progress_end(void);

#endif
