/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the ports for storage that nothing but the hosts at their leaf switches
 * tells from ports for applications: storage servers have few ports, the hosts
 * at the leaf switch of a rail have many.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "graph/rails.h"
#include "output/fields.h"

/*
 * Ports that hosts with few ports have at a leaf switch for storage. With fewer
 * of them, one server at the leaf switch of a rail would be half of the ports
 * of a small fabric.
 */
enum { LEAST_FEW = 3 };

/* A leaf switch of this host, and the ports of other hosts there. */
struct leaf {
	size_t node;
	size_t own; /* ports of this host */
	size_t others;
	size_t few; /* those of @others whose hosts have few ports */
};

/* A port of this host. */
struct own_port {
	uint64_t guid;
	size_t leaf;
};

/* Another host at one of the leaf switches. */
struct other_host {
	const char *name; /* the first word */
	size_t ports;
};

struct leaves {
	const struct ibsa_topology *topology;
	const char *host; /* name of this host, the first word */
	struct leaf *all;
	size_t count;
	struct own_port *ports;
	size_t port_count;
	struct other_host *hosts; /* sorted by name */
	size_t host_count;
	bool out_of_memory;
};

/* Compare the first words of two texts. */
static int host_order(const char *a, const char *b)
{
	const size_t a_len = strcspn(a, " ");
	const size_t b_len = strcspn(b, " ");
	const int order = strncasecmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int by_host(const void *a, const void *b)
{
	const struct other_host *x = a;
	const struct other_host *y = b;

	return host_order(x->name, y->name);
}

/*
 * Whether the description of a node is "HOST" or "HOST DEVICE". That of an
 * adapter without a name has several words of its maker.
 */
static bool has_host(const struct ibsa_topology_node *node)
{
	const char *rest = strchr(node->name, ' ');

	return *node->name && rest != node->name &&
	       (!rest || !strchr(rest + 1, ' '));
}

/* Get a port that has a link, and the node at the other end. */
static bool far_get(const struct ibsa_topology *topology, size_t node,
		    unsigned int number, struct ibsa_topology_port *port,
		    struct ibsa_topology_node *far)
{
	return ibsa_topology_port_at(topology, node, number, port) == 0 &&
	       port->has_link &&
	       ibsa_topology_node_at(topology, port->far_node, far) == 0;
}

/* Return: the index of the leaf switch, which is added if it is new. */
static size_t leaf_index(struct leaves *leaves, size_t node)
{
	struct leaf *added;
	size_t i = 0;

	while (i < leaves->count && leaves->all[i].node != node)
		i++;
	if (i < leaves->count)
		return i;
	added = list_add(&leaves->all, &leaves->count, sizeof(*added));
	leaves->out_of_memory |= !added;
	if (added)
		added->node = node;
	return i;
}

/* Add the ports of one of this host's adapters that are at a switch. */
static void own_add(struct leaves *leaves, size_t index, unsigned int count)
{
	struct ibsa_topology_port port;
	struct ibsa_topology_node far;

	for (unsigned int i = 1; i <= count; i++) {
		struct own_port *added;
		size_t leaf;

		if (!far_get(leaves->topology, index, i, &port, &far) ||
		    far.type != IBSA_NODE_SWITCH)
			continue;
		leaf = leaf_index(leaves, port.far_node);
		added = list_add(&leaves->ports, &leaves->port_count,
				 sizeof(*added));
		leaves->out_of_memory |= !added;
		if (leaves->out_of_memory)
			return;
		*added = (struct own_port){ port.guid, leaf };
		leaves->all[leaf].own++;
	}
}

static void own_read(struct leaves *leaves)
{
	struct ibsa_topology_node node;

	for (size_t i = 0;
	     ibsa_topology_node_at(leaves->topology, i, &node) == 0; i++)
		if (node.type == IBSA_NODE_CA && has_host(&node) &&
		    host_order(node.name, leaves->host) == 0)
			own_add(leaves, i, node.port_count);
}

/* Find the adapter of another host at a port of a leaf switch. */
static bool other_get(const struct leaves *leaves, size_t leaf,
		      unsigned int number, struct ibsa_topology_node *out)
{
	struct ibsa_topology_port port;

	return far_get(leaves->topology, leaf, number, &port, out) &&
	       out->type == IBSA_NODE_CA &&
	       !(has_host(out) && host_order(out->name, leaves->host) == 0);
}

/* List the other hosts at the leaf switches. */
static void hosts_list(struct leaves *leaves)
{
	struct ibsa_topology_node other;
	size_t unique = 0;

	for (size_t i = 0; i < leaves->count; i++)
		for (unsigned int k = 1; k <= UINT8_MAX; k++) {
			struct other_host *added;

			if (!other_get(leaves, leaves->all[i].node, k,
				       &other) ||
			    !has_host(&other))
				continue;
			added = list_add(&leaves->hosts, &leaves->host_count,
					 sizeof(*added));
			leaves->out_of_memory |= !added;
			if (!added)
				return;
			added->name = other.name;
		}
	if (leaves->host_count)
		qsort(leaves->hosts, leaves->host_count, sizeof(*leaves->hosts),
		      by_host);
	for (size_t i = 0; i < leaves->host_count; i++)
		if (!i ||
		    by_host(&leaves->hosts[unique - 1], &leaves->hosts[i]) != 0)
			leaves->hosts[unique++] = leaves->hosts[i];
	leaves->host_count = unique;
}

static struct other_host *host_find(const struct leaves *leaves,
				    const struct ibsa_topology_node *node)
{
	const struct other_host key = { .name = node->name };

	if (!leaves->host_count || !has_host(node))
		return NULL;
	return bsearch(&key, leaves->hosts, leaves->host_count, sizeof(key),
		       by_host);
}

/* Count all ports with links of these hosts. */
static void hosts_count(struct leaves *leaves)
{
	struct ibsa_topology_node node, far;
	struct ibsa_topology_port port;

	for (size_t i = 0;
	     ibsa_topology_node_at(leaves->topology, i, &node) == 0; i++) {
		struct other_host *host = node.type == IBSA_NODE_CA
						  ? host_find(leaves, &node)
						  : NULL;

		for (unsigned int k = 1; host && k <= node.port_count; k++)
			host->ports += far_get(leaves->topology, i, k, &port,
					       &far);
	}
}

static void leaf_count(const struct leaves *leaves, struct leaf *leaf)
{
	struct ibsa_topology_node other;

	for (unsigned int i = 1; i <= UINT8_MAX; i++) {
		const struct other_host *host;

		if (!other_get(leaves, leaf->node, i, &other))
			continue;
		host = host_find(leaves, &other);
		leaf->others++;
		leaf->few += host && 2 * host->ports < leaves->port_count;
	}
}

static bool is_for_storage(const struct leaf *leaf)
{
	return leaf->few >= LEAST_FEW && 2 * leaf->few >= leaf->others;
}

/* A leaf switch that is neither this nor for storage may be either. */
static bool is_for_rails(const struct leaf *leaf)
{
	return leaf->others && 4 * leaf->few <= leaf->others;
}

/* Whether most ports of this host are certainly at leaf switches of rails. */
static bool has_rails(const struct leaves *leaves)
{
	size_t count = 0;

	for (size_t i = 0; i < leaves->count; i++)
		if (is_for_rails(&leaves->all[i]))
			count += leaves->all[i].own;
	return 2 * count > leaves->port_count;
}

static void roles_set(const struct leaves *leaves, struct machine_port *at)
{
	const uint64_t guid = fields_gid_guid(&at->state.gid);

	if (at->role != ROLE_COMPUTE || at->is_role_given)
		return;
	for (size_t i = 0; i < leaves->port_count; i++)
		if (leaves->ports[i].guid == guid &&
		    is_for_storage(&leaves->all[leaves->ports[i].leaf]))
			role_set_by_leaf(at);
}

void leaf_roles_set(const struct ibsa_topology *topology, const char *host,
		    struct machine_port *ports, size_t count)
{
	struct leaves leaves = { .topology = topology, .host = host };

	own_read(&leaves);
	/* With one leaf switch, there is nothing to compare. */
	if (leaves.count > 1) {
		hosts_list(&leaves);
		hosts_count(&leaves);
	}
	for (size_t i = 0; i < leaves.count; i++)
		leaf_count(&leaves, &leaves.all[i]);
	if (!leaves.out_of_memory && has_rails(&leaves))
		for (size_t i = 0; i < count; i++)
			roles_set(&leaves, &ports[i]);
	free(leaves.all);
	free(leaves.ports);
	free(leaves.hosts);
}
