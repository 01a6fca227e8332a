/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of ibsa fabric share. */
#ifndef CLI_FABRIC_H
#define CLI_FABRIC_H

#include <ibsa/sim.h>

#include "cli.h"

/*
 * Load the topology that the first argument names. Return: the exit status;
 * what went wrong has been said.
 */
int fabric_load(struct cli *cli, const struct ibsa_fabric_options *options,
		struct ibsa_fabric **out);

/* What is in a topology, and what is wrong with it. Return: the exit status. */
int fabric_info(struct cli *cli);
void fabric_info_details(struct out *out);

#endif
