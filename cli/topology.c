/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the topology of the fabric for a command. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/sa.h>
#include <ibsa/text.h>

#include "node_map.h"
#include "query_wait.h"
#include "topology.h"

enum { PKEYS_TEXT = 128 };

/* A read and its outcome. */
struct topology_state {
	struct cli *cli;
	struct client_wait wait;
	struct ibsa_topology *topology;
	int status;
};

static int no_memory(void)
{
	complain("out of memory");
	return CLI_DEVICE;
}

static void topology_done(int err, struct ibsa_topology *topology,
			  const struct ibsa_reply *reply, void *arg)
{
	struct topology_state *state = arg;

	state->wait.ended = true;
	state->topology = topology;
	state->status = CLI_SILENT;
	if (state->wait.broken)
		return;
	if (!err)
		state->status = CLI_DONE;
	else if (err == -ENOMEM)
		state->status = no_memory();
	else
		state->status = reply_explain(state->cli, reply);
}

/*
 * Write the P_Keys of this port for a message, such as "; P_Keys of this port:
 * 0x7fff, 0x8001"; "" if they are unknown. Return: @out.
 */
static const char *own_pkeys_text(struct cli *cli, char out[PKEYS_TEXT])
{
	size_t len = 0;
	uint16_t pkey;

	out[0] = '\0';
	for (uint32_t i = 0; ibsa_pkey_get(cli->client, i, &pkey) == 0; i++) {
		if (!(pkey & ~IBSA_PKEY_FULL))
			continue;
		if (len > PKEYS_TEXT - sizeof(", 0xffff, ...")) {
			snprintf(out + len, PKEYS_TEXT - len, ", ...");
			break;
		}
		len += (size_t)snprintf(
			out + len, PKEYS_TEXT - len, "%s0x%04x",
			len ? ", " : "; P_Keys of this port: ", pkey);
	}
	return out;
}

/*
 * Print why the topology may lack links and nodes: Omni-Path LIDs do not fit
 * these records, and an SA returns only records that the requester's P_Keys
 * permit. Source: IBA vol 1, 15.4.1; OpenSM 3.3.23, osm_sa_link_record.c.
 */
static void gaps_explain(struct cli *cli, const struct ibsa_topology *topology)
{
	struct ibsa_topology_info info;
	struct ibsa_port_state port;
	char pkeys[PKEYS_TEXT];

	ibsa_topology_info_get(topology, &info);
	if (!info.unmatched && !info.hidden)
		return;
	if (own_port_get(cli, &port) == CLI_DONE && port.link == IBSA_LINK_OPA)
		complain("%zu records of the SA have a LID that no node has, "
			 "and are left out; LIDs of more than 16 bits do not "
			 "fit into these records",
			 info.unmatched);
	else
		complain("the topology may lack links and nodes: the SA does "
			 "not show the other ends of %zu active ports, and "
			 "%zu of its records have a LID that no node has; an "
			 "SA shows only ports that share a P_Key with this "
			 "port, and only links whose two ends share one%s",
			 info.hidden, info.unmatched,
			 own_pkeys_text(cli, pkeys));
}

int topology_read(struct cli *cli, struct ibsa_topology **out)
{
	struct topology_state state = { .cli = cli };
	int err = client_open(cli);

	if (err)
		return err;
	err = ibsa_topology_read(cli->client, NULL, topology_done, &state);
	if (err)
		return query_refused_explain(cli, err);
	client_wait(cli, &state.wait);
	*out = state.topology;
	if (state.topology)
		gaps_explain(cli, state.topology);
	return state.status;
}

static int file_load(const char *path, struct ibsa_topology **out)
{
	struct ibsa_error error = { .text = "" };
	const int err = ibsa_topology_load(path, &error, out);

	return err ? error_explain(err, &error) : CLI_DONE;
}

/*
 * Return: the value of --device if it has wildcards, otherwise NULL. It does
 * not name the device to send from; it selects which adapters are shown.
 */
static const char *device_pattern_take(struct cli *cli)
{
	const char *device = cli->open.device;

	if (!device || !strpbrk(device, "*?["))
		return NULL;
	cli->open.device = NULL;
	return device;
}

int topology_view_prepare(struct topology_view *view)
{
	ibsa_topology_info_get(view->topology, &view->info);
	view->is_hidden = calloc(view->info.nodes + 1, 1);
	return view->is_hidden ? CLI_DONE : no_memory();
}

/* Hide the adapters whose device does not match the pattern of --device. */
static int adapters_hide(struct topology_view *view, const char *pattern)
{
	bool is_any = false;

	for (size_t i = 0; pattern && i < view->info.nodes; i++) {
		struct ibsa_topology_node node;

		if (ibsa_topology_node_at(view->topology, i, &node) != 0 ||
		    node.type != IBSA_NODE_CA)
			continue;
		view->is_hidden[i] =
			fnmatch(pattern, ibsa_host_device(node.name), 0) != 0;
		is_any |= !view->is_hidden[i];
	}
	if (!pattern || is_any)
		return CLI_DONE;
	complain("--device: no adapter has a device that matches '%s'; list "
		 "them with: ibsa query table NodeRecord",
		 pattern);
	return CLI_NO;
}

int topology_view_read(struct cli *cli, struct topology_view *out)
{
	const char *pattern = device_pattern_take(cli);
	int status = CLI_DONE;

	*out = (struct topology_view){ .topology = NULL };
	if (cli->topology.name_map)
		status = node_map_read(cli, cli->topology.name_map, &out->map);
	if (status == CLI_DONE)
		status = cli->arg_count > 1
				 ? file_load(cli->args[1], &out->topology)
				 : topology_read(cli, &out->topology);
	if (status == CLI_DONE)
		status = topology_view_prepare(out);
	return status == CLI_DONE ? adapters_hide(out, pattern) : status;
}

void topology_view_free(struct topology_view *view)
{
	ibsa_topology_free(view->topology);
	node_map_free(view->map);
	free(view->is_hidden);
}

struct ibsa_topology_node topology_view_node(const struct topology_view *view,
					     size_t index)
{
	struct ibsa_topology_node node = { .name = "" };
	const char *name;

	if (ibsa_topology_node_at(view->topology, index, &node) != 0)
		return node;
	name = node_map_find(view->map, node.guid);
	if (name)
		node.name = name;
	return node;
}

struct ibsa_topology_port topology_view_port(const struct topology_view *view,
					     size_t node, unsigned int number)
{
	struct ibsa_topology_port port = { .speed = "" };

	if (ibsa_topology_port_at(view->topology, node, number, &port) != 0)
		port.number = number;
	return port;
}

uint32_t topology_view_lid(const struct topology_view *view, size_t node,
			   unsigned int number, uint8_t *out_lmc)
{
	struct ibsa_topology_node is = topology_view_node(view, node);
	const bool is_switch = is.type == IBSA_NODE_SWITCH;
	struct ibsa_topology_port port =
		topology_view_port(view, node, is_switch ? 0 : number);

	if (out_lmc)
		*out_lmc = port.lmc;
	return port.lid;
}
