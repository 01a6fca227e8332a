/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the rails of this host and of the hosts like it from the SA. */
#include "graph/neighbors.h"
#include "output/fields.h"
#include "session/query_wait.h"

static void nodes_take(const struct ibsa_reply *reply, void *arg)
{
	struct nodes *nodes = arg;

	if (ibsa_reply_outcome(reply) == IBSA_OUTCOME_OK)
		(void)records_decode(reply, &nodes->all, &nodes->count);
}

bool neighbors_read(struct ibsa_client *client, const struct ibsa_gid *own,
		    struct neighbors *out)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	const uint64_t guid = fields_gid_guid(own);

	*out = (struct neighbors){ .host = "" };
	if (ibsa_query_wait(client, &query, nodes_take, &out->nodes) != 0)
		return false;
	for (size_t i = 0; i < out->nodes.count; i++) {
		const char *text = out->nodes.all[i].node_description;

		if (out->nodes.all[i].port_guid == guid)
			(void)host_of(text, out->host);
	}
	return *out->host &&
	       rails_read(client, &out->nodes, &out->rails) == CLI_DONE;
}

void neighbors_free(struct neighbors *neighbors)
{
	rails_free(&neighbors->rails);
	nodes_free(&neighbors->nodes);
}
