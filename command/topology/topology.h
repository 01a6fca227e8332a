/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of ibsa topology, and the formats of other programs. */
#ifndef COMMAND_TOPOLOGY_OPTIONS_H
#define COMMAND_TOPOLOGY_OPTIONS_H

#include "graph/draw.h"
#include "graph/topology.h"

/**
 * struct topology_options - options of ibsa topology
 * @all: draw each adapter by itself
 */
struct topology_options {
	bool all;
};

/* The options of the command that runs. */
static inline const struct topology_options *topology_own(const struct cli *cli)
{
	return cli->own;
}

#endif
