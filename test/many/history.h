/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log of what was changed, and when: what may explain that an answer did
 * not come, and what an answer may not contradict.
 */
#ifndef MANY_HISTORY_H
#define MANY_HISTORY_H

#include "many.h"

/* What can be away for a while. */
enum many_thing {
	THING_HOST, /* and the others behind it */
	THING_LEAF = THING_HOST + HOSTS,
	THING_SM = THING_LEAF + LEAVES,
	THING_FAULTS, /* MADs are struck meanwhile, and counted */
	THINGS,
};

/*
 * From when on it may have been away, and surely was; until when it surely
 * was, and may have been.
 */
struct many_spell {
	uint64_t begins_ns;
	uint64_t lost_ns;
	uint64_t ends_ns; /* UINT64_MAX: it still is */
	uint64_t back_ns;
};

struct many_history {
	struct {
		struct many_spell *spells; /* one after another */
		size_t count;
		size_t room;
	} things[THINGS];
};

/* @begin_ns: before the change was asked for; it has been made by now. */
void many_note_loss(struct many_history *history, int thing, uint64_t begin_ns);
void many_back(struct many_history *history, int thing, uint64_t begin_ns);

bool many_is_lost(const struct many_history *history, int thing);

/* Whether it may have been away at any time of a question. */
bool many_touches(const struct many_history *history, int thing,
		  const struct many_report *report);

/* Whether it surely was all the time. */
bool many_covers(const struct many_history *history, int thing,
		 const struct many_report *report);

void many_history_done(struct many_history *history);

#endif
