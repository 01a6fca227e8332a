/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timers in a hierarchical timing wheel. */
#include "engine/timer.h"

void ibsa__wheel_init(struct wheel *wheel, uint64_t now)
{
	*wheel = (struct wheel){ .now = now };
	list_init(&wheel->due);
	for (int i = 0; i < WHEEL_LEVELS * WHEEL_SLOTS; i++)
		list_init(&wheel->slots[i]);
}

/*
 * Each level of the wheel is one digit of WHEEL_BITS bits. Return: the level of
 * the highest digit in which two ticks differ. A timer is on the level at which
 * its tick and the current tick differ, so all timers of a level expire before
 * those of the next higher level.
 */
static unsigned int wheel_level(uint64_t a, uint64_t b)
{
	return (63 - (unsigned int)__builtin_clzll(a ^ b)) / WHEEL_BITS;
}

void ibsa__timer_insert(struct wheel *wheel, struct timer *timer, uint64_t due)
{
	unsigned int level, slot;

	timer->due = due;
	timer->armed = true;
	if (due <= wheel->now) {
		timer->level = WHEEL_LEVELS;
		list_append(&wheel->due, &timer->link);
		return;
	}
	level = wheel_level(due, wheel->now);
	slot = (due >> level * WHEEL_BITS) % WHEEL_SLOTS;
	timer->level = (uint8_t)level;
	timer->slot = (uint8_t)slot;
	list_append(&wheel->slots[level * WHEEL_SLOTS + slot], &timer->link);
	wheel->used[level] |= UINT64_C(1) << slot;
}

void ibsa__timer_disarm(struct wheel *wheel, struct timer *timer)
{
	const bool is_last = timer->link.next == timer->link.prev;

	timer->armed = false;
	list_take(&timer->link);
	if (is_last && timer->level < WHEEL_LEVELS)
		wheel->used[timer->level] &= ~(UINT64_C(1) << timer->slot);
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

		list_take(&timer->link);
		ibsa__timer_insert(wheel, timer, timer->due);
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

void ibsa__wheel_pass(struct wheel *wheel, uint64_t now)
{
	const uint64_t before = wheel->now;

	wheel->now = now;
	for (int level = (int)wheel_level(before, now); level >= 0; level--) {
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

/* Return: the first tick of the next slot, on one level, that has timers. */
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
	if (!list_is_empty(&wheel->due))
		return wheel->now;
	for (unsigned int level = 0; level < WHEEL_LEVELS; level++) {
		if (wheel->used[level])
			return wheel_level_next(wheel, level);
	}
	return UINT64_MAX;
}
