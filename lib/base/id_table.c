/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that number their entries: creation and growth. */
#include <errno.h>

#include "base/alloc.h"
#include "base/id_table.h"

enum { FIRST_SLOTS = 64 };

int ibsa__id_table_init(struct id_table *table, uint32_t first)
{
	*table = (struct id_table){
		.slots = ibsa__calloc(FIRST_SLOTS, sizeof(*table->slots)),
		.mask = FIRST_SLOTS - 1,
		.next = first,
		.none = 1,
	};
	if (!table->slots)
		return -ENOMEM;
	table->slots[0] = &table->none;
	return 0;
}

void ibsa__id_table_done(struct id_table *table)
{
	ibsa__free(table->slots);
	table->slots = NULL;
}

int ibsa__id_table_grow(struct id_table *table, size_t count)
{
	const uint32_t mask = table->mask * 2 + 1;
	uint32_t **slots = ibsa__calloc((size_t)mask + 1, sizeof(*slots));

	if (!slots)
		return count <= table->mask ? 0 : -ENOMEM;
	slots[0] = &table->none;
	for (size_t i = 1; i <= table->mask; i++) {
		uint32_t *slot = table->slots[i];

		if (slot)
			slots[*slot & mask] = slot;
	}
	ibsa__free(table->slots);
	table->slots = slots;
	table->mask = mask;
	return 0;
}
