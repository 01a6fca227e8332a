/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Timers in a hierarchical timing wheel: arming and cancelling take constant
 * time, whatever the number of timers.
 *
 * Source: Varghese and Lauck, "Hashed and hierarchical timing wheels", 1987.
 */
#ifndef ENGINE_TIMER_H
#define ENGINE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

/*
 * The wheel has eight levels, each for a digit of six bits of a tick. These 48
 * bits suffice for the milliseconds of a 64-bit nanosecond clock.
 */
enum { WHEEL_BITS = 6, WHEEL_SLOTS = 1 << WHEEL_BITS, WHEEL_LEVELS = 8 };

/*
 * A timer. @due: the tick, in milliseconds of the transport's clock, at which
 * it expires. @kind: a number of the timer's owner, which selects what happens
 * then.
 */
struct timer {
	struct list link;
	uint64_t due;
	uint8_t level; /* WHEEL_LEVELS: in the list of expired timers */
	uint8_t slot;
	uint8_t kind;
	bool armed;
};

struct wheel {
	uint64_t now;
	uint64_t used[WHEEL_LEVELS]; /* a bit for each slot with timers */
	struct list slots[WHEEL_LEVELS * WHEEL_SLOTS];
	struct list due;
};

/* Initialise a wheel without timers at tick @now. */
void ibsa__wheel_init(struct wheel *wheel, uint64_t now);

static inline void timer_init(struct timer *timer, uint8_t kind)
{
	timer->kind = kind;
	timer->armed = false;
}

/* Disarm @timer, which is armed. */
void ibsa__timer_disarm(struct wheel *wheel, struct timer *timer);

/* Disarm @timer if it is armed. */
static inline void timer_cancel(struct wheel *wheel, struct timer *timer)
{
	if (timer->armed)
		ibsa__timer_disarm(wheel, timer);
}

/* Arm @timer, which is not armed, for tick @due. */
void ibsa__timer_insert(struct wheel *wheel, struct timer *timer, uint64_t due);

/*
 * Arm @timer for tick @due, whether or not it is armed already. If @due has
 * passed, the timer expires at once.
 */
static inline void timer_arm(struct wheel *wheel, struct timer *timer,
			     uint64_t due)
{
	timer_cancel(wheel, timer);
	ibsa__timer_insert(wheel, timer, due);
}

/* Advance the wheel to tick @now, which is after its current tick. */
void ibsa__wheel_pass(struct wheel *wheel, uint64_t now);

/*
 * Advance the wheel to tick @now. A tick before the wheel's current tick has no
 * effect.
 */
static inline void wheel_advance(struct wheel *wheel, uint64_t now)
{
	if (now > wheel->now)
		ibsa__wheel_pass(wheel, now);
}

/*
 * Take one expired timer out of the wheel, in no particular order. Return: the
 * timer; NULL if no timer has expired.
 */
static inline struct timer *wheel_take(struct wheel *wheel)
{
	struct timer *timer;

	if (list_is_empty(&wheel->due))
		return NULL;
	timer = list_object(wheel->due.next, struct timer, link);
	ibsa__timer_disarm(wheel, timer);
	return timer;
}

/*
 * Return: the tick at which the caller must call wheel_advance() next:
 * the expiry of the earliest timer, or an earlier tick; UINT64_MAX if there
 * are no timers.
 */
uint64_t ibsa__wheel_next(const struct wheel *wheel);

#endif
