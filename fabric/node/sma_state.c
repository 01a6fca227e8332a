/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores the values that an SM outside of the fabric has set, by node. */
#include "base/alloc.h"
#include "fabric/node/sma.h"

struct sma_node *ibsa__sma_node(const struct nodes *nodes, uint32_t node)
{
	return nodes->sma_nodes ? nodes->sma_nodes[node] : NULL;
}

const struct sma_port *ibsa__sma_port(const struct nodes *nodes,
				      const struct topo_port *port)
{
	const struct sma_node *node = ibsa__sma_node(nodes, port->node);

	return node ? &node->ports[port->number] : NULL;
}

static struct sma_node *sma_node_new(const struct nodes *nodes, uint32_t index)
{
	const struct topo_node *node = &nodes->subnet->topo.nodes[index];
	struct sma_node *sma = ibsa__calloc(1, sizeof(*sma));

	if (!sma)
		return NULL;
	sma->ports = ibsa__calloc(node->port_count + 1u, sizeof(*sma->ports));
	if (!sma->ports) {
		ibsa__free(sma);
		return NULL;
	}
	/*
	 * At the first Set of a node, the stored values start as the current
	 * ones.
	 */
	for (uint32_t i = 0; i <= node->port_count; i++)
		ibsa__port_info(
			nodes, &nodes->subnet->topo.ports[node->first_port + i],
			0, &sma->ports[i].set);
	return sma;
}

struct sma_node *ibsa__sma_make(struct nodes *nodes, uint32_t node)
{
	if (!nodes->sma_nodes)
		nodes->sma_nodes = ibsa__calloc(nodes->subnet->topo.node_count,
						sizeof(*nodes->sma_nodes));
	if (!nodes->sma_nodes)
		return NULL;
	if (!nodes->sma_nodes[node])
		nodes->sma_nodes[node] = sma_node_new(nodes, node);
	return nodes->sma_nodes[node];
}

static void free_node(struct sma_node *sma, uint8_t port_count)
{
	for (uint32_t i = 0; i <= port_count; i++) {
		ibsa__free(sma->ports[i].pkeys);
		ibsa__free(sma->ports[i].sl_to_vl);
		ibsa__free(sma->ports[i].vl_arb);
	}
	ibsa__free(sma->ports);
	ibsa__free(sma);
}

void ibsa__sma_done(struct nodes *nodes)
{
	const struct topology *topo = &nodes->subnet->topo;

	for (uint32_t i = 0; nodes->sma_nodes && i < topo->node_count; i++) {
		if (nodes->sma_nodes[i])
			free_node(nodes->sma_nodes[i],
				  topo->nodes[i].port_count);
	}
	ibsa__free(nodes->sma_nodes);
	nodes->sma_nodes = NULL;
}
