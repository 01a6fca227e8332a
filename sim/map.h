/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash map from 64-bit keys to numbers: what finds a node or a port. */
#ifndef SIM_MAP_H
#define SIM_MAP_H

#include <stddef.h>
#include <stdint.h>

/* No node, no port, no switch. */
#define SIM_NONE UINT32_MAX

struct map_slot {
	uint64_t key;
	uint32_t value; /* SIM_NONE: the slot is free */
};

/* Open addressing, at most half full; all zero is an empty map. */
struct map {
	struct map_slot *slots;
	uint32_t mask; /* slots - 1, a power of two less one */
	uint32_t used;
};

/* Add @key, or replace its value. Return: 0 or -ENOMEM. */
int ibsa__map_put(struct map *map, uint64_t key, uint32_t value);

void ibsa__map_done(struct map *map);

/* Where the search for @key starts: GUIDs of one vendor differ little. */
static inline uint32_t map_start(const struct map *map, uint64_t key)
{
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(key >> 32) & map->mask;
}

/* The value of @key, or SIM_NONE. */
static inline uint32_t map_find(const struct map *map, uint64_t key)
{
	if (!map->slots)
		return SIM_NONE;
	for (uint32_t i = map_start(map, key);; i = (i + 1) & map->mask) {
		const struct map_slot *slot = &map->slots[i];

		if (slot->value == SIM_NONE || slot->key == key)
			return slot->value;
	}
}

#endif
