/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings: suspicious lines of a topology file that is otherwise valid. */
#ifndef TOPOLOGY_NET_CHECK_H
#define TOPOLOGY_NET_CHECK_H

#include "topology/net_parse.h"

/*
 * Search the topology for findings, in the order of the file. Return: 0 or
 * -ENOMEM.
 */
int ibsa__net_check(struct net_parser *parser);

#endif
