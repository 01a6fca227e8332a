/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits how many events are printed, and counts those left out. */

#include "base/clock.h"
#include "names/event_lines.h"

enum {
	/* The time after which an unused burst is free again. */
	BURST_MS = EVENT_LIMIT_BURST * 1000 / EVENT_LIMIT_PER_S,
	AGAIN_MS = 500,
};

bool event_limit_take(struct event_limit *limit, uint64_t sequence)
{
	const int64_t now = now_ms();
	const int64_t again_ms = limit->left_out ? AGAIN_MS : 0;

	if (limit->full_ms < now)
		limit->full_ms = now;
	/*
	 * After an event was left out, further events are left out until there
	 * is room for several.
	 */
	if (limit->full_ms - now > BURST_MS - again_ms) {
		limit->left_out++;
		limit->sequence = sequence;
		return false;
	}
	limit->full_ms += 1000 / EVENT_LIMIT_PER_S;
	return true;
}

uint64_t event_limit_left_out(struct event_limit *limit, bool is_ending)
{
	const uint64_t count = limit->left_out;

	if (!is_ending && limit->full_ms - now_ms() > BURST_MS - AGAIN_MS)
		return 0;
	limit->left_out = 0;
	return count;
}
