/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the nodes and ports of a host by the host's name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/host.h>
#include <ibsa/sa.h>

#include "common/host.h"
#include "base/alloc.h"

/*
 * Return: how well a node matches a name, higher is better; 0: not at all. Of
 * nodes that match equally well, a channel adapter is better than others.
 */
static int node_match(const struct ibsa_node *node, const char *name)
{
	const int match = ibsa__host_match(name, node->node_description);

	return match ? 2 * match + (node->node_type == IBSA_NODE_CA) : 0;
}

static int nodes_compare(const void *a, const void *b)
{
	const struct ibsa_node *x = a;
	const struct ibsa_node *y = b;
	int order = strverscmp(x->node_description, y->node_description);

	if (!order && x->node_guid != y->node_guid)
		order = x->node_guid < y->node_guid ? -1 : 1;
	return order ? order : x->local_port_num - y->local_port_num;
}

int ibsa_host_select(const struct ibsa_node *nodes, size_t count,
		     const char *name, struct ibsa_node **out,
		     size_t *out_count)
{
	struct ibsa_node *ports;
	size_t found = 0;
	int best = 1;

	if (!name || !*name)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		const int match = node_match(&nodes[i], name);

		if (match > best)
			found = 0;
		if (match >= best)
			found++;
		if (match > best)
			best = match;
	}
	ports = found ? ibsa__calloc(found, sizeof(*ports)) : NULL;
	if (found && !ports)
		return -ENOMEM;
	found = 0;
	for (size_t i = 0; ports && i < count; i++) {
		if (node_match(&nodes[i], name) == best)
			ports[found++] = nodes[i];
	}
	if (ports)
		qsort(ports, found, sizeof(*ports), nodes_compare);
	*out = ports;
	*out_count = found;
	return 0;
}

/* All NodeRecords of a reply. */
struct all_nodes {
	struct ibsa_node *nodes;
	size_t count;
	int err;
};

static void all_nodes_take(const struct ibsa_reply *reply, void *arg)
{
	struct all_nodes *all = arg;

	if (reply->err || reply->status || !reply->count)
		return;
	all->nodes = ibsa__calloc(reply->count, sizeof(*all->nodes));
	if (!all->nodes) {
		all->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < reply->count; i++) {
		if (!ibsa_reply_decode(reply, i, &all->nodes[all->count]))
			all->count++;
	}
}

int ibsa_host_ports(struct ibsa_client *client, const char *name,
		    struct ibsa_node **out, size_t *out_count)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct all_nodes all = { .count = 0 };
	int err;

	if (!name || !*name)
		return -EINVAL;
	err = ibsa_query_wait(client, &query, all_nodes_take, &all);
	if (!err)
		err = all.err;
	if (!err)
		err = ibsa_host_select(all.nodes, all.count, name, out,
				       out_count);
	ibsa__free(all.nodes);
	return err;
}

void ibsa_host_ports_free(struct ibsa_node *ports)
{
	ibsa__free(ports);
}
