/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa topology: switches by level, links, and hosts under their switches. */
#include <stdlib.h>
#include <string.h>

#include "output/column_table.h"
#include "output/fields.h"
#include "options/options.h"
#include "topology/topology.h"
#include "options/shared.h"

/**
 * struct topology_options - options of ibsa topology
 * @all: draw each adapter by itself
 */
struct topology_options {
	bool all;
};

/* The options of the command that runs. */
static const struct topology_options *topology_own(const struct cli *cli)
{
	return cli->own;
}

enum { WIDTH_TEXT = 16 };

/*
 * A line in the output of ibsa topology: a link at its upper end, or a node
 * without a link.
 */
struct link {
	size_t node;
	unsigned int port;
};

/* A node, and its place in the order of the output. */
struct position {
	size_t node;
	size_t island;
	unsigned int level;
	const char *name;
};

struct links {
	const struct topology_view *view;
	struct position *positions;
	size_t *rank; /* of each node in the order */
	struct link *all;
	size_t count;
};

/*
 * Compare two nodes for the order of the output: by island; in an island,
 * switches of the highest level first; numbers in names are compared by value.
 */
static int by_position(const void *a, const void *b)
{
	const struct position *x = a;
	const struct position *y = b;
	int order;

	if (x->island != y->island)
		return x->island < y->island ? -1 : 1;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	order = strverscmp(x->name, y->name);
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static void positions_find(struct links *links)
{
	const size_t count = links->view->info.nodes;

	for (size_t i = 0; i < count; i++) {
		const struct ibsa_topology_node node =
			topology_view_node(links->view, i);

		links->positions[i] = (struct position){
			.node = i,
			.island = node.island,
			.level = node.level,
			.name = node.name,
		};
	}
	qsort(links->positions, count, sizeof(*links->positions), by_position);
	for (size_t i = 0; i < count; i++)
		links->rank[links->positions[i].node] = i;
}

/*
 * Whether a link is listed at this end: a link is listed at the node that comes
 * first in the output; if only one end reports the link, at that end.
 */
static bool is_listed(const struct links *links, size_t node,
		      const struct ibsa_topology_port *port)
{
	const struct ibsa_topology_port far =
		topology_view_port(links->view, port->far_node, port->far_port);
	const bool is_mutual = far.far_node == node &&
			       far.far_port == port->number;

	if (links->view->is_hidden[port->far_node])
		return false;
	if (!is_mutual || port->far_node == node)
		return !is_mutual || port->number < port->far_port;
	return links->rank[node] < links->rank[port->far_node];
}

static void links_add_node(struct links *links, size_t node)
{
	unsigned int own = 0; /* a port with a LID */
	bool has_link = false;

	for (unsigned int number = 0; number <= UINT8_MAX; number++) {
		const struct ibsa_topology_port port =
			topology_view_port(links->view, node, number);

		if (!own && port.lid)
			own = number;
		if (!port.has_link)
			continue;
		has_link = true;
		if (is_listed(links, node, &port))
			links->all[links->count++] = (struct link){ node,
								    number };
	}
	if (!has_link)
		links->all[links->count++] = (struct link){ node, own };
}

static int links_find(const struct topology_view *view, struct links *out)
{
	const size_t nodes = view->info.nodes;

	*out = (struct links){
		.view = view,
		.positions = calloc(nodes + 1, sizeof(*out->positions)),
		.rank = calloc(nodes + 1, sizeof(*out->rank)),
		.all = calloc(nodes + view->info.links + 1, sizeof(*out->all)),
	};
	if (!out->positions || !out->rank || !out->all)
		return no_memory();
	positions_find(out);
	for (size_t i = 0; i < nodes; i++)
		if (!view->is_hidden[out->positions[i].node])
			links_add_node(out, out->positions[i].node);
	return CLI_DONE;
}

static void links_free(struct links *links)
{
	free(links->positions);
	free(links->rank);
	free(links->all);
}

static void width_cells(struct out *out, const struct ibsa_topology_port *port)
{
	char width[WIDTH_TEXT];

	snprintf(width, sizeof(width), "%ux", port->lanes);
	out_text_if_any(out, "width",
			port->has_link && port->lanes ? width : "");
	out_text_if_any(out, "speed", port->has_link ? port->speed : "");
}

/* Write the cells of one end of a link; their names have a prefix. */
static void end_cells(struct out *out, const struct topology_view *view,
		      size_t index, unsigned int number, bool is_peer)
{
	static const char *const names[][6] = {
		{ "node_type", "node_guid", "num_ports", "port_guid", "lid",
		  "lmc" },
		{ "peer_node_type", "peer_node_guid", "peer_num_ports",
		  "peer_port_guid", "peer_lid", "peer_lmc" },
	};
	const char *const *name = names[is_peer];
	const struct ibsa_topology_node node = topology_view_node(view, index);
	const bool is_switch = node.type == IBSA_NODE_SWITCH;
	const struct ibsa_node record = { .node_type = node.type };
	uint8_t lmc;
	const uint32_t lid = topology_view_lid(view, index, number, &lmc);

	fields_named_as(out, name[0], &ibsa_node_record, "node_type", &record);
	fields_guid(out, name[1], node.guid);
	out_count(out, name[2], node.port_count);
	fields_guid_or_none(
		out, name[3],
		topology_view_port(view, index, is_switch ? 0 : number).guid);
	/* A file may have no LIDs. */
	out_count_or_none(out, name[4], lid, lid);
	out_count_or_none(out, name[5], lid, lmc);
}

static void no_end_cells(struct out *out)
{
	static const char *const names[] = { "peer_node_guid", "peer_num_ports",
					     "peer_port_guid", "peer_lid",
					     "peer_lmc" };

	out_no_code(out, "peer_node_type");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		out_none(out, names[i]);
}

/*
 * A code of 0 means that the value is unknown: for example, a topology file
 * does not contain the states of ports.
 */
static void code_cell(struct out *out, const char *name, unsigned int code,
		      const struct ibsa_record *record, const char *field,
		      const void *host)
{
	if (code)
		fields_named_as(out, name, record, field, host);
	else
		out_no_code(out, name);
}

/*
 * Write state, MTU, rate and number of ends of a port's link. Without a link,
 * these cells have no value.
 */
static void link_cells(struct out *out, const struct ibsa_topology_port *port)
{
	const struct ibsa_port_info info = { .port_state = port->state,
					     .neighbor_mtu = port->mtu };
	const struct ibsa_path path = { .rate = port->rate };
	const bool has_link = port->has_link;

	code_cell(out, "state", has_link ? port->state : 0,
		  &ibsa_port_info_record, "port_state", &info);
	code_cell(out, "mtu", has_link ? port->mtu : 0, &ibsa_port_info_record,
		  "neighbor_mtu", &info);
	code_cell(out, "rate", has_link ? port->rate : 0, &ibsa_path_record,
		  "rate", &path);
	out_count_or_none(out, "ends", has_link, port->is_one_end ? 1 : 2);
}

static void more_cells(struct out *out, const struct topology_view *view,
		       const struct link *link,
		       const struct ibsa_topology_port *port)
{
	end_cells(out, view, link->node, link->port, false);
	if (port->has_link)
		end_cells(out, view, port->far_node, port->far_port, true);
	else
		no_end_cells(out);
	link_cells(out, port);
}

static void link_row(struct out *out, size_t index, void *arg)
{
	const struct links *links = arg;
	const struct link *link = &links->all[index];
	const struct topology_view *view = links->view;
	const struct ibsa_topology_node node = topology_view_node(view,
								  link->node);
	const struct ibsa_topology_port port =
		topology_view_port(view, link->node, link->port);

	if (view->info.islands > 1 || !out_is_brief(out))
		out_count(out, "island", node.island);
	out_count(out, "level", node.level);
	out_text_if_any(out, "node", node.name);
	if (port.has_link) {
		out_count(out, "port", port.number);
		out_text_if_any(out, "peer",
				topology_view_node(view, port.far_node).name);
		out_count(out, "peer_port", port.far_port);
	} else {
		out_none(out, "port");
		out_none(out, "peer");
		out_none(out, "peer_port");
	}
	width_cells(out, &port);
	if (!out_is_brief(out))
		more_cells(out, view, link, &port);
}

static int topology_table(struct cli *cli, const struct topology_view *view)
{
	struct links links;
	int status = links_find(view, &links);

	if (status == CLI_DONE)
		out_rows(&cli->out, links.count, link_row, &links);
	links_free(&links);
	return status;
}

static int options_check(const struct cli *cli)
{
	if (cli->arg_count > 2)
		return fail_usage("topology accepts one file; remove '%s'",
				  cli->args[2]);
	if (cli->arg_count > 1 && cli->open.device &&
	    !topology_device_pattern(cli))
		return fail_usage("topology: --device is for queries to the "
				  "SA, but the fabric is read from the file "
				  "'%s'; remove the option, or, to show only "
				  "some adapters of the file, give it a "
				  "pattern such as 'mlx5_[0]'",
				  cli->args[1]);
	if (cli->arg_count > 1 && !options_fit_file(cli, true))
		return CLI_USAGE;
	if (topology_own(cli)->all && cli->out.shape != OUT_DOT &&
	    cli->out.shape != OUT_SVG)
		return fail_usage("topology: --all needs --format dot or "
				  "--format svg; it draws every node");
	return CLI_DONE;
}

static int topology_show(struct cli *cli, const struct topology_view *view)
{
	switch (cli->out.shape) {
	case OUT_NET:
		return topology_net(cli, view);
	case OUT_SLURM:
	case OUT_SLURM_YAML:
		return topology_slurm(cli, view);
	case OUT_DOT:
	case OUT_SVG:
		return draw(cli, topology_own(cli)->all, view);
	default:
		return topology_table(cli, view);
	}
}

/* clang-format off */
static const struct column topology_list[] = {
	ALWAYS("island", NUMBER),
	ALWAYS("level", NUMBER),
	MAYBE("node", TEXT),
	MAYBE("port", NUMBER),
	MAYBE("peer", TEXT),
	MAYBE("peer_port", NUMBER),
	MAYBE_WORDS("width", WIDTH_WORDS),
	MAYBE_WORDS("speed", SPEED_WORDS),
	FIELD("node_type", node, "node_type"),
	ALWAYS("node_guid", GUID),
	ALWAYS("num_ports", NUMBER),
	MAYBE("port_guid", GUID),
	MAYBE("lid", NUMBER),
	MAYBE("lmc", NUMBER),
	FIELD("peer_node_type", node, "node_type"),
	MAYBE("peer_node_guid", GUID),
	MAYBE("peer_num_ports", NUMBER),
	MAYBE("peer_port_guid", GUID),
	MAYBE("peer_lid", NUMBER),
	MAYBE("peer_lmc", NUMBER),
	FIELD("state", port_info, "port_state"),
	FIELD("mtu", port_info, "neighbor_mtu"),
	FIELD("rate", path, "rate"),
	MAYBE("ends", NUMBER),
};
/* clang-format on */

static const struct columns columns_topology = COLUMN_TABLE("topology",
							    topology_list);

static int cmd_topology(struct cli *cli)
{
	struct topology_view view = { .topology = NULL };
	int status = columns_use(cli, &columns_topology);

	if (status == CLI_DONE)
		status = options_check(cli);
	if (status == CLI_DONE)
		status = topology_view_read(cli, &view);
	if (status == CLI_DONE)
		status = topology_show(cli, &view);
	topology_view_free(&view);
	return status;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_ALL("dot, svg: draw each node by itself", struct topology_options, all),
};

static const struct option_table table =
	OPTION_TABLE(rows, struct topology_options);

const struct command command_topology = {
	.name = "topology",
	.arguments = "[FILE]",
	.help = "show the switches, links and hosts of the fabric",
	.options = &table,
	.groups = GROUP_ALL | GROUP_NAMES | GROUP_RECORD | GROUP_NET |
		  GROUP_DOT | GROUP_SVG,
	.columns = (const struct columns *const[]){ &columns_topology, NULL },
	.run = cmd_topology,
	.text =
	"Prints a line for each link, as the SA or FILE of ibnetdiscover has\n"
	"them. --device with *, ? or [ selects adapters, as a rail does.\n"
	"\n"
	"  ibsa topology --format net >fabric.net   for ibsa check --expect\n"
	"  ibsa topology --format slurm --device 'mlx5_[0]' >topology.conf\n"
	"  ibsa topology --format svg >fabric.svg\n",
	.file = 1,
};
/* clang-format on */
