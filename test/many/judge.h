/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether what workers report can be, by the log of what was changed. */
#ifndef MANY_JUDGE_H
#define MANY_JUDGE_H

#include "history.h"

struct many_verdict {
	uint64_t answered;
	uint64_t none;
	uint64_t tries_lost; /* MADs of which nothing came back */
	uint64_t struck;     /* of these, only a fault can be why */
	uint64_t corrupted;  /* answers that only a fault made wrong */
	uint64_t unexplained;
};

/* Says what is unexplained on standard error. */
void many_judge(const struct many_history *history,
		const struct many_report *report, struct many_verdict *verdict);

#endif
