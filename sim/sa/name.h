/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The GUIDs that end ports are known by: their own ones and aliases. */
#ifndef SIM_SA_NAME_H
#define SIM_SA_NAME_H

#include "sim/subnet/subnet.h"

struct sa;

/* A GUID of an end port: its own, or an alias. */
struct port_name {
	const struct end_port *end;
	uint64_t guid;
};

/* Where a walk over all port names is; all zero is before the first. */
struct name_walk {
	uint32_t end;
	size_t alias;
};

/* The next name, in GUID order, of a port that is seen; false: no other. */
bool ibsa__name_next(const struct subnet *subnet, struct name_walk *walk,
		     struct port_name *out);

/* The end port with this GUID or alias, or NULL if the SA sees none. */
const struct end_port *ibsa__end_named(const struct subnet *subnet,
				       uint64_t guid);

/* Forget aliases and memberships of ports that are not seen. */
void ibsa__names_forget_lost(struct sa *sa, uint64_t now_ns);

#endif
