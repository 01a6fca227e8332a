/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the name of a node that a misspelt one stands for. */
#ifndef COMMAND_LIKELY_H
#define COMMAND_LIKELY_H

#include <stdbool.h>

#include <ibsa/records.h>

enum { NODE_NAME_TEXT = sizeof(((struct ibsa_node *)0)->node_description) };

/*
 * Find the node or host whose name differs little from @name, or from its part
 * before a '/'. A name with other numbers is that of another host, which may
 * be down. Return: whether there is one; @out may have any character.
 */
bool node_name_likely(const struct ibsa_node *nodes, size_t count,
		      const char *name, char out[NODE_NAME_TEXT]);

#endif
