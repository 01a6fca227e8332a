/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The topology of the fabric, for several commands. */
#ifndef COMMAND_TOPOLOGY_H
#define COMMAND_TOPOLOGY_H

#include <ibsa/topology.h>

#include "output/cli.h"

struct node_map;

/**
 * struct topology_view - a topology, with names of the user
 * @topology: the topology
 * @info:     its size
 * @map:      names of --node-name-map, or NULL; not owned
 * @is_hidden: for each node, whether a --device with wildcards hides it
 */
struct topology_view {
	struct ibsa_topology *topology;
	struct ibsa_topology_info info;
	const struct node_map *map;
	bool *is_hidden;
};

/*
 * Set the other members of a view that has a topology, so that all its nodes
 * are shown. Return: the exit status; a failure is printed.
 */
int topology_view_prepare(struct topology_view *view);
void topology_view_free(struct topology_view *view);

/* Return: a node, with the name that --node-name-map has for it, if any. */
struct ibsa_topology_node topology_view_node(const struct topology_view *view,
					     size_t index);

/*
 * Return: a port of a node; @number 0 is the end port of a switch. A port
 * without records is empty.
 */
struct ibsa_topology_port topology_view_port(const struct topology_view *view,
					     size_t node, unsigned int number);

/*
 * Return: the LID of a port, and its LMC; for a port of a switch, those of its
 * port 0.
 */
uint32_t topology_view_lid(const struct topology_view *view, size_t node,
			   unsigned int number, uint8_t *out_lmc);

/*
 * Whether a link is counted at this end, so that each link is counted once: at
 * the end that comes first in the order of nodes and ports; if only one end
 * reports the link, at that end.
 */
bool topology_is_first_end(const struct ibsa_topology *topology, size_t node,
			   const struct ibsa_topology_port *port);

/*
 * Read the topology from the SA. Return: the exit status; CLI_SILENT if the
 * topology lacks this port; a failure is printed.
 */
int topology_read(struct cli *cli, struct ibsa_topology **out);

/*
 * Read a topology file, which may be a pipe. Return: the exit status; a failure
 * is printed.
 */
int topology_file_read(const struct cli *cli, const char *path,
		       struct ibsa_topology **out);

/*
 * Read the topology file of --expect, as topology_file_read(). Return: the exit
 * status; a failure is printed.
 */
int topology_expect_load(const struct cli *cli, const char *path,
			 struct ibsa_topology **out);

#endif
