/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Alias GUIDs: further GUIDs of a port besides its own. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "fabric/subnet/guid.h"
#include "fabric/tools/order.h"

void ibsa__aliases_done(struct aliases *aliases)
{
	ibsa__map_done(&aliases->table_of);
	ibsa__free(aliases->tables);
	ibsa__free(aliases->all);
	*aliases = (struct aliases){ 0 };
}

static int by_guid(const void *guid, const void *element)
{
	const struct alias *alias = element;

	return order_of_numbers(*(const uint64_t *)guid, alias->guid);
}

/* Return: the index of the alias GUID, or the index at which to insert it. */
static size_t alias_position(const struct aliases *aliases, uint64_t guid)
{
	return order_position(&guid, aliases->all, aliases->count,
			      sizeof(*aliases->all), by_guid);
}

uint64_t ibsa__aliases_find(const struct aliases *aliases, uint64_t guid)
{
	const size_t position = alias_position(aliases, guid);

	if (position == aliases->count || aliases->all[position].guid != guid)
		return 0;
	return aliases->all[position].port_guid;
}

struct guid_table *ibsa__aliases_table(const struct aliases *aliases,
				       uint64_t port_guid)
{
	const uint32_t index = map_find(&aliases->table_of, port_guid);

	return index == MAP_NONE ? NULL : &aliases->tables[index];
}

uint64_t ibsa__aliases_guid_at(const struct aliases *aliases,
			       uint64_t port_guid, uint32_t index)
{
	const struct guid_table *table;

	if (!index)
		return port_guid;
	table = ibsa__aliases_table(aliases, port_guid);
	return table ? table->guids[index] : 0;
}

struct guid_table *ibsa__aliases_make(struct aliases *aliases,
				      uint64_t port_guid)
{
	struct guid_table *table = ibsa__aliases_table(aliases, port_guid);

	if (table)
		return table;
	if (ARRAY_GROW(aliases->tables, aliases->table_room,
		       aliases->table_count + 1) ||
	    ibsa__map_put(&aliases->table_of, port_guid, aliases->table_count))
		return NULL;
	table = &aliases->tables[aliases->table_count++];
	*table = (struct guid_table){ .port_guid = port_guid };
	return table;
}

int ibsa__aliases_set(struct aliases *aliases, struct guid_table *table,
		      unsigned int entry, uint64_t guid)
{
	const int err = ARRAY_GROW(aliases->all, aliases->room,
				   aliases->count + 1);
	size_t position;

	if (err)
		return err;
	ibsa__aliases_clear(aliases, table, entry);
	position = alias_position(aliases, guid);
	memmove(&aliases->all[position + 1], &aliases->all[position],
		(aliases->count - position) * sizeof(*aliases->all));
	aliases->all[position] = (struct alias){ guid, table->port_guid };
	aliases->count++;
	table->guids[entry] = guid;
	return 0;
}

void ibsa__aliases_clear(struct aliases *aliases, struct guid_table *table,
			 unsigned int entry)
{
	size_t position;

	if (!table->guids[entry])
		return;
	position = alias_position(aliases, table->guids[entry]);
	aliases->count--;
	memmove(&aliases->all[position], &aliases->all[position + 1],
		(aliases->count - position) * sizeof(*aliases->all));
	table->guids[entry] = 0;
}
