/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of nodes by GUID, from a file in the format of ibnetdiscover's
 * --node-name-map.
 */
#ifndef COMMAND_NODE_MAP_H
#define COMMAND_NODE_MAP_H

#include "output/cli.h"

/*
 * If --node-name-map is given, read its file into @cli. Each line has a GUID
 * and a name in quotes; # begins a comment. Of several lines with one GUID, the
 * first is used. Return: the exit status; a failure is printed.
 */
int node_map_read(struct cli *cli);
void node_map_free(struct node_map *map);

/* Return: the name of the node with this GUID, or NULL. @map may be NULL. */
const char *node_map_find(const struct node_map *map, uint64_t guid);

#endif
