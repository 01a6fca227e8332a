/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is odd about a topology that can be read all the same. */
#ifndef SIM_TOPOLOGY_CHECK_H
#define SIM_TOPOLOGY_CHECK_H

#include "sim/topology/parse.h"

/* Look for findings, in the order of the file. Return: 0 or -ENOMEM. */
int ibsa__topology_check(struct parser *parser);

/* What @finding says, in one sentence. */
void ibsa__finding_text(const struct topology *topo,
			const struct topo_finding *finding,
			struct ibsa_error *out);

/* A word for a kind, and its number of the public header. */
const char *ibsa__finding_name(unsigned int kind);

#endif
