/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks the reports of the workers against the log of changes. */
#ifndef MANY_JUDGE_H
#define MANY_JUDGE_H

#include "history.h"

struct many_verdict {
	uint64_t answered;
	uint64_t none;
	uint64_t tries_lost; /* tries without a reply */
	uint64_t struck;     /* of these, only a fault explains them */
	uint64_t corrupted;  /* wrong replies that only a fault explains */
	uint64_t late;	     /* tries whose reply may only have come too late */
	uint64_t unexplained;
};

/* Prints what is unexplained to standard error. */
void many_judge(const struct many_history *history,
		const struct many_report *report, struct many_verdict *verdict);

#endif
