/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log of changes, with their times. */
#include <stdlib.h>

#include "history.h"

/* How long after a change of the fabric its effects may still be visible. */
#define SETTLE_NS UINT64_C(250000000)

bool many_is_lost(const struct many_history *history, int thing)
{
	const size_t count = history->things[thing].count;

	return count &&
	       history->things[thing].spells[count - 1].ends_ns == UINT64_MAX;
}

void many_note_loss(struct many_history *history, int thing, uint64_t begin_ns)
{
	const size_t count = history->things[thing].count;
	struct many_spell *spells = history->things[thing].spells;

	if (count == history->things[thing].room) {
		const size_t room = 2 * count + 16;

		spells = realloc(spells, room * sizeof(*spells));
		if (!spells)
			abort();
		history->things[thing].spells = spells;
		history->things[thing].room = room;
	}
	spells[count] = (struct many_spell){
		.begins_ns = begin_ns,
		.lost_ns = many_now_ns(),
		.ends_ns = UINT64_MAX,
		.back_ns = UINT64_MAX,
	};
	history->things[thing].count++;
}

void many_back(struct many_history *history, int thing, uint64_t begin_ns)
{
	const size_t count = history->things[thing].count;
	struct many_spell *last = &history->things[thing].spells[count - 1];

	last->ends_ns = begin_ns;
	last->back_ns = many_now_ns() + SETTLE_NS;
}

bool many_touches(const struct many_history *history, int thing,
		  const struct many_report *report)
{
	size_t i = history->things[thing].count;

	while (i-- > 0) {
		const struct many_spell *at = &history->things[thing].spells[i];

		if (at->back_ns < report->start_ns)
			return false;
		if (at->begins_ns <= report->end_ns)
			return true;
	}
	return false;
}

bool many_covers(const struct many_history *history, int thing,
		 const struct many_report *report)
{
	size_t i = history->things[thing].count;

	while (i-- > 0) {
		const struct many_spell *at = &history->things[thing].spells[i];

		if (at->ends_ns < report->start_ns)
			return false;
		if (at->lost_ns + SETTLE_NS <= report->start_ns &&
		    at->ends_ns >= report->end_ns)
			return true;
	}
	return false;
}

void many_history_done(struct many_history *history)
{
	for (int i = 0; i < THINGS; i++)
		free(history->things[i].spells);
}
