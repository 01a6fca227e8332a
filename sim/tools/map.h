/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash map from 64-bit keys to numbers: what finds a node or a port. */
#ifndef SIM_TOOLS_MAP_H
#define SIM_TOOLS_MAP_H

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
	uint64_t secrets[2]; /* odd: who writes the keys does not know them */
	uint32_t mask;	     /* slots - 1, a power of two less one */
	uint32_t used;
	unsigned int shift; /* of a hash, so that as many bits are left */
};

/* Make room for @more keys, which can then not fail. 0 or -ENOMEM. */
int ibsa__map_reserve(struct map *map, uint32_t more);

/* Add @key, or replace its value. Return: 0 or -ENOMEM. */
int ibsa__map_put(struct map *map, uint64_t key, uint32_t value);

/* Take @key out, if it is there. */
void ibsa__map_remove(struct map *map, uint64_t key);

void ibsa__map_done(struct map *map);

/*
 * Where the search for @key starts. The last step alone spreads any two keys
 * (multiply-shift, Dietzfelbinger et al. 1997); the one before it, GUIDs of
 * one vendor, which differ little.
 */
static inline uint32_t map_start(const struct map *map, uint64_t key)
{
	key *= map->secrets[0];
	key ^= key >> 32;
	key *= map->secrets[1];
	return (uint32_t)(key >> map->shift);
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
