/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the hosts, levels and link rates of a fabric, for ibsa status. */
#include <stdlib.h>
#include <string.h>

#include "common/host.h"
#include "graph/topology.h"
#include "output/fields.h"
#include "status/status.h"

enum { RATE_CODES = 64 };

/*
 * Whether a description is the name of a host and that of a device, such as
 * "node1 mlx5_0". The default descriptions of adapters have more words, and
 * their first word names no host.
 */
static bool has_host(const char *name)
{
	const char *device = ibsa__host_device(name);

	return *name != ' ' && *device && !strchr(device, ' ');
}

static int by_host(const void *a, const void *b)
{
	const char *x = *(const char *const *)a;
	const char *y = *(const char *const *)b;
	const size_t x_len = strcspn(x, " ");
	const size_t y_len = strcspn(y, " ");
	const int order = memcmp(x, y, x_len < y_len ? x_len : y_len);

	return order ? order : (x_len > y_len) - (x_len < y_len);
}

/* Return: the number of different hosts; @names is sorted. */
static size_t hosts_different(const char **names, size_t count)
{
	size_t hosts = 0;

	qsort(names, count, sizeof(*names), by_host);
	for (size_t i = 0; i < count; i++)
		hosts += i == 0 || by_host(&names[i - 1], &names[i]) != 0;
	return hosts;
}

int status_hosts_count(struct status *status)
{
	const struct ibsa_topology *topology = status->check.topology;
	const char **names = calloc(status->check.info.nodes + 1,
				    sizeof(*names));
	struct ibsa_topology_node node;
	size_t count = 0;

	if (!names)
		return no_memory();
	for (size_t i = 0; ibsa_topology_node_at(topology, i, &node) == 0;
	     i++) {
		if (node.type != IBSA_NODE_CA)
			continue;
		if (has_host(node.name))
			names[count++] = node.name;
		else
			status->hosts++;
	}
	status->hosts += hosts_different(names, count);
	free(names);
	return CLI_DONE;
}

static void rate_add(struct status *status, uint8_t rate, size_t count)
{
	const struct ibsa_path path = { .rate = rate };
	char text[IBSA_VALUE_TEXT] = "unknown";

	if (rate)
		fields_text(&ibsa_path_record, "rate", &path, text);
	status_list_add(status->rates, "%zu at %.*s Gb/s", count,
			(int)strcspn(text, "G"), text);
}

static void rates_write(struct status *status, const size_t counts[RATE_CODES])
{
	bool is_written[RATE_CODES] = { false };

	/* The most frequent rate first. */
	for (;;) {
		uint8_t most = 0;

		for (uint8_t i = 0; i < RATE_CODES; i++)
			if (is_written[most] ||
			    (!is_written[i] && counts[i] > counts[most]))
				most = i;
		if (is_written[most] || !counts[most])
			return;
		is_written[most] = true;
		rate_add(status, most, counts[most]);
	}
}

static void node_count(struct status *status, size_t index,
		       const struct ibsa_topology_node *node,
		       size_t counts[RATE_CODES])
{
	struct ibsa_topology_port port;

	if (node->type == IBSA_NODE_SWITCH && node->level)
		status->levels[node->level < STATUS_LEVELS
				       ? node->level - 1
				       : STATUS_LEVELS - 1]++;
	for (unsigned int number = 1; number <= node->port_count; number++)
		if (ibsa_topology_port_at(status->check.topology, index, number,
					  &port) == 0 &&
		    topology_is_first_end(status->check.topology, index, &port))
			counts[port.rate % RATE_CODES]++;
}

static void own_host_find(struct status *status,
			  const struct ibsa_port_state *own)
{
	const struct ibsa_topology *topology = status->check.topology;
	struct ibsa_topology_node node;
	char clean[IBSA_VALUE_TEXT];
	unsigned int port;
	size_t index;

	if (ibsa_topology_lid_find(topology, own->lid, &index, &port) != 0 ||
	    ibsa_topology_node_at(topology, index, &node) != 0)
		return;
	fields_clean(node.name, clean);
	snprintf(status->host, sizeof(status->host), "%.*s",
		 (int)(has_host(clean) ? strcspn(clean, " ") : strlen(clean)),
		 clean);
}

void status_fabric_count(struct status *status,
			 const struct ibsa_port_state *own)
{
	size_t counts[RATE_CODES] = { 0 };
	struct ibsa_topology_node node;

	for (size_t i = 0;
	     ibsa_topology_node_at(status->check.topology, i, &node) == 0; i++)
		node_count(status, i, &node, counts);
	rates_write(status, counts);
	own_host_find(status, own);
}
