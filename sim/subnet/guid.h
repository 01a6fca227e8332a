/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The GUIDs that ports were given besides their own: alias GUIDs. */
#ifndef SIM_SUBNET_GUID_H
#define SIM_SUBNET_GUID_H

#include "sim/tools/map.h"

enum {
	GUIDS_PER_BLOCK = 8,
	GUID_CAP_ADAPTER = 32, /* entries in the GUID table of a port */
	GUID_CAP_SWITCH = 1,
};

/* The GUID table of a port that was given any. Entry 0 is its own. */
struct guid_table {
	uint64_t port_guid;
	uint64_t guids[GUID_CAP_ADAPTER];    /* 0: none */
	uint32_t invented[GUID_CAP_ADAPTER]; /* last one invented for it */
};

struct alias {
	uint64_t guid;
	uint64_t port_guid;
};

struct aliases {
	struct alias *all; /* in GUID order */
	size_t count;
	size_t room;
	struct guid_table *tables;
	uint32_t table_count;
	size_t table_room;
	struct map table_of; /* by port GUID */
	uint32_t invented;   /* ever */
};

/* Forget them, and free what they take. */
void ibsa__aliases_done(struct aliases *aliases);

/* The GUID of the port that has this alias, or 0. */
uint64_t ibsa__aliases_find(const struct aliases *aliases, uint64_t guid);

/* The table of that port, or NULL. */
struct guid_table *ibsa__aliases_table(const struct aliases *aliases,
				       uint64_t port_guid);

/* The same, made if there is none; NULL: out of memory. */
struct guid_table *ibsa__aliases_make(struct aliases *aliases,
				      uint64_t port_guid);

/*
 * Put a GUID that nobody has into an entry, in place of the one there.
 * Return: 0 or -ENOMEM.
 */
int ibsa__aliases_set(struct aliases *aliases, struct guid_table *table,
		      unsigned int entry, uint64_t guid);

/* Take out what is in an entry, if anything is. */
void ibsa__aliases_clear(struct aliases *aliases, struct guid_table *table,
			 unsigned int entry);

#endif
