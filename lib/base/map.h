/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash map from 64-bit keys to indexes, such as those of nodes or ports. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

/* The index that stands for no object. */
#define MAP_NONE UINT32_MAX

struct map_slot {
	uint64_t key;
	uint32_t value; /* MAP_NONE: the slot is free */
};

/*
 * A hash map with open addressing, at most half full. An empty map is all
 * zero.
 */
struct map {
	struct map_slot *slots;
	/*
	 * Odd random factors of the hash, so that collisions cannot be
	 * planned.
	 */
	uint64_t secrets[2];
	/* The number of slots, which is a power of two, minus one. */
	uint32_t mask;
	uint32_t used;
	/*
	 * Number of bits by which a hash is shifted to get the index of a slot.
	 */
	unsigned int shift;
};

/*
 * Make room for @more keys in the map, so that adding them cannot fail.
 * Return: 0 or -ENOMEM.
 */
int ibsa__map_reserve(struct map *map, uint32_t more);

/* Add @key to the map, or replace its value. Return: 0 or -ENOMEM. */
int ibsa__map_put(struct map *map, uint64_t key, uint32_t value);

/* Remove @key, if the map has it. */
void ibsa__map_remove(struct map *map, uint64_t key);

void ibsa__map_done(struct map *map);

/*
 * Return: the slot at which the search for @key starts. The second
 * multiplication distributes any keys (multiply-shift, Dietzfelbinger et al.
 * 1997). The first one improves the distribution of GUIDs of one vendor, which
 * differ in few bits.
 */
static inline uint32_t map_start(const struct map *map, uint64_t key)
{
	key *= map->secrets[0];
	key ^= key >> 32;
	key *= map->secrets[1];
	return (uint32_t)(key >> map->shift);
}

/* Return: the value of @key, or MAP_NONE. */
static inline uint32_t map_find(const struct map *map, uint64_t key)
{
	if (!map->slots)
		return MAP_NONE;
	for (uint32_t i = map_start(map, key);; i = (i + 1) & map->mask) {
		const struct map_slot *slot = &map->slots[i];

		if (slot->value == MAP_NONE || slot->key == key)
			return slot->value;
	}
}

#endif
