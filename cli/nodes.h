/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node's port from the node's name. */
#ifndef CLI_NODES_H
#define CLI_NODES_H

#include "cli.h"

/*
 * The lowest port of the one node whose description is @name; else of the
 * one whose description, or first word of it, is @name in any case.
 *
 * Return: the exit status; what went wrong has been said.
 */
int nodes_find(struct cli *cli, const char *name, uint64_t *out_port_guid);

#endif
