/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Alias GUIDs: further GUIDs of a port besides its own. */
#ifndef FABRIC_SUBNET_GUID_H
#define FABRIC_SUBNET_GUID_H

#include "base/map.h"

enum {
	GUIDS_PER_BLOCK = 8,
	/* Number of entries in the GUID table of an adapter's port. */
	GUID_CAP_ADAPTER = 32,
	GUID_CAP_SWITCH = 1,
};

/*
 * The GUID table of a port that has alias GUIDs. Entry 0 is the port's own
 * GUID.
 */
struct guid_table {
	uint64_t port_guid;
	uint64_t guids[GUID_CAP_ADAPTER]; /* 0: the entry is empty */
	/*
	 * For each entry, the number of the GUID that the SA last generated for
	 * it; 0: none.
	 */
	uint32_t invented[GUID_CAP_ADAPTER];
};

struct alias {
	uint64_t guid;
	uint64_t port_guid;
};

struct aliases {
	struct alias *all; /* in order of GUIDs */
	size_t count;
	size_t room;
	struct guid_table *tables;
	uint32_t table_count;
	size_t table_room;
	struct map table_of; /* by port GUID */
	/* Number of GUIDs that the SA has generated so far. */
	uint32_t invented;
};

/* Remove all aliases and free their memory. */
void ibsa__aliases_done(struct aliases *aliases);

/* Return: the own GUID of the port that has this alias GUID, or 0. */
uint64_t ibsa__aliases_find(const struct aliases *aliases, uint64_t guid);

/* Return: the table of the port with this GUID of its own, or NULL. */
struct guid_table *ibsa__aliases_table(const struct aliases *aliases,
				       uint64_t port_guid);

/*
 * Return: an entry of the GUID table of the port whose own GUID is given; 0:
 * the entry is empty.
 */
uint64_t ibsa__aliases_guid_at(const struct aliases *aliases,
			       uint64_t port_guid, uint32_t index);

/*
 * Return: the GUID table of the port, which is created if it does not exist;
 * NULL: memory is short.
 */
struct guid_table *ibsa__aliases_make(struct aliases *aliases,
				      uint64_t port_guid);

/*
 * Set an entry of a port's GUID table to a GUID that is not in use. Return: 0
 * or -ENOMEM.
 */
int ibsa__aliases_set(struct aliases *aliases, struct guid_table *table,
		      unsigned int entry, uint64_t guid);

/* Clear an entry. */
void ibsa__aliases_clear(struct aliases *aliases, struct guid_table *table,
			 unsigned int entry);

#endif
