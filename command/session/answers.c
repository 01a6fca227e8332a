/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the answers of the SA by status. */
#include "session/answers.h"

static const struct {
	uint16_t status;
	const char *text;
} rows[] = {
#define ROW(name, value, text) { value, text },
	IBSA_STATUSES(ROW)
#undef ROW
};

void answers_count(struct answers *answers, int err, uint16_t status)
{
	unsigned int kind = 0;

	if (!answers)
		return;
	while (kind < ANSWERS_OTHER && rows[kind].status != status)
		kind++;
	answers->counts[err ? ANSWERS_NONE : kind]++;
}

void answers_add(struct answers *answers, const struct answers *more)
{
	for (unsigned int i = 0; i < ANSWERS_KINDS; i++)
		answers->counts[i] += more->counts[i];
}

const char *answers_text(unsigned int kind)
{
	if (kind < ANSWERS_OTHER)
		return rows[kind].text;
	return kind == ANSWERS_OTHER ? "other" : "no answer";
}

bool answer_is_of_no_sa(uint16_t status)
{
	return status == IBSA_STATUS_BAD_METHOD ||
	       status == IBSA_STATUS_BAD_METHOD_ATTRIBUTE;
}
