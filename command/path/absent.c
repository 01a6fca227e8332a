/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa path: finds the ports of the two hosts that the SA does not show: ports
 * in the topology of --expect, or rails that other hosts like these two have.
 */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "common/host.h"
#include "graph/expected.h"
#include "graph/rails.h"
#include "path/path.h"
#include "session/query_wait.h"

/* What is needed to find absent ports. */
struct search {
	struct cli *cli;
	const struct nodes *nodes;
	struct nodes own_nodes; /* if they had to be queried */
	struct ibsa_gid own;
	struct expected *expected;
	struct rails rails;
};

static int absent_add(struct absent *absent, const struct end *end,
		      const struct ibsa_reason *reason)
{
	const struct absent_port port = { *end, *reason };

	return list_put(&absent->all, &absent->count, &port, sizeof(port));
}

/*
 * Add the ports that the name stands for in the topology of --expect, and that
 * the SA does not show.
 */
static int expected_add(struct search *search, const char *name,
			struct absent *out)
{
	struct node_ports ports;
	int status = expected_absent(search->expected, search->nodes, name,
				     &ports);

	for (size_t i = 0; i < ports.count && status == CLI_DONE; i++) {
		const struct ibsa_node *port = &ports.all[i];
		struct ibsa_reason reason;
		struct end end = { .lid = 0 };

		if (port->port_guid)
			end.gid = fields_guid_gid(&search->own,
						  port->port_guid);
		snprintf(end.node, sizeof(end.node), "%s",
			 port->node_description);
		snprintf(end.device, sizeof(end.device), "%s",
			 ibsa__host_device(port->node_description));
		expected_explain(search->cli, search->expected, search->nodes,
				 port, &reason);
		status = absent_add(out, &end, &reason);
	}
	node_ports_free(&ports);
	return status;
}

/* Add the port of a missing rail of the host. */
static int rail_absent_add(const struct search *search, const char *host,
			   const struct rail_finding *rail, struct absent *out)
{
	struct ibsa_reason reason;
	struct end end = { .lid = 0 };

	rails_reason(search->cli, rail, &reason);
	snprintf(end.device, sizeof(end.device), "%s", rail->device);
	snprintf(end.node, sizeof(end.node), "%.32s %.31s", host, rail->device);
	return absent_add(out, &end, &reason);
}

/* Add the missing rail that the name is that of, if it is. */
static int named_rail_add(const struct search *search, const char *name,
			  struct absent *out)
{
	struct rail_finding rail;
	char host[HOST_TEXT];

	return rails_find_missing(&search->rails, name, host, &rail)
		       ? rail_absent_add(search, host, &rail, out)
		       : CLI_DONE;
}

static int rail_add(struct absent *absent, const struct rail_finding *rail)
{
	return list_put(&absent->rails, &absent->rail_count, rail,
			sizeof(*rail));
}

/*
 * Add the findings about the rails of the host to which @port belongs. For a
 * missing rail, an absent port is added.
 */
static int rails_add(struct search *search, const struct end *port,
		     struct absent *out)
{
	char host[HOST_TEXT];
	struct rail_finding rail;
	size_t index = 0;
	int status = CLI_DONE;

	(void)host_of(port->node, host);
	while (status == CLI_DONE &&
	       rails_next(&search->rails, host, &index, &rail)) {
		status = rail.kind == IBSA_FINDING_RAIL_MISSING
				 ? rail_absent_add(search, host, &rail, out)
				 : rail_add(out, &rail);
	}
	return status;
}

/*
 * Whether missing rails are searched: both ends have a port, and one has
 * several; or an end is a name that no node has.
 */
static bool have_rails(const struct ends ends[2])
{
	return !ends[0].count || !ends[1].count ||
	       ends[0].count + ends[1].count > 2;
}

static int search_run(struct search *search, const struct target *targets,
		      const struct ends ends[2], struct absent out[2])
{
	const bool has_file = search->expected->topology;
	int status = own_gid_get(search->cli, &search->own);

	if (status == CLI_DONE && !search->nodes) {
		status = nodes_read(search->cli, &search->own_nodes);
		search->nodes = &search->own_nodes;
	}
	if (status == CLI_DONE)
		status = rails_read(search->cli->client, search->nodes,
				    &search->rails);
	for (int i = 0; i < 2 && status == CLI_DONE; i++) {
		if (has_file && targets[i].kind == TARGET_NAME)
			status = expected_add(search, targets[i].name, &out[i]);
		if (status != CLI_DONE || has_file)
			continue;
		status = ends[i].count
				 ? rails_add(search, &ends[i].all[0], &out[i])
				 : named_rail_add(search, targets[i].name,
						  &out[i]);
	}
	return status;
}

int absent_find(struct cli *cli, struct expected *expected,
		const struct nodes *nodes, const struct target *targets,
		const struct ends ends[2], struct absent out[2])
{
	struct search search = {
		.cli = cli,
		.expected = expected,
		.nodes = nodes,
	};
	int status = CLI_DONE;

	if (expected->topology || have_rails(ends))
		status = search_run(&search, targets, ends, out);
	rails_free(&search.rails);
	nodes_free(&search.own_nodes);
	return status;
}

int slow_rails_find(struct cli *cli, const struct nodes *nodes,
		    const struct ends ends[2], struct absent out[2])
{
	struct rails rails = { .topology = NULL };
	int status = rails_read_rates(cli->client, nodes, &rails);

	for (int i = 0; i < 2 && status == CLI_DONE; i++) {
		char host[HOST_TEXT];
		struct rail_finding rail;
		size_t index = 0;

		(void)host_of(ends[i].all[0].node, host);
		while (status == CLI_DONE &&
		       rails_next(&rails, host, &index, &rail))
			if (rail.kind == IBSA_FINDING_RAIL_SLOW)
				status = rail_add(&out[i], &rail);
	}
	rails_free(&rails);
	return status;
}

/*
 * Return: the port of the other host to which an absent port would have a
 * path: of the device with the same name, which may be absent, too; otherwise
 * an empty one.
 */
static const struct end *partner_of(const struct end *end,
				    const struct ends *others,
				    const struct absent *absent)
{
	static const struct end none;

	for (size_t i = 0; i < others->count; i++)
		if (strcmp(others->all[i].device, end->device) == 0)
			return &others->all[i];
	for (size_t i = 0; i < absent->count; i++)
		if (strcmp(absent->all[i].end.device, end->device) == 0)
			return &absent->all[i].end;
	return others->count == 1 ? &others->all[0] : &none;
}

static bool is_absent(const struct absent *absent, const struct end *end)
{
	for (size_t i = 0; i < absent->count; i++)
		if (&absent->all[i].end == end)
			return true;
	return false;
}

/* Whether a sentence is among those about a host, to which both ends belong. */
static bool is_told(const struct absent *absent, const char *sentence)
{
	for (size_t i = 0; i < absent->count; i++)
		if (strcmp(absent->all[i].reason.detail, sentence) == 0)
			return true;
	for (size_t i = 0; i < absent->rail_count; i++)
		if (strcmp(absent->rails[i].what.text, sentence) == 0)
			return true;
	return false;
}

int absent_rows_add(struct rows *rows, const struct form *form,
		    const struct ends ends[2], const struct absent absent[2])
{
	int status = CLI_DONE;

	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < absent[i].count; k++) {
			const struct absent_port *port = &absent[i].all[k];
			const struct end *other = partner_of(
				&port->end, &ends[1 - i], &absent[1 - i]);
			struct form pair = *form;

			if (!i || !is_told(&absent[0], port->reason.detail))
				complain("%s", port->reason.detail);
			if (i && is_absent(&absent[0], other))
				continue; /* the pair has a row */
			rows->src = i ? other : &port->end;
			rows->dst = i ? &port->end : other;
			path_put_ends(&pair, rows->src, rows->dst);
			status = path_add_missing(rows, &pair, &port->reason);
			if (status != CLI_NO)
				return status;
		}
	}
	return status;
}

/*
 * Print the findings about rails of the two hosts except missing rails, and
 * note each in the rows of the paths from or to its adapter.
 */
void absent_rails_note(struct rows *rows, const struct absent absent[2])
{
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < absent[i].rail_count; k++) {
			const struct rail_finding *rail = &absent[i].rails[k];

			if (!i || !is_told(&absent[0], rail->what.text))
				complain("%s: %s", rail->name, rail->what.text);
			for (size_t j = 0; j < rows->count; j++) {
				struct row *row = &rows->all[j];
				const struct end *end = i ? row->dst : row->src;

				if (strcmp(end->device, rail->device) == 0)
					row->note = rail->what.text;
			}
		}
	}
}

void absent_free(struct absent *absent)
{
	free(absent->rails);
	free(absent->all);
}
