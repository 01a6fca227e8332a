/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables that number their entries and find an entry by its number. The lower
 * bits of a number are the entry's slot in the table: a number whose slot is
 * still taken is skipped, so that nothing is hashed or searched.
 */
#ifndef BASE_ID_TABLE_H
#define BASE_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <ibsa/types.h>

/*
 * A table. @slots: pointers to the ids, which are members of the entries, or
 * NULL. @next: the next id to give. @max: the largest id, 2^n - 1; after it, the
 * ids start again at 1.
 */
struct id_table {
	uint64_t **slots;
	size_t mask;
	size_t count;
	uint64_t next;
	uint64_t max;
};

/* Return: the object of type @type whose member @id has the address @at. */
#define id_object(at, type, id) \
	((type *)(void *)((char *)(at)-offsetof(type, id)))

/* The first id is @first, unless that is 0. Return: 0; -ENOMEM. */
int ibsa__id_table_init(struct id_table *table, uint64_t first,
			uint64_t max) IBSA_MUST_USE;
void ibsa__id_table_done(struct id_table *table);

/*
 * Double the number of slots. Return: 0; -ENOMEM memory runs out, and the
 * table has fewer than @count slots.
 */
int ibsa__id_table_grow(struct id_table *table, size_t count) IBSA_MUST_USE;

/*
 * Make room for @count entries in all. As long as there is memory, half of the
 * slots stay free. Return: 0; -ENOMEM.
 */
static inline int id_table_fit(struct id_table *table, size_t count)
{
	return count <= table->mask / 2 ? 0 : ibsa__id_table_grow(table, count);
}

/* Give @id the next free number; the table has room for it. */
static inline void id_table_add(struct id_table *table, uint64_t *id)
{
	uint64_t next = table->next;

	while (!next || table->slots[next & table->mask])
		next = (next + 1) & table->max;
	*id = next;
	table->slots[next & table->mask] = id;
	table->next = (next + 1) & table->max;
	table->count++;
}

static inline void id_table_remove(struct id_table *table, const uint64_t *id)
{
	table->slots[*id & table->mask] = NULL;
	table->count--;
}

/* Return: the address of the entry's member with value @id; or NULL. */
static inline uint64_t *id_table_find(const struct id_table *table, uint64_t id)
{
	uint64_t *slot = table->slots[id & table->mask];

	return slot && *slot == id ? slot : NULL;
}

#endif
