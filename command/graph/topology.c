/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the topology of the fabric for a command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/tar.h"
#include "base/file_read.h"
#include "names/node_map.h"
#include "session/own_port.h"
#include "session/query_wait.h"
#include "graph/topology.h"

enum { PKEYS_TEXT = 128, GAPS_TEXT = 192 };

/* A read and its outcome. */
struct topology_state {
	struct cli *cli;
	struct client_wait wait;
	struct ibsa_topology *topology;
	int status;
};

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
 * Write which records the topology lacks into @out. One of @info->hidden and
 * @info->unmatched may be 0, but not both.
 */
static const char *gaps_text(const struct ibsa_topology_info *info,
			     char out[GAPS_TEXT])
{
	size_t len = 0;

	if (info->hidden)
		len = (size_t)snprintf(
			out, GAPS_TEXT,
			"the SA does not show the other %s of %zu active "
			"%s%s",
			info->hidden == 1 ? "end" : "ends", info->hidden,
			info->hidden == 1 ? "port" : "ports",
			info->unmatched ? ", and " : "");
	if (info->unmatched)
		snprintf(out + len, GAPS_TEXT - len,
			 "%zu of the SA's records %s a LID that no node has",
			 info->unmatched,
			 info->unmatched == 1 ? "has" : "have");
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
	char gaps[GAPS_TEXT];

	ibsa_topology_info_get(topology, &info);
	if (!info.unmatched && !info.hidden)
		return;
	if (info.unmatched && own_port_get(cli, &port) == CLI_DONE &&
	    port.link == IBSA_LINK_OPA)
		complain("the topology may lack links: %s; LIDs of more than "
			 "16 bits do not fit into these records",
			 gaps_text(&info, gaps));
	else
		complain("the topology may lack links and nodes: %s; an SA "
			 "shows only ports that share a P_Key with this port, "
			 "and only links whose two ends share one%s",
			 gaps_text(&info, gaps), own_pkeys_text(cli, pkeys));
}

int topology_read(struct cli *cli, struct ibsa_topology **out)
{
	struct ibsa_stats before;
	struct topology_state state = { .cli = cli };
	struct ibsa_error why;
	int err = client_open(cli);

	if (err)
		return err;
	ibsa_stats_get(cli->client, &before);
	err = ibsa_topology_read(cli->client, NULL, topology_done, &state);
	if (err)
		return query_refused_explain(cli, err);
	client_wait(cli, &state.wait);
	queries_print(cli, "topology", &before);
	*out = state.topology;
	if (!state.topology)
		return state.status;
	if (!own_port_in_topology(cli, cli->client, state.topology, &why))
		return fail_silent("%s", why.text);
	gaps_explain(cli, state.topology);
	return state.status;
}

/*
 * A regular file is loaded by its path, because it may include other files,
 * whose names are relative to it.
 */
static int text_load(const char *path, const struct file_text *file,
		     struct ibsa_error *error, struct ibsa_topology **out)
{
	const char first = file->text[strspn(file->text, " \t\r\n")];

	if (first == '[' || first == '{') {
		snprintf(error->text, sizeof(error->text),
			 "%.100s: this is JSON, but a topology file is needed; "
			 "write it with ibsa topology --format net",
			 path);
		return -EINVAL;
	}
	if (ibsa__is_tar((const uint8_t *)file->text, file->len)) {
		snprintf(error->text, sizeof(error->text),
			 "%.100s is a report of ibsa doctor; give it with "
			 "--fabric",
			 path);
		return -EINVAL;
	}
	return file->is_regular ? ibsa_topology_load(path, error, out)
				: ibsa_topology_parse(file->text, file->len,
						      path, error, out);
}

static int file_load(const struct cli *cli, const char *path,
		     struct ibsa_error *error, struct ibsa_topology **out)
{
	struct file_text file;
	int err = file_read(path, cli->open.deadline_ms, error, &file);

	if (err)
		return err;
	err = text_load(path, &file, error, out);
	free(file.text);
	return err;
}

int topology_file_read(const struct cli *cli, const char *path,
		       struct ibsa_topology **out)
{
	struct ibsa_error error = { .text = "" };
	const int err = file_load(cli, path, &error, out);

	return err ? error_explain(err, &error) : CLI_DONE;
}

int topology_expect_load(const struct cli *cli, const char *path,
			 struct ibsa_topology **out)
{
	struct ibsa_error error = { .text = "" };

	if (file_load(cli, path, &error, out) == 0)
		return CLI_DONE;
	return fail_usage("--expect: %s", error.text);
}

int topology_view_prepare(struct topology_view *view)
{
	ibsa_topology_info_get(view->topology, &view->info);
	view->is_hidden = calloc(view->info.nodes + 1, 1);
	return view->is_hidden ? CLI_DONE : no_memory();
}

void topology_view_free(struct topology_view *view)
{
	ibsa_topology_free(view->topology);
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

bool topology_is_first_end(const struct ibsa_topology *topology, size_t node,
			   const struct ibsa_topology_port *port)
{
	struct ibsa_topology_port far;

	if (!port->has_link)
		return false;
	if (ibsa_topology_port_at(topology, port->far_node, port->far_port,
				  &far) != 0 ||
	    !far.has_link || far.far_node != node ||
	    far.far_port != port->number)
		return true;
	return node != port->far_node ? node < port->far_node
				      : port->number < port->far_port;
}
