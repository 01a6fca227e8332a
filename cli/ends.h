/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ends of paths: the ports that a target means, and pairs of them. */
#ifndef CLI_ENDS_H
#define CLI_ENDS_H

#include "nodes.h"
#include "target.h"

/* One port: its GID, or else its LID, and as what it is known. */
struct end {
	struct ibsa_gid gid;
	uint32_t lid;
	char node[TARGET_NAME_BYTES + 1];   /* description; "": not known */
	char device[TARGET_NAME_BYTES + 1]; /* "": not known */
};

struct ends {
	struct end *all;
	size_t count;
};

/*
 * The ports that a target means. Return: the exit status; what went wrong has
 * been said. To be freed in any case.
 */
int ends_find(struct cli *cli, const struct target *target, struct ends *out);
void ends_free(struct ends *ends);

/*
 * The ports of "self": the port that asks. Of several adapters all active ports
 * in its subnet: of this machine, or in a fabric of the host that it is on;
 * but that port alone if an option names it or its device. @nodes may be NULL. Return: the exit
 * status; to be freed in any case.
 */
int ends_own(struct cli *cli, const struct nodes *nodes, struct ends *out);

/* Which ports of two targets are paired. */
struct ends_pairs {
	const struct ends *src;
	const struct ends *dst;
	bool is_by_device; /* only those with equal names */
};

/* All pairs if @is_all, or if no names are equal. */
struct ends_pairs ends_pair(const struct ends *src, const struct ends *dst,
			    bool is_all);
bool ends_has_pair(const struct ends_pairs *pairs, const struct end *src,
		   const struct end *dst);

#endif
