/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests for PathRecords, and the paths that answer them. */
#ifndef SIM_SA_PATH_H
#define SIM_SA_PATH_H

#include "sim/sa/sa.h"

/*
 * What a request says of one end of a path: nothing (all ports with all their
 * GUIDs), the port, or one of the port's GUIDs.
 */
struct path_end {
	const struct end_port *end; /* NULL: all ports */
	uint64_t guid;		    /* 0: all GUIDs of the port */
	uint32_t lid;		    /* 0: all LIDs of the port */
};

struct path_ends {
	struct path_end from;
	struct path_end to;
	bool is_routed; /* the destination GID is in another subnet */
};

/* A path between two ports. */
struct path {
	struct port_name from;
	struct port_name to;
	uint16_t pkey;
	uint8_t rate; /* as a rank, not as a code */
	uint8_t mtu;
	uint8_t life_time;
};

/* Fields that PathRecords of both layouts and MultiPathRecords have. */
#define PATH_FIELDS_SHARED(F)        \
	F(raw_traffic)               \
	F(flow_label)                \
	F(hop_limit)                 \
	F(tclass)                    \
	F(reversible)                \
	F(numb_path)                 \
	F(pkey)                      \
	F(sl)                        \
	F(mtu_selector)              \
	F(mtu)                       \
	F(rate_selector)             \
	F(rate)                      \
	F(packet_life_time_selector) \
	F(packet_life_time)

/*
 * A request for PathRecords. Requests in the layout of Omni-Path use the same
 * struct, with their LIDs kept separately.
 */
struct path_query {
	struct sa_work *work;
	const struct ibsa_path *want;
	uint32_t want_dlid; /* LIDs of the request, in either layout */
	uint32_t want_slid;
	uint64_t mask;
	struct path_ends ends;
	unsigned int paths; /* maximum for each pair of ports */
	/* P_Key of all paths; not used if ports have P_Key tables */
	uint16_t pkey;
};

#define HAS(query, field) \
	(((query)->mask & IBSA_PATH_CM(field)) == IBSA_PATH_CM(field))

/*
 * Check what OpenSM checks before it searches for the ends. Return: a status,
 * or 0.
 */
uint16_t ibsa__path_check(const struct path_query *query);

/* Whether the prefix of a GID is that of this subnet or the link-local one. */
bool ibsa__gid_is_of_subnet(const struct subnet *subnet, const uint8_t *gid);

/* Append a path between two LIDs to the answer. */
void ibsa__path_put(const struct path_query *query, const struct path *path,
		    uint32_t from_lid, uint32_t to_lid, uint8_t preference);

/* Append the paths between two ports, up to the request's maximum. */
void ibsa__path_add_pair(const struct path_query *query,
			 const struct port_name *from,
			 const struct port_name *to);

/*
 * Set the one P_Key of all paths in a fabric whose ports are all full members
 * of only the default partition. Return: false: no path has the P_Key that the
 * request selects.
 */
bool ibsa__path_choose_pkey(struct path_query *query);

/*
 * Find the path between two ports. Return: false: no path has the values that
 * the request selects.
 */
bool ibsa__path_find(const struct path_query *query,
		     const struct port_name *from, const struct port_name *to,
		     struct path *out);

#endif
