/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A request for PathRecords, and what is found for it. */
#ifndef SIM_SA_PATH_H
#define SIM_SA_PATH_H

#include "sim/sa/sa.h"

/*
 * What an end of a path is asked to be: all ports under all their names, one
 * port under all of them, or one name.
 */
struct path_end {
	const struct end_port *end; /* NULL: all */
	uint64_t guid;		    /* 0: any of the port's */
	uint32_t lid;		    /* 0: any of the port's */
};

struct path_ends {
	struct path_end from;
	struct path_end to;
	bool is_routed; /* the way leads off the subnet */
};

/* What a path is. */
struct path {
	struct port_name from;
	struct port_name to;
	uint16_t pkey;
	uint8_t rate; /* rank */
	uint8_t mtu;
	uint8_t life_time;
};

/* The fields that PathRecords of both layouts and MultiPathRecords share. */
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
 * One request for PathRecords. Those of Omni-Path are handled as those of
 * InfiniBand, but for the LIDs.
 */
struct path_query {
	struct sa_work *work;
	const struct ibsa_path *want;
	uint32_t want_dlid; /* of the width that the layout has */
	uint32_t want_slid;
	uint64_t mask;
	struct path_ends ends;
	unsigned int paths; /* for each pair of ports */
	uint16_t pkey;	    /* of every path, unless ports have tables */
};

#define HAS(query, field) \
	(((query)->mask & IBSA_PATH_CM(field)) == IBSA_PATH_CM(field))

/* What OpenSM refuses before it looks at the ends: a status, or 0. */
uint16_t ibsa__path_check(const struct path_query *query);

/* Whether the GID's prefix is this subnet's, or the one of all subnets. */
bool ibsa__gid_is_of_subnet(const struct subnet *subnet, const uint8_t *gid);

/* Answer with a path between two LIDs. */
void ibsa__path_put(const struct path_query *query, const struct path *path,
		    uint32_t from_lid, uint32_t to_lid, uint8_t preference);

/* Answer with those of a pair of ports, as many as the query is for. */
void ibsa__path_add_pair(const struct path_query *query,
			 const struct port_name *from,
			 const struct port_name *to);

/*
 * While every port is a full member of the default partition and of no
 * other, one P_Key does for all paths; false if there can be none.
 */
bool ibsa__path_choose_pkey(struct path_query *query);

/* Find the path between two ports. False if none is as wanted. */
bool ibsa__path_find(const struct path_query *query,
		     const struct port_name *from, const struct port_name *to,
		     struct path *out);

#endif
