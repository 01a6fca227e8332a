/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what ibsa topology shows: the whole topology, or one rail of it. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/host.h"
#include "names/node_map.h"
#include "topology/topology.h"

const char *topology_device_pattern(const struct cli *cli)
{
	const char *device = cli->open.device;

	return device && strpbrk(device, "*?[") ? device : NULL;
}

/*
 * Hide the adapters whose device does not match the pattern of --device.
 * Return: whether any is left.
 */
static bool adapters_hide(struct topology_view *view, const char *pattern)
{
	bool is_any = false;

	for (size_t i = 0; i < view->info.nodes; i++) {
		const struct ibsa_topology_node node = topology_view_node(view,
									  i);

		if (node.type != IBSA_NODE_CA)
			continue;
		view->is_hidden[i] =
			fnmatch(pattern, ibsa__host_device(node.name), 0) != 0;
		is_any |= !view->is_hidden[i];
	}
	return is_any;
}

/* Whether a link leads to a node that is used. */
static bool has_used_neighbor(const struct topology_view *view, size_t index,
			      const bool *is_used)
{
	const struct ibsa_topology_node node = topology_view_node(view, index);

	for (unsigned int number = 1; number <= node.port_count; number++) {
		const struct ibsa_topology_port port =
			topology_view_port(view, index, number);

		if (port.has_link && is_used[port.far_node])
			return true;
	}
	return false;
}

/*
 * Add to @is_used all shown nodes that are connected with a used node, directly
 * or through other shown nodes.
 */
static void used_find(const struct topology_view *view, bool *is_used)
{
	bool is_changed = true;

	while (is_changed) {
		is_changed = false;
		for (size_t i = 0; i < view->info.nodes; i++) {
			if (is_used[i] || view->is_hidden[i] ||
			    !has_used_neighbor(view, i, is_used))
				continue;
			is_used[i] = true;
			is_changed = true;
		}
	}
}

/*
 * Hide the nodes of other rails: first the leaf switches without a shown
 * adapter, then all nodes that are no longer connected with a shown adapter.
 */
static int switches_hide(struct topology_view *view)
{
	const size_t nodes = view->info.nodes;
	bool *is_used = calloc(nodes + 1, sizeof(*is_used));

	if (!is_used)
		return no_memory();
	for (size_t i = 0; i < nodes; i++)
		is_used[i] = topology_view_node(view, i).type == IBSA_NODE_CA &&
			     !view->is_hidden[i];
	for (size_t i = 0; i < nodes; i++) {
		const struct ibsa_topology_node node = topology_view_node(view,
									  i);

		if (node.type == IBSA_NODE_SWITCH && node.level == 1)
			view->is_hidden[i] = !has_used_neighbor(view, i,
								is_used);
	}
	used_find(view, is_used);
	for (size_t i = 0; i < nodes; i++)
		view->is_hidden[i] = !is_used[i];
	free(is_used);
	return CLI_DONE;
}

static int rail_choose(struct topology_view *view, const char *pattern)
{
	if (adapters_hide(view, pattern))
		return switches_hide(view);
	return fail_no("--device: no adapter has a node description whose "
		       "device, the part after the first word, matches '%s'; "
		       "list the descriptions with: ibsa query table "
		       "NodeRecord",
		       pattern);
}

int topology_view_read(struct cli *cli, struct topology_view *out)
{
	const char *pattern = topology_device_pattern(cli);
	int status = node_map_read(cli);

	if (pattern)
		cli->open.device = NULL;
	*out = (struct topology_view){ .map = cli->names.map };
	if (status == CLI_DONE)
		status = cli->arg_count > 1
				 ? topology_file_read(cli, cli->args[1],
						      &out->topology)
				 : topology_read(cli, &out->topology);
	if (status == CLI_DONE)
		status = topology_view_prepare(out);
	if (status == CLI_DONE && pattern)
		status = rail_choose(out, pattern);
	return status;
}
