/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash map from 64-bit keys to numbers. */
#include <errno.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/secret.h"

enum { FIRST_BITS = 6, HASH_BITS = 64 };

static void map_insert(struct map *map, uint64_t key, uint32_t value)
{
	uint32_t i = map_start(map, key);

	while (map->slots[i].value != MAP_NONE && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	if (map->slots[i].value == MAP_NONE)
		map->used++;
	map->slots[i] = (struct map_slot){ .key = key, .value = value };
}

/*
 * Choose random factors for the hash. With fixed factors, a topology file
 * could be written so that all its keys collide. The factors affect only the
 * time of a search, not its result.
 */
static void choose_secrets(struct map *map)
{
	map->secrets[0] = ibsa__secret() | 1;
	map->secrets[1] = ibsa__secret() | 1;
}

static int map_grow(struct map *map, unsigned int bits)
{
	const struct map old = *map;
	const uint32_t room = UINT32_C(1) << bits;
	struct map_slot *slots = ibsa__calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < room; i++)
		slots[i].value = MAP_NONE;
	map->slots = slots;
	map->mask = room - 1;
	map->shift = HASH_BITS - bits;
	map->used = 0;
	if (!old.slots)
		choose_secrets(map);
	for (uint32_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].value != MAP_NONE)
			map_insert(map, old.slots[i].key, old.slots[i].value);
	}
	ibsa__free(old.slots);
	return 0;
}

int ibsa__map_reserve(struct map *map, uint32_t more)
{
	const uint64_t want = 2 * ((uint64_t)map->used + more);
	const unsigned int have = map->slots ? HASH_BITS - map->shift : 0;
	unsigned int bits = have ? have : FIRST_BITS;

	while (UINT64_C(1) << bits < want)
		bits++;
	return bits == have ? 0 : map_grow(map, bits);
}

int ibsa__map_put(struct map *map, uint64_t key, uint32_t value)
{
	int err = ibsa__map_reserve(map, 1);

	if (!err)
		map_insert(map, key, value);
	return err;
}

/*
 * Remove a key. Entries after the freed slot move up if their search starts at
 * or before it.
 */
void ibsa__map_remove(struct map *map, uint64_t key)
{
	uint32_t hole;

	if (map_find(map, key) == MAP_NONE)
		return;
	hole = map_start(map, key);
	while (map->slots[hole].key != key)
		hole = (hole + 1) & map->mask;
	map->used--;
	for (uint32_t i = (hole + 1) & map->mask;
	     map->slots[i].value != MAP_NONE; i = (i + 1) & map->mask) {
		const uint32_t start = map_start(map, map->slots[i].key);

		if (((i - start) & map->mask) < ((i - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole].value = MAP_NONE;
}

void ibsa__map_done(struct map *map)
{
	ibsa__free(map->slots);
	*map = (struct map){ 0 };
}
