/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deadlines in a hierarchical timing wheel: to arm and to cancel cost the
 * same for one timer and for a million.
 *
 * Source: Varghese and Lauck, "Hashed and hierarchical timing wheels", 1987.
 */
#ifndef ENGINE_TIMER_H
#define ENGINE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

/* Eight digits of six bits hold every tick of a clock of 64-bit nanoseconds. */
enum { WHEEL_BITS = 6, WHEEL_SLOTS = 1 << WHEEL_BITS, WHEEL_LEVELS = 8 };

/* Time in ticks of one millisecond of the transport's clock. @kind is the
 * owner's, to tell what has come due. */
struct timer {
	struct list link;
	uint64_t due;
	uint16_t slot;
	uint8_t kind;
	bool armed;
};

struct wheel {
	uint64_t now;
	uint64_t used[WHEEL_LEVELS]; /* a bit for each slot with timers */
	struct list slots[WHEEL_LEVELS * WHEEL_SLOTS];
	struct list due;
};

/* A wheel without timers, at tick @now. */
void ibsa__wheel_init(struct wheel *wheel, uint64_t now);

static inline void timer_init(struct timer *timer, uint8_t kind)
{
	timer->kind = kind;
	timer->armed = false;
}

/* Arm @timer for tick @due, or move it there; a past one is due at once. */
void ibsa__timer_arm(struct wheel *wheel, struct timer *timer, uint64_t due);

/* Disarm @timer, if it is armed. */
void ibsa__timer_cancel(struct wheel *wheel, struct timer *timer);

/* Move the wheel to tick @now, no less than before. */
void ibsa__wheel_advance(struct wheel *wheel, uint64_t now);

/*
 * Take one timer that has come due, disarmed; NULL if there is none. The
 * earliest is not promised to come first.
 */
struct timer *ibsa__wheel_take(struct wheel *wheel);

/*
 * A tick by which the wheel should be advanced again: no later than the
 * earliest timer, perhaps before it. UINT64_MAX without timers.
 */
uint64_t ibsa__wheel_next(const struct wheel *wheel);

#endif
