/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits how many events ibsa watch prints, and counts those left out. */
#ifndef COMMAND_WATCH_LIMIT_H
#define COMMAND_WATCH_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Events at once: every port of a large fabric may come or go. */
	WATCH_LIMIT_BURST = 65536,
	WATCH_LIMIT_PER_S = 1000,
};

struct watch_limit {
	int64_t full_ms;   /* when all of the burst is free again */
	uint64_t left_out; /* since watch_limit_left_out() has returned them */
	uint64_t sequence; /* of the last one */
};

/* Return: whether to print an event; if not, it is counted as left out. */
bool watch_limit_take(struct watch_limit *limit, uint64_t sequence);

/*
 * Return: the number of events left out, if half of a second's events can be
 * printed again, or if the watch @is_ending; otherwise 0.
 */
uint64_t watch_limit_left_out(struct watch_limit *limit, bool is_ending);

#endif
