/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash map: each key is found, whatever the keys are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/random.h"
#include "base/map.h"

enum { COUNT = 20000 };

/* Return: the number of slots that a search for @key visits. */
static uint32_t search_length(const struct map *map, uint64_t key)
{
	const uint32_t start = map_start(map, key);
	uint32_t i = start;

	while (map->slots[i].key != key || map->slots[i].value == MAP_NONE)
		i = (i + 1) & map->mask;
	return (i - start) & map->mask;
}

/*
 * Return: the longest search for any of @count keys that are multiples of
 * @step.
 */
static uint32_t longest_search(uint64_t step, uint32_t count)
{
	struct map map = { 0 };
	uint32_t longest = 0;

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(ibsa__map_put(&map, i * step, i), 0);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t length = search_length(&map, i * step);

		assert_int_equal(map_find(&map, i * step), i);
		if (longest < length)
			longest = length;
	}
	ibsa__map_done(&map);
	return longest;
}

/*
 * Keys that collide if they are multiplied by the golden ratio: its inverse
 * times small numbers. And keys that differ only in their upper or lower bits.
 */
static void search_is_short_for_any_keys(void **state)
{
	static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t inverse = golden;

	(void)state;
	for (int i = 0; i < 6; i++)
		inverse *= 2 - golden * inverse;
	assert_true(inverse * golden == 1);
	assert_true(longest_search(inverse, COUNT) < 500);
	assert_true(longest_search(1, COUNT) < 500);
	assert_true(longest_search(UINT64_C(1) << 32, COUNT) < 500);
	assert_true(longest_search(UINT64_C(1) << 44, COUNT) < 500);
}

/*
 * A map and an array with the same content, while keys are added and removed.
 */
static void only_removed_keys_are_gone(void **state)
{
	enum { KEYS = 300 };
	uint32_t want[KEYS];
	struct map map = { 0 };
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < KEYS; i++)
		want[i] = MAP_NONE;
	ibsa__map_remove(&map, 1);
	for (uint32_t round = 0; round < 20000; round++) {
		const uint64_t key = random_next(&seed) % KEYS;

		if (random_next(&seed) % 2) {
			want[key] = round;
			assert_int_equal(ibsa__map_put(&map, key, round), 0);
		} else {
			want[key] = MAP_NONE;
			ibsa__map_remove(&map, key);
		}
		for (uint64_t i = 0; round % 16 == 0 && i < KEYS; i++)
			assert_int_equal(map_find(&map, i), want[i]);
	}
	ibsa__map_done(&map);
}

static void reserved_memory_is_enough(void **state)
{
	struct map map = { 0 };
	const struct map_slot *slots;

	(void)state;
	assert_int_equal(ibsa__map_reserve(&map, 1000), 0);
	slots = map.slots;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(ibsa__map_put(&map, i, i), 0);
	assert_ptr_equal(map.slots, slots);
	ibsa__map_done(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(search_is_short_for_any_keys),
		cmocka_unit_test(only_removed_keys_are_gone),
		cmocka_unit_test(reserved_memory_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
