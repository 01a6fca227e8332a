/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the nodes and ports of a host by the host's name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/reach.h>
#include <ibsa/types.h>

#include "common/host.h"
#include "base/alloc.h"
#include "base/sized.h"

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

static int nodes_select(const struct ibsa_node *nodes, size_t count,
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

/*
 * Copy the caller's @count structs of @size bytes at @in. Return: 0; -ENOMEM;
 * -E2BIG as of ibsa__sized_read().
 */
static int nodes_take(const void *in, size_t size, size_t count,
		      struct ibsa_node **out)
{
	struct ibsa_node *nodes = ibsa__calloc(count + 1, sizeof(*nodes));
	int err = nodes ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++)
		err = ibsa__sized_read(&nodes[i], sizeof(*nodes),
				       (const char *)in + i * size, size);
	if (err)
		ibsa__free(nodes);
	else
		*out = nodes;
	return err;
}

/* Give the caller @nodes, which are freed, in structs of @size bytes. */
static int nodes_give(struct ibsa_node *nodes, size_t count, size_t size,
		      struct ibsa_node **out, size_t *out_count)
{
	char *all = count ? ibsa__calloc(count, size) : NULL;

	for (size_t i = 0; i < count && all; i++)
		ibsa__sized_write(all + i * size, size, &nodes[i],
				  sizeof(*nodes));
	ibsa__free(nodes);
	if (count && !all)
		return -ENOMEM;
	*out = (struct ibsa_node *)(void *)all;
	*out_count = count;
	return 0;
}

int ibsa_host_select_sized(const struct ibsa_node *nodes, size_t size,
			   size_t count, const char *name,
			   struct ibsa_node **out, size_t *out_count)
{
	struct ibsa_node *own = NULL;
	struct ibsa_node *found;
	int err = 0;

	if (nodes && size != sizeof(*nodes))
		err = nodes_take(nodes, size, count, &own);
	if (!err)
		err = nodes_select(own ? own : nodes, count, name, &found,
				   &count);
	ibsa__free(own);
	return err ? err : nodes_give(found, count, size, out, out_count);
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
		if (!ibsa_reply_decode(reply, i, &all->nodes[all->count],
				       sizeof(all->nodes[0])))
			all->count++;
	}
}

int ibsa_host_ports_sized(struct ibsa_client *client, const char *name,
			  size_t size, struct ibsa_node **out,
			  size_t *out_count)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct all_nodes all = { .count = 0 };
	struct ibsa_node *found;
	size_t count;
	int err;

	if (!name || !*name)
		return -EINVAL;
	err = ibsa_query_wait(client, &query, all_nodes_take, &all);
	if (!err)
		err = all.err;
	if (!err)
		err = nodes_select(all.nodes, all.count, name, &found, &count);
	ibsa__free(all.nodes);
	return err ? err : nodes_give(found, count, size, out, out_count);
}

void ibsa_host_ports_free(struct ibsa_node *ports)
{
	ibsa__free(ports);
}
