/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef COMMAND_METRICS_IBSAD_H
#define COMMAND_METRICS_IBSAD_H

#include "metrics/text.h"

/*
 * Write a sample of each number in the status of ibsad, for each device of this
 * machine that an ibsad serves: the present numbers, such as that of clients,
 * if @present is set; otherwise the counters.
 */
void metrics_ibsad_write(struct metrics_text *text, bool present);

#endif
