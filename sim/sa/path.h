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

/* Where fields of a PathRecord lie, in bytes, whichever its layout. */
enum {
	AT_DGID = 8,
	AT_SGID = 24,
	AT_DLID = 40,
	GID_BYTES = 16,
};

/*
 * Where the others lie. IBA vol 1, 15.2.5.16; Linux sa_query.c for those of
 * Omni-Path, whose component mask is the same.
 */
struct layout {
	bool has_wide_lids;
	uint8_t slid;
	uint8_t raw_traffic; /* a bit, and the flow label */
	uint8_t hop_limit;
	uint8_t tclass;
	uint8_t reversible; /* a bit, and the number of paths */
	uint8_t pkey;
	uint8_t sl;
	uint8_t sl_max;
	uint8_t mtu; /* this, rate and life time: a selector above 6 bits */
	uint8_t mtu_max;
	uint8_t rate;
	uint8_t life_time;
	uint8_t preference;
};

/* Of a PathRecord of InfiniBand (sa_path.c). */
extern const struct layout ibsa__layout_ib;

/* One request for PathRecords. */
struct path_query {
	struct sa_work *work;
	const struct layout *at;
	const uint8_t *want;
	uint64_t mask;
	struct path_ends ends;
	unsigned int paths; /* for each pair of ports */
	uint16_t pkey;	    /* of every path, unless ports have tables */
};

#define HAS(query, field) \
	(((query)->mask & IBSA_PATH_CM(field)) == IBSA_PATH_CM(field))

static inline uint8_t path_selector(const struct path_query *query, uint8_t at)
{
	return query->want[at] >> 6;
}

static inline uint8_t path_quantity(const struct path_query *query, uint8_t at)
{
	return query->want[at] & 0x3f;
}

/* What OpenSM refuses before it looks at the ends: a status, or 0. */
uint16_t ibsa__path_check(const struct path_query *query);

/* Whether the GID's prefix is this subnet's, or the one of all subnets. */
bool ibsa__gid_is_of_subnet(const struct ibsa_fabric *fabric,
			    const uint8_t *gid);

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
