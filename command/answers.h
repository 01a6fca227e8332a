/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the answers of the SA by status. */
#ifndef COMMAND_ANSWERS_H
#define COMMAND_ANSWERS_H

#include <ibsa/sa.h>

enum {
#define ANSWERS_INDEX(name, value, text) ANSWERS_##name,
	IBSA_STATUSES(ANSWERS_INDEX)
#undef ANSWERS_INDEX
		ANSWERS_OTHER, /* a status without a name */
	ANSWERS_NONE,	       /* no usable answer */
	ANSWERS_KINDS,
};

struct answers {
	uint64_t counts[ANSWERS_KINDS];
};

/*
 * Count how a query ended: @err and @status as in struct ibsa_reply. @answers
 * may be NULL.
 */
void answers_count(struct answers *answers, int err, uint16_t status);

/* Add @more to @answers. */
void answers_add(struct answers *answers, const struct answers *more);

/* The status as text: "success", "no records", "other", "no answer". */
const char *answers_text(unsigned int kind);

#endif
