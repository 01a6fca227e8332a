/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timers in a hierarchical timing wheel. */
#include "engine/timer.h"

/*
 * Value of a timer's slot number while the timer is in the list of expired
 * timers.
 */
enum { SLOT_DUE = WHEEL_LEVELS * WHEEL_SLOTS };

void ibsa__wheel_init(struct wheel *wheel, uint64_t now)
{
	*wheel = (struct wheel){ .now = now };
	list_init(&wheel->due);
	for (int i = 0; i < WHEEL_LEVELS * WHEEL_SLOTS; i++)
		list_init(&wheel->slots[i]);
}

/*
 * Return: the slot for a timer that expires at tick @due, which is after the
 * wheel's current tick. Each level of the wheel is one digit of WHEEL_BITS
 * bits; the slot is on the level of the highest digit in which @due and the
 * current tick differ.
 */
static unsigned int wheel_slot(const struct wheel *wheel, uint64_t due)
{
	unsigned int top = 63 - (unsigned int)__builtin_clzll(due ^ wheel->now);
	unsigned int level = top / WHEEL_BITS;

	return level * WHEEL_SLOTS + (due >> level * WHEEL_BITS) % WHEEL_SLOTS;
}

static void timer_insert(struct wheel *wheel, struct timer *timer)
{
	if (timer->due <= wheel->now) {
		timer->slot = SLOT_DUE;
		list_append(&wheel->due, &timer->link);
		return;
	}
	timer->slot = (uint16_t)wheel_slot(wheel, timer->due);
	list_append(&wheel->slots[timer->slot], &timer->link);
	wheel->used[timer->slot / WHEEL_SLOTS] |= UINT64_C(1)
						  << timer->slot % WHEEL_SLOTS;
}

void ibsa__timer_arm(struct wheel *wheel, struct timer *timer, uint64_t due)
{
	timer_cancel(wheel, timer);
	timer->due = due;
	timer->armed = true;
	timer_insert(wheel, timer);
}

void ibsa__timer_disarm(struct wheel *wheel, struct timer *timer)
{
	timer->armed = false;
	list_remove(&timer->link);
	if (timer->slot != SLOT_DUE &&
	    list_is_empty(&wheel->slots[timer->slot]))
		wheel->used[timer->slot / WHEEL_SLOTS] &=
			~(UINT64_C(1) << timer->slot % WHEEL_SLOTS);
}

/*
 * Insert the timers of one slot into the wheel again, after the wheel has
 * advanced: most move to a lower level.
 */
static void slot_redistribute(struct wheel *wheel, unsigned int slot)
{
	struct list timers;

	list_init(&timers);
	list_splice(&timers, &wheel->slots[slot]);
	wheel->used[slot / WHEEL_SLOTS] &= ~(UINT64_C(1) << slot % WHEEL_SLOTS);
	while (!list_is_empty(&timers)) {
		struct timer *timer = list_object(timers.next, struct timer,
						  link);

		list_remove(&timer->link);
		timer_insert(wheel, timer);
	}
}

/*
 * Return: a bit mask of the slots of one level that the wheel passes when this
 * level's digit changes from @from to @to.
 */
static uint64_t wheel_passed_slots(uint64_t from, uint64_t to)
{
	uint64_t steps = to - from;
	uint64_t bits;
	unsigned int first = (from + 1) % WHEEL_SLOTS;

	if (steps >= WHEEL_SLOTS)
		return UINT64_MAX;
	bits = (UINT64_C(1) << steps) - 1;
	return first ? bits << first | bits >> (WHEEL_SLOTS - first) : bits;
}

void ibsa__wheel_advance(struct wheel *wheel, uint64_t now)
{
	uint64_t before = wheel->now;

	if (now <= before)
		return;
	wheel->now = now;
	for (int level = WHEEL_LEVELS - 1; level >= 0; level--) {
		unsigned int shift = (unsigned int)level * WHEEL_BITS;
		uint64_t passed = wheel->used[level] &
				  wheel_passed_slots(before >> shift,
						     now >> shift);

		for (; passed; passed &= passed - 1)
			slot_redistribute(
				wheel,
				(unsigned int)level * WHEEL_SLOTS +
					(unsigned int)__builtin_ctzll(passed));
	}
}

struct timer *ibsa__wheel_take(struct wheel *wheel)
{
	struct timer *timer;

	if (list_is_empty(&wheel->due))
		return NULL;
	timer = list_object(wheel->due.next, struct timer, link);
	ibsa__timer_disarm(wheel, timer);
	return timer;
}

/* Return: the first tick of the next slot of a level that contains timers. */
static uint64_t wheel_level_next(const struct wheel *wheel, unsigned int level)
{
	unsigned int shift = level * WHEEL_BITS;
	uint64_t digits = wheel->now >> shift;
	unsigned int at = digits % WHEEL_SLOTS;
	uint64_t used = wheel->used[level];
	uint64_t turned = at ? used >> at | used << (WHEEL_SLOTS - at) : used;

	return (digits + (unsigned int)__builtin_ctzll(turned)) << shift;
}

uint64_t ibsa__wheel_next(const struct wheel *wheel)
{
	uint64_t next = UINT64_MAX;

	if (!list_is_empty(&wheel->due))
		return wheel->now;
	for (unsigned int level = 0; level < WHEEL_LEVELS; level++) {
		uint64_t tick;

		if (!wheel->used[level])
			continue;
		tick = wheel_level_next(wheel, level);
		next = tick < next ? tick : next;
	}
	return next;
}
