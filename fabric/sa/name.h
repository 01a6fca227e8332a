/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds end ports by GUID: each port's own GUID and its alias GUIDs. */
#ifndef FABRIC_SA_NAME_H
#define FABRIC_SA_NAME_H

#include "fabric/subnet/subnet.h"

struct sa;

/* An end port together with one of its GUIDs: its own or an alias. */
struct port_name {
	const struct end_port *end;
	uint64_t guid;
};

/*
 * Position of a walk over the GUIDs of all end ports; all zero: before the
 * first GUID.
 */
struct name_walk {
	uint32_t end;
	size_t alias;
};

/*
 * Get the next GUID of a walk, in the order of GUIDs; only GUIDs of ports that
 * the SM has discovered. Return: false: the walk has ended.
 */
bool ibsa__name_next(const struct subnet *subnet, struct name_walk *walk,
		     struct port_name *out);

/*
 * Return: the discovered end port with this GUID, its own or an alias; or
 * NULL.
 */
const struct end_port *ibsa__end_named(const struct subnet *subnet,
				       uint64_t guid);

/*
 * Delete the alias GUIDs and multicast memberships of ports that are no longer
 * in the subnet.
 */
void ibsa__names_forget_lost(struct sa *sa, uint64_t now_ns);

#endif
