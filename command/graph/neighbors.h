/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rails of this host and of the hosts like it, as the SA shows them. */
#ifndef COMMAND_NEIGHBORS_H
#define COMMAND_NEIGHBORS_H

#include "graph/rails.h"

/**
 * struct neighbors - the hosts that an SA shows
 * @nodes: their ports
 * @rails: what is wrong with rails
 * @host:  name of this host, or ""
 */
struct neighbors {
	struct nodes nodes;
	struct rails rails;
	char host[HOST_TEXT];
};

/*
 * Query the nodes and links from the port with the GID @own. Return: whether the
 * hosts could be compared; a failure is not printed. The caller calls
 * neighbors_free() in any case.
 */
bool neighbors_read(struct ibsa_client *client, const struct ibsa_gid *own,
		    struct neighbors *out);
void neighbors_free(struct neighbors *neighbors);

#endif
