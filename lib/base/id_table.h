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
 * NULL. @next: the next id to give, if its slot is free. @none: an id of 0 is
 * never given, because slot 0 always points to @none, whose value is not an id
 * of slot 0.
 */
struct id_table {
	uint32_t **slots;
	uint32_t mask;
	uint32_t next;
	uint32_t none;
};

/* Return: the object of type @type whose member @id has the address @at. */
#define id_object(at, type, id) \
	((type *)(void *)((char *)(at)-offsetof(type, id)))

/* The first id is @first, if its slot is free. Return: 0; -ENOMEM. */
int ibsa__id_table_init(struct id_table *table, uint32_t first) IBSA_MUST_USE;
void ibsa__id_table_done(struct id_table *table);

/*
 * Double the number of slots. Return: 0; -ENOMEM memory runs out, and the
 * table has no room for @count entries.
 */
int ibsa__id_table_grow(struct id_table *table, size_t count) IBSA_MUST_USE;

/*
 * Make room for one more entry, @count in all. As long as there is memory,
 * half of the slots stay free. Return: 0; -ENOMEM.
 */
static inline int id_table_fit(struct id_table *table, size_t count)
{
	return count <= table->mask / 2 ? 0 : ibsa__id_table_grow(table, count);
}

/* Give @id the next free number; the table has room for it. */
static inline void id_table_add(struct id_table *table, uint32_t *id)
{
	uint32_t next = table->next;

	while (table->slots[next & table->mask])
		next++;
	*id = next;
	table->slots[next & table->mask] = id;
	table->next = next + 1;
}

static inline void id_table_remove(struct id_table *table, const uint32_t *id)
{
	table->slots[*id & table->mask] = NULL;
}

/* Return: the address of the entry's member with value @id; or NULL. */
static inline uint32_t *id_table_find(const struct id_table *table, uint32_t id)
{
	uint32_t *slot = table->slots[id & table->mask];

	return slot && *slot == id ? slot : NULL;
}

#endif
