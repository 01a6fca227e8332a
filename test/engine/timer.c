/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The timing wheel compared with a linear search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "engine/timer.h"

enum { TIMERS = 500, STEPS = 20000 };

static struct wheel wheel;
static struct timer timers[TIMERS];
static struct random random_numbers = { 7 };

/* Return: a delay of any magnitude: 3 ms is as likely as 30 days. */
static uint64_t any_delay(void)
{
	return random_next(&random_numbers) >>
	       (30 + random_below(&random_numbers, 34));
}

static uint64_t earliest(void)
{
	uint64_t due = UINT64_MAX;

	for (int i = 0; i < TIMERS; i++) {
		if (timers[i].armed && timers[i].due < due)
			due = timers[i].due;
	}
	return due;
}

/* Take all expired timers: each is due, and no timer that is due is left. */
static void take_due(uint64_t now)
{
	struct timer *timer;

	while ((timer = wheel_take(&wheel))) {
		assert_true(timer->due <= now);
		assert_false(timer->armed);
	}
	assert_true(earliest() > now);
}

/*
 * The wheel agrees with a linear search, for random arming, moving and
 * cancelling of timers and jumps of the clock.
 */
static void wheel_agrees_with_a_search(void **state)
{
	uint64_t now = 123456789;

	(void)state;
	ibsa__wheel_init(&wheel, now);
	for (int i = 0; i < TIMERS; i++)
		timer_init(&timers[i], 0);
	for (int step = 0; step < STEPS; step++) {
		struct timer *timer =
			&timers[random_below(&random_numbers, TIMERS)];

		if (random_below(&random_numbers, 4))
			timer_arm(&wheel, timer, now + any_delay());
		else
			timer_cancel(&wheel, timer);
		if (random_below(&random_numbers, 2))
			continue;
		take_due(now);
		assert_true(ibsa__wheel_next(&wheel) <= earliest());
		now += any_delay() >> 8;
		wheel_advance(&wheel, now);
		take_due(now);
	}
}

/* Advancing to ibsa__wheel_next() each time reaches each timer at its tick. */
static void next_leads_to_every_timer(void **state)
{
	uint64_t now = 0;
	int left = TIMERS;

	(void)state;
	ibsa__wheel_init(&wheel, now);
	for (int i = 0; i < TIMERS; i++) {
		timer_init(&timers[i], 0);
		timer_arm(&wheel, &timers[i], any_delay());
	}
	for (int hops = 0; left; hops++) {
		uint64_t next = ibsa__wheel_next(&wheel);
		struct timer *timer;

		assert_true(hops < 20 * TIMERS);
		assert_true(next >= now);
		now = next;
		wheel_advance(&wheel, now);
		while ((timer = wheel_take(&wheel))) {
			assert_true(timer->due == now);
			left--;
		}
	}
	assert_true(ibsa__wheel_next(&wheel) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wheel_agrees_with_a_search),
		cmocka_unit_test(next_leads_to_every_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
