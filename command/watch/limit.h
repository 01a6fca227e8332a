/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits how many events ibsa watch prints, and counts those left out. */
#ifndef COMMAND_WATCH_LIMIT_H
#define COMMAND_WATCH_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
