/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the comparison of rails share. */
#ifndef TOPOLOGY_RAILS_H
#define TOPOLOGY_RAILS_H

#include "topology/check.h"
#include "topology/peers.h"

/* A port of an adapter of a host. The description is "HOST ADAPTER". */
struct rail {
	const char *host;    /* the first word of a text */
	const char *adapter; /* the rest of it, one word */
	uint32_t port;
	uint8_t number; /* of the port */
	uint32_t name;	/* a number for @adapter and @number */
};

/* The rails of a topology. */
struct audit {
	struct check *check;
	bool is_partial;    /* the SA does not show all ports */
	struct rail *rails; /* in the order of hosts, then of names */
	uint32_t rail_count;
	uint32_t name_count;
	struct trait *traits; /* as many as rails */
	struct peer *hosts;   /* as many as rails */
	/*
	 * Rails that were found missing with their leaf switch: the number of
	 * the host's first rail, in the upper half, and the name; sorted.
	 */
	uint64_t *told;
	size_t told_count, told_room;
};

static inline const struct graph_port *port_at(const struct audit *audit,
					       uint32_t rail)
{
	return &audit->check->now->ports[audit->rails[rail].port];
}

/* Return: the order of the hosts of two rails; 0: they are of one host. */
int ibsa__rails_host_order(const struct rail *a, const struct rail *b);

/*
 * Write the name of the host of a rail to @out, or the name of the rail, such as
 * "mlx5_3" or "mlx5_3 port 2". Return: @out.
 */
const char *ibsa__rails_host_text(const struct audit *audit, uint32_t rail,
				  char out[NAME_TEXT]);
const char *ibsa__rails_text(const struct audit *audit, uint32_t rail,
			     char out[PORT_TEXT]);

/* Let the last finding, if it is rail-missing, name a rail like @rail. */
void ibsa__rails_missing_set(const struct audit *audit, uint32_t rail);

/*
 * Find the leaf switches that are missing: a group of hosts lacks a rail that
 * other groups have. Return: 0; -ENOMEM.
 */
int ibsa__rails_leaves(struct audit *audit);

#endif
