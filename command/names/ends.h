/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the ports that a target of ibsa path stands for, and pairs of ports. */
#ifndef COMMAND_ENDS_H
#define COMMAND_ENDS_H

#include "names/nodes.h"
#include "names/target.h"

/*
 * A port at an end of a path: its GID, or its LID if the GID is not known, and
 * its names.
 */
struct end {
	struct ibsa_gid gid;
	uint32_t lid;
	char node[TARGET_NAME_BYTES + 1];   /* description; "": unknown */
	char device[TARGET_NAME_BYTES + 1]; /* "": unknown */
	unsigned int port; /* 0: unknown, or the node has only one port */
};

struct ends {
	struct end *all;
	size_t count;
};

/*
 * Find the ports that a target on the command line stands for. @nodes: all
 * nodes, without names of --node-name-map; NULL: they are queried. Return: the
 * exit status; a failure is printed. The caller frees @out in any case.
 */
int ends_find(struct cli *cli, const struct nodes *nodes,
	      const struct target *target, struct ends *out);
void ends_free(struct ends *ends);

/*
 * On Omni-Path, replace the LIDs of @count sets of ports by GIDs, if one of them
 * does not fit the InfiniBand layout of a PathRecord. Return: the exit status.
 */
int ends_to_gids(struct cli *cli, struct ends *ends, size_t count);

/*
 * Find the ports that "self" stands for: all active ports, in the subnet of the
 * client's port, of this machine or, on a fabric, of the host of the client's
 * node. If the options or IBSA_NODE name an adapter or port, or the host has
 * only one adapter: only the client's port. @nodes may be NULL.
 *
 * Return: the exit status. The caller frees @out in any case.
 */
int ends_own(struct cli *cli, const struct nodes *nodes, struct ends *out);

/* The rule by which ports of two targets form pairs. */
struct ends_pairs {
	const struct ends *src;
	const struct ends *dst;
	/*
	 * Two ports form a pair only if their devices have the same name;
	 * otherwise every port of @src forms a pair with every port of @dst.
	 */
	bool is_by_device;
};

/*
 * Determine the pairs: all pairs if @is_all is set or the two targets have no
 * device name in common; otherwise ports of devices with equal names.
 */
struct ends_pairs ends_pair(const struct ends *src, const struct ends *dst,
			    bool is_all);
bool ends_has_pair(const struct ends_pairs *pairs, const struct end *src,
		   const struct end *dst);

#endif
