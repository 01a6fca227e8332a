/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash map from 64-bit keys to numbers. */
#include <errno.h>

#include "base/alloc.h"
#include "sim/map.h"

enum { FIRST_SLOTS = 64 };

static void place(struct map *map, uint64_t key, uint32_t value)
{
	uint32_t i = map_start(map, key);

	while (map->slots[i].value != SIM_NONE && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	if (map->slots[i].value == SIM_NONE)
		map->used++;
	map->slots[i] = (struct map_slot){ .key = key, .value = value };
}

static int grow(struct map *map)
{
	const struct map old = *map;
	const uint32_t room = old.slots ? 2 * (old.mask + 1) : FIRST_SLOTS;
	struct map_slot *slots = ibsa__calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < room; i++)
		slots[i].value = SIM_NONE;
	*map = (struct map){ .slots = slots, .mask = room - 1 };
	for (uint32_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].value != SIM_NONE)
			place(map, old.slots[i].key, old.slots[i].value);
	}
	ibsa__free(old.slots);
	return 0;
}

int ibsa__map_put(struct map *map, uint64_t key, uint32_t value)
{
	if (!map->slots || 2 * (map->used + 1) > map->mask + 1) {
		int err = grow(map);

		if (err)
			return err;
	}
	place(map, key, value);
	return 0;
}

void ibsa__map_done(struct map *map)
{
	ibsa__free(map->slots);
	*map = (struct map){ 0 };
}
