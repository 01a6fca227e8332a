/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The clock of a simulated fabric: the system's clock, or a virtual one, which
 * only the program advances.
 */
#ifndef FABRIC_TOOLS_CLOCK_H
#define FABRIC_TOOLS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct fabric_clock {
	bool is_virtual;
	uint64_t virtual_ns; /* the virtual time */
};

static inline uint64_t fabric_clock_now(const struct fabric_clock *clock)
{
	return clock->is_virtual ? clock->virtual_ns : clock_now_ns();
}

#endif
