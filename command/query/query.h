/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of ibsa query. */
#ifndef COMMAND_QUERY_H
#define COMMAND_QUERY_H

#include <ibsa/ibsa.h>

#include "output/cli.h"
#include "output/columns.h"

/* Whether a record is a block of a forwarding table. */
bool is_forwarding(const struct ibsa_record *record);

/*
 * Write the entries of blocks of forwarding tables as a table, a line for each
 * LID and switch. Return: the exit status.
 */
int forwarding_print(struct out *out, const struct ibsa_reply *reply);

/*
 * Print why the SA may have refused @query, a Set of an MCMemberRecord with the
 * fields in the arguments of @cli: what it lacks, or what differs from the group
 * or the port.
 */
void join_refusal_explain(struct cli *cli, const struct ibsa_query *query);

#endif
