/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests for PathRecords, and the paths that the SA returns. */
#ifndef FABRIC_SA_PATH_H
#define FABRIC_SA_PATH_H

#include "fabric/sa/sa.h"

/*
 * What a request gives for one end of a path: nothing (the end may be any
 * port, with any GUID), a port, or one GUID of a port.
 */
struct path_end {
	const struct end_port *end; /* NULL: all ports */
	uint64_t guid;		    /* 0: all GUIDs of the port */
	uint32_t lid;		    /* 0: all LIDs of the port */
};

struct path_ends {
	struct path_end from;
	struct path_end to;
	/* The destination GID belongs to another subnet. */
	bool is_routed;
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

/*
 * Fields that the PathRecords of InfiniBand and Omni-Path and the
 * MultiPathRecord have in common.
 */
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
 * A request for PathRecords. A request in the Omni-Path layout uses this
 * struct, too; its LIDs are in separate members.
 */
struct path_query {
	struct sa_work *work;
	const struct ibsa_path *want;
	/*
	 * LIDs that the request selects, from the InfiniBand or the Omni-Path
	 * layout.
	 */
	uint32_t want_dlid;
	uint32_t want_slid;
	uint64_t mask;
	struct path_ends ends;
	unsigned int paths; /* maximum for each pair of ports */
	/*
	 * The P_Key of all paths in the reply. If ports have P_Key tables, this
	 * member is used only if the request selects a P_Key or raw traffic;
	 * otherwise each path has its own P_Key.
	 */
	uint16_t pkey;
};

#define HAS(query, field) \
	(((query)->mask & IBSA_PATH_CM(field)) == IBSA_PATH_CM(field))

/*
 * Check a request as OpenSM does before it searches for the path's ends.
 * Return: the status of the refusal, or 0.
 */
uint16_t ibsa__path_check(const struct path_query *query);

/*
 * Whether the prefix of a GID is the subnet's prefix or the link-local prefix.
 */
bool ibsa__gid_is_of_subnet(const struct subnet *subnet, const uint8_t *gid);

/* Append a record of the path between two LIDs to the reply. */
void ibsa__path_put(const struct path_query *query, const struct path *path,
		    uint32_t from_lid, uint32_t to_lid, uint8_t preference);

/*
 * Append the paths between two ports to the reply, up to the maximum in the
 * request.
 */
void ibsa__path_add_pair(const struct path_query *query,
			 const struct port_name *from,
			 const struct port_name *to);

/*
 * Set @query->pkey to the P_Key that the request selects; without one, to the
 * default P_Key; for raw traffic, to 0. Return: false: no path can have the
 * selected P_Key: if ports have no P_Key tables, any P_Key other than the
 * default P_Key; if ports have P_Key tables, the invalid P_Keys 0 and 0x8000.
 */
bool ibsa__path_choose_pkey(struct path_query *query);

/*
 * Find the path between two ports. Return: false: no path between them has the
 * values that the request selects.
 */
bool ibsa__path_find(const struct path_query *query,
		     const struct port_name *from, const struct port_name *to,
		     struct path *out);

#endif
