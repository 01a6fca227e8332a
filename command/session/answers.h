/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the answers of the SA by status. */
#ifndef COMMAND_ANSWERS_H
#define COMMAND_ANSWERS_H

#include <stdbool.h>

#include <ibsa/types.h>

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
 * Count the result of a query in @answers, which may be NULL. @err and @status
 * are those of struct ibsa_reply.
 */
void answers_count(struct answers *answers, int err, uint16_t status);

/*
 * Whether no SA runs at the address from which ClassPortInfo was refused with
 * @status: each SA returns it, and the kernel of a node without an SA refuses
 * it with this status. Source: Linux drivers/infiniband/core/mad.c,
 * generate_unmatched_resp().
 */
bool answer_is_of_no_sa(uint16_t status);

/* Add @more to @answers. */
void answers_add(struct answers *answers, const struct answers *more);

/*
 * Return: the name of a kind of answer: "success", "no records", "other" or "no
 * answer".
 */
const char *answers_text(unsigned int kind);

#endif
