/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa topology --format net: writes the topology in the format of ibnetdiscover.
 *
 * Source: ibnetdiscover of infiniband-diags (rdma-core 44), out_switch(),
 * out_ca(), out_switch_port(), out_ca_port().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/fields.h"
#include "base/file_write.h"
#include "topology/name_text.h"
#include "topology/topology.h"
#include "session/query_wait.h"

enum { RATE_BYTES = 32 };

static char letter_of(enum ibsa_node_type type)
{
	return type == IBSA_NODE_SWITCH ? 'S'
	       : type == IBSA_NODE_CA	? 'H'
					: 'R';
}

static const char *word_of(enum ibsa_node_type type)
{
	return type == IBSA_NODE_CA ? "ca" : "rt";
}

/*
 * Write the rate of a link, such as " 4xEDR", into @out; nothing if the rate is
 * unknown. Then write the state of the port, such as " state=Init", which
 * ibnetdiscover does not write; nothing if the state is unknown or Active.
 */
static void rate_text(const struct ibsa_topology_port *port,
		      char out[RATE_BYTES])
{
	const char *state = ibsa_code_name(IBSA_SHOW_port_state, port->state);
	size_t len = 0;

	out[0] = '\0';
	if (port->lanes && *port->speed)
		len = (size_t)snprintf(out, RATE_BYTES, " %ux%s", port->lanes,
				       port->speed);
	if (port->has_info && port->state != IBSA_PORT_ACTIVE && state)
		snprintf(out + len, RATE_BYTES - len, " state=%s", state);
}

static void switch_line(struct out *out, const struct topology_view *view,
			size_t index, const struct ibsa_topology_node *node)
{
	const struct ibsa_topology_port port = topology_view_port(view, index,
								  0);
	char name[NAME_TEXT];

	out_line(out,
		 "switchguid=0x%" PRIx64 "(%" PRIx64 ")\n"
		 "Switch\t%u \"S-%016" PRIx64 "\"\t\t# \"%s\" %s port 0 lid "
		 "%" PRIu32 " lmc %u",
		 node->guid, port.guid, node->port_count, node->guid,
		 name_net(node->name, name),
		 node->has_enhanced_port0 ? "enhanced" : "base", port.lid,
		 port.lmc);
}

static void adapter_line(struct out *out, const struct ibsa_topology_node *node)
{
	const bool is_adapter = node->type == IBSA_NODE_CA;
	char name[NAME_TEXT];

	out_line(out,
		 "%sguid=0x%" PRIx64 "\n"
		 "%s\t%u \"%c-%016" PRIx64 "\"\t\t# \"%s\"",
		 word_of(node->type), node->guid, is_adapter ? "Ca" : "Rt",
		 node->port_count, letter_of(node->type), node->guid,
		 name_net(node->name, name));
}

/* Write the node at the other end of a link, such as "S-..."[4](100001). */
static void far_text(const struct topology_view *view,
		     const struct ibsa_topology_port *port,
		     const struct ibsa_topology_node *far, char out[64])
{
	const struct ibsa_topology_port far_port =
		topology_view_port(view, port->far_node, port->far_port);
	int len = snprintf(out, 64, "\"%c-%016" PRIx64 "\"[%u]",
			   letter_of(far->type), far->guid, port->far_port);

	if (far->type != IBSA_NODE_SWITCH)
		snprintf(out + len, 64 - (size_t)len, "(%" PRIx64 ") ",
			 far_port.guid);
}

static void port_line(struct out *out, const struct topology_view *view,
		      const struct ibsa_topology_node *node,
		      const struct ibsa_topology_port *port)
{
	const struct ibsa_topology_node far =
		topology_view_node(view, port->far_node);
	const uint32_t far_lid = topology_view_lid(view, port->far_node,
						   port->far_port, NULL);
	char name[NAME_TEXT];
	char rate[RATE_BYTES];
	char to[64];

	rate_text(port, rate);
	far_text(view, port, &far, to);
	name_net(far.name, name);
	if (node->type == IBSA_NODE_SWITCH)
		out_line(out, "[%u]\t%s\t\t# \"%s\" lid %" PRIu32 "%s",
			 port->number, to, name, far_lid, rate);
	else
		out_line(out,
			 "[%u](%" PRIx64 ") \t%s\t\t# lid %" PRIu32
			 " lmc %u \"%s\" lid %" PRIu32 "%s",
			 port->number, port->guid, to, port->lid, port->lmc,
			 name, far_lid, rate);
}

/*
 * Whether the port is written: a file cannot be loaded if it has a cable that
 * its other end contradicts, or a port that the node does not have.
 */
static bool port_is_written(const struct topology_view *view, size_t index,
			    const struct ibsa_topology_port *port)
{
	struct ibsa_topology_port far;

	if (!port->has_link || view->is_hidden[port->far_node] ||
	    !port->far_port ||
	    port->far_port >
		    topology_view_node(view, port->far_node).port_count)
		return false;
	far = topology_view_port(view, port->far_node, port->far_port);
	return far.has_link && far.far_node == index &&
	       far.far_port == port->number;
}

static void node_lines(struct out *out, const struct topology_view *view,
		       size_t index)
{
	const struct ibsa_topology_node node = topology_view_node(view, index);

	out_line(out, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%" PRIx64,
		 node.vendor_id, node.device_id, node.system_guid);
	if (node.type == IBSA_NODE_SWITCH)
		switch_line(out, view, index, &node);
	else
		adapter_line(out, &node);
	for (unsigned int number = 1; number <= node.port_count; number++) {
		const struct ibsa_topology_port port =
			topology_view_port(view, index, number);

		if (port_is_written(view, index, &port))
			port_line(out, view, &node, &port);
	}
}

static void head_lines(struct cli *cli, const struct topology_view *view)
{
	const time_t now = time(NULL);
	struct ibsa_port_state own = { .lid = 0 };
	struct ibsa_topology_node node = { .guid = 0 };
	unsigned int number;
	char date[64] = "";
	size_t index;
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	out_line(&cli->out, "#\n# Topology file: generated on %s\n#", date);
	if (!cli->client || ibsa_port_get(cli->client, false, &own) != 0 ||
	    ibsa_topology_lid_find(view->topology, own.lid, &index, &number) !=
		    0)
		return;
	node = topology_view_node(view, index);
	out_line(&cli->out,
		 "# Initiated from node %016" PRIx64 " port %016" PRIx64,
		 node.guid, fields_gid_guid(&own.gid));
}

static int kind_of(enum ibsa_node_type type)
{
	return type == IBSA_NODE_SWITCH ? 0 : type == IBSA_NODE_CA ? 1 : 2;
}

/*
 * Write the switches, then the adapters, then the routers, as ibnetdiscover
 * does.
 */
static void all_lines(struct cli *cli, const struct topology_view *view)
{
	head_lines(cli, view);
	for (int kind = 0; kind < 3; kind++)
		for (size_t i = 0; i < view->info.nodes; i++)
			if (!view->is_hidden[i] &&
			    kind_of(topology_view_node(view, i).type) == kind)
				node_lines(&cli->out, view, i);
}

/* Return: the text from line @number on; the first line has number 1. */
static const char *line_at(const char *text, unsigned long number)
{
	while (number-- > 1 && strchr(text, '\n'))
		text = strchr(text, '\n') + 1;
	return text;
}

/*
 * Check that --expect can load the text: a fabric may have what a topology file
 * must not have, such as two nodes with one GUID. Return: the exit status;
 * CLI_NO, after a message, if the text cannot be loaded.
 */
static int text_check(const struct memory_text *memory)
{
	static const char prefix[] = "line:";
	struct ibsa_error error = { .text = "" };
	struct ibsa_topology *copy = NULL;
	const int err = ibsa_topology_parse(memory->text, memory->len, "line",
					    &error, &copy);
	char clean[IBSA_VALUE_TEXT];
	const char *line;

	ibsa_topology_free(copy);
	if (!err)
		return CLI_DONE;
	if (err == -ENOMEM)
		return no_memory();
	line = line_at(memory->text,
		       strtoul(error.text + strlen(prefix), NULL, 10));
	return fail_no("topology --format net: --expect and --fabric will "
		       "refuse this output: %s, at '%s'",
		       error.text, fields_clean(line, clean));
}

int topology_net(struct cli *cli, const struct topology_view *view)
{
	FILE *const out = cli->out.file;
	struct memory_text memory;
	int status = memory_text_open(&memory);

	if (status == CLI_DONE) {
		cli->out.file = memory.file;
		all_lines(cli, view);
		cli->out.file = out;
		status = memory_text_close(&memory);
	}
	if (status == CLI_DONE) {
		out_line(&cli->out, "%.*s", (int)memory.len - 1, memory.text);
		status = text_check(&memory);
	}
	free(memory.text);
	return status;
}
