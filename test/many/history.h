/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log of changes, with their times. It explains missing replies, and a
 * reply must not contradict it.
 */
#ifndef MANY_HISTORY_H
#define MANY_HISTORY_H

#include "many.h"

/* What can be lost for a while. */
enum many_thing {
	THING_HOST, /* plus the number of a host */
	THING_LEAF = THING_HOST + HOSTS,
	THING_SM = THING_LEAF + LEAVES,
	THING_FAULTS, /* faults drop or change MADs meanwhile, and count them */
	THINGS,
};

/*
 * The period in which a thing was lost. It may have been lost from @begins_ns
 * on, and was certainly lost from @lost_ns to @ends_ns; it was certainly back
 * at @back_ns.
 */
struct many_spell {
	uint64_t begins_ns;
	uint64_t lost_ns;
	uint64_t ends_ns; /* UINT64_MAX: it still is */
	uint64_t back_ns;
};

struct many_history {
	struct {
		struct many_spell *spells; /* in order of time */
		size_t count;
		size_t room;
	} things[THINGS];
};

/*
 * Note that a thing was lost or restored. @begin_ns: before the command was
 * sent; the change has been made by now.
 */
void many_note_loss(struct many_history *history, int thing, uint64_t begin_ns);
void many_back(struct many_history *history, int thing, uint64_t begin_ns);

bool many_is_lost(const struct many_history *history, int thing);

/* Whether the thing may have been lost at some time during a query. */
bool many_touches(const struct many_history *history, int thing,
		  const struct many_report *report);

/* Whether the thing was lost during the whole query. */
bool many_covers(const struct many_history *history, int thing,
		 const struct many_report *report);

void many_history_done(struct many_history *history);

#endif
