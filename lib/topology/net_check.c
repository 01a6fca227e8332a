/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Findings about a valid topology file: cables that are listed at only one
 * end, rates that contradict each other, nodes that are not connected.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <ibsa/types.h>
#include <ibsa/topology.h>

#include "base/alloc.h"
#include "topology/net_check.h"

/* State of the search for findings. */
struct net_check {
	struct net_parser *parser;
	struct net *net;
	/*
	 * For each port: 1 + index of its line in the file; 0: it has no line.
	 */
	uint32_t *line_of;
	/* At least one cable of the file is listed at both ends. */
	bool has_both;
	bool has_rate; /* at least one line has a rate */
	uint8_t width; /* of most cables */
	const struct source *source;
	const char *file; /* the name of the file */
};

static const struct port_line *line_of(const struct net_check *check,
				       uint32_t port)
{
	const uint32_t line = check->line_of[port];

	return line ? &check->parser->port_lines[line - 1] : NULL;
}

/*
 * Set the file and the line of @finding, and add it. Not inline: the compiler
 * would make a dozen copies.
 */
__attribute__((noinline)) static int finding_add(struct net_check *check,
						 const struct source *source,
						 uint32_t line,
						 struct net_finding *finding)
{
	if (check->source != source) {
		check->file = ibsa__net_string(check->net, source->name,
					       strlen(source->name));
		if (!check->file)
			return -ENOMEM;
		check->source = source;
	}
	finding->file = check->file;
	finding->line = line;
	return ibsa__net_finding_add(check->net, finding);
}

static int finding_add_at_line(struct net_check *check,
			       const struct port_line *line,
			       struct net_finding *finding)
{
	return finding_add(check, line->source, line->line, finding);
}

static int finding_add_at_node(struct net_check *check, uint32_t node,
			       struct net_finding *finding)
{
	const struct node_line *at = &check->parser->node_lines[node];

	return finding_add(check, at->source, at->line, finding);
}

/* Return: the rates in both lines of a cable, combined into one number. */
static uint64_t pack_rates(const struct port_line *a, const struct port_line *b)
{
	return (uint64_t)a->rate.width | (uint64_t)a->rate.speed << 8 |
	       (uint64_t)b->rate.width << 16 | (uint64_t)b->rate.speed << 24;
}

static bool values_differ(uint8_t a, uint8_t b)
{
	return a && b && a != b;
}

/* Check a cable that is listed at both ends; @line is its second line. */
static int check_pair(struct net_check *check, const struct port_line *line,
		      const struct port_line *other)
{
	if (!values_differ(line->rate.width, other->rate.width) &&
	    !values_differ(line->rate.speed, other->rate.speed))
		return 0;
	return finding_add_at_line(check, line,
				   &(struct net_finding){
					   .kind = IBSA_FINDING_RATE_DIFFERS,
					   .a = line->port,
					   .b = other->port,
					   .value = pack_rates(line, other),
				   });
}

static bool has_rate(const struct port_line *line)
{
	return line->rate.width || line->rate.speed;
}

/*
 * Return: the line of a cable whose rate is unknown: a line with an invalid
 * rate; or @line, if neither line of the cable has a rate although other cables
 * of the file have one. NULL: the cable has a rate.
 */
static const struct port_line *
cable_line_without_rate(const struct net_check *check,
			const struct port_line *line,
			const struct port_line *other)
{
	if (line->has_odd_rate)
		return line;
	if (other && other->has_odd_rate)
		return other;
	if (has_rate(line) || (other && has_rate(other)))
		return NULL;
	return check->has_rate ? line : NULL;
}

/*
 * Check each cable once. @other is the line at the other end of the cable, or
 * NULL.
 */
static int check_cable(struct net_check *check, const struct port_line *line,
		       const struct port_line *other)
{
	const struct net_port *port = &check->net->ports[line->port];
	struct net_finding finding = { .a = line->port, .b = port->cable };
	const struct port_line *silent = cable_line_without_rate(check, line,
								 other);
	int err = other ? check_pair(check, line, other) : 0;

	if (!err && !other && check->has_both) {
		finding.kind = IBSA_FINDING_ONE_DIRECTION;
		err = finding_add_at_line(check, line, &finding);
	}
	if (!err && silent) {
		finding.kind = IBSA_FINDING_NO_RATE;
		finding.value = silent->has_odd_rate;
		err = finding_add_at_line(check, silent, &finding);
	}
	if (!err && port->rate.width && port->rate.width < check->width) {
		finding.kind = IBSA_FINDING_NARROW;
		finding.value = check->width;
		err = finding_add_at_line(check, line, &finding);
	}
	return err;
}

static int check_guid(struct net_check *check, const struct port_line *line,
		      uint32_t port, uint64_t guid)
{
	const struct net_port *at = &check->net->ports[port];

	if (!guid || guid == at->guid ||
	    check->net->nodes[at->node].type == IBSA_NODE_SWITCH)
		return 0;
	return finding_add_at_line(check, line,
				   &(struct net_finding){
					   .kind = IBSA_FINDING_GUID_DIFFERS,
					   .a = port,
					   .value = guid,
				   });
}

static int check_line(struct net_check *check, const struct port_line *line)
{
	const uint32_t far = check->net->ports[line->port].cable;
	const struct port_line *other = line_of(check, far);
	int err = check_guid(check, line, line->port, line->guid);

	if (!err)
		err = check_guid(check, line, far, line->remote_guid);
	if (!err && (!other || line > other) &&
	    line == line_of(check, line->port))
		err = check_cable(check, line, other);
	return err;
}

/*
 * Return: the line of a connected port; if it has none, the line at the other
 * end of its cable.
 */
static const struct port_line *any_line(const struct net_check *check,
					uint32_t port)
{
	const struct port_line *line = line_of(check, port);

	return line ? line : line_of(check, check->net->ports[port].cable);
}

/*
 * Check for parallel cables between @node and each later node that have
 * different rates. @first[NODE]: the first port of @node that leads to NODE; a
 * port of another node is left over from that node's check.
 */
static int check_parallel(struct net_check *check, const struct net_node *node,
			  uint32_t *first)
{
	const struct net_port *ports = check->net->ports;
	const uint32_t end = node->first_port + node->port_count;
	int err = 0;

	for (uint32_t i = node->first_port; i <= end && !err; i++) {
		uint32_t far;

		if (ports[i].cable == NET_NONE)
			continue;
		far = ports[ports[i].cable].node;
		if (far < ports[i].node)
			continue;
		if (first[far] < node->first_port || first[far] > end)
			first[far] = i;
		else if (ports[first[far]].rate.width != ports[i].rate.width ||
			 ports[first[far]].rate.speed != ports[i].rate.speed)
			err = finding_add_at_line(
				check, any_line(check, i),
				&(struct net_finding){
					.kind = IBSA_FINDING_PARALLEL_DIFFERS,
					.a = i,
					.b = first[far],
				});
	}
	return err;
}

static int check_all_parallel(struct net_check *check)
{
	const struct net *net = check->net;
	uint32_t *first = ibsa__calloc(net->node_count + 1, sizeof(*first));
	int err = first ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < net->node_count && !err; i++)
		first[i] = NET_NONE;
	for (uint32_t i = 0; i < net->node_count && !err; i++)
		err = check_parallel(check, &net->nodes[i], first);
	ibsa__free(first);
	return err;
}

/*
 * Mark the nodes that are connected with @start by cables. Return: their
 * number.
 */
static uint32_t nodes_mark_connected(const struct net *net, uint32_t start,
				     uint32_t mark, uint32_t *marks,
				     uint32_t *queue)
{
	uint32_t count = 1;

	queue[0] = start;
	marks[start] = mark;
	for (uint32_t i = 0; i < count; i++) {
		const struct net_node *node = &net->nodes[queue[i]];

		for (uint32_t n = 1; n <= node->port_count; n++) {
			const uint32_t cable =
				net->ports[node->first_port + n].cable;
			uint32_t far;

			if (cable == NET_NONE)
				continue;
			far = net->ports[cable].node;
			if (marks[far])
				continue;
			marks[far] = mark;
			queue[count++] = far;
		}
	}
	return count;
}

static uint32_t first_adapter(const struct net *net)
{
	for (uint32_t i = 0; i < net->node_count; i++) {
		if (net->nodes[i].type == IBSA_NODE_CA)
			return i;
	}
	return 0;
}

static bool has_cable(const struct net *net, const struct net_node *node)
{
	for (uint32_t n = 1; n <= node->port_count; n++) {
		if (net->ports[node->first_port + n].cable != NET_NONE)
			return true;
	}
	return false;
}

/*
 * Find nodes without a cable, and groups of nodes that no cables connect with
 * the first adapter.
 */
static int check_islands(struct net_check *check, uint32_t *marks,
			 uint32_t *queue)
{
	const struct net *net = check->net;
	const uint32_t first = first_adapter(net);
	int err = 0;

	nodes_mark_connected(net, first, 1, marks, queue);
	for (uint32_t i = 0; i < net->node_count && !err; i++) {
		struct net_finding finding = {
			.kind = IBSA_FINDING_NO_CABLE,
			.a = i,
			.b = first,
		};

		if (!has_cable(net, &net->nodes[i])) {
			err = finding_add_at_node(check, i, &finding);
		} else if (!marks[i]) {
			finding.kind = IBSA_FINDING_APART;
			finding.value = nodes_mark_connected(net, i, 2, marks,
							     queue);
			err = finding_add_at_node(check, i, &finding);
		}
	}
	return err;
}

static int check_connected(struct net_check *check)
{
	const uint32_t count = check->net->node_count;
	uint32_t *room = count ? ibsa__calloc(count, 2 * sizeof(*room)) : NULL;
	int err;

	if (!count)
		return 0;
	if (!room)
		return -ENOMEM;
	err = check_islands(check, room, room + count);
	ibsa__free(room);
	return err;
}

/*
 * Check for adapters with the same name: a command could not distinguish them.
 */
static int check_name(struct net_check *check, struct map *names,
		      uint32_t index)
{
	const struct net_node *node = &check->net->nodes[index];
	const uint64_t key = ibsa__net_hash(node->name, strlen(node->name));
	const uint32_t twin = map_find(names, key);

	if (node->type != IBSA_NODE_CA)
		return 0;
	if (twin == NET_NONE)
		return ibsa__map_put(names, key, index);
	if (strcmp(check->net->nodes[twin].name, node->name))
		return 0;
	return finding_add_at_node(check, index,
				   &(struct net_finding){
					   .kind = IBSA_FINDING_SAME_NAME,
					   .a = index,
					   .b = twin,
				   });
}

static int check_lid(struct net_check *check, struct map *lids, uint32_t index)
{
	const struct net_port *port = &check->net->ports[index];
	const struct port_line *line = line_of(check, index);
	struct net_finding finding = {
		.kind = IBSA_FINDING_SAME_LID,
		.a = index,
	};

	if (!port->lid)
		return 0;
	finding.b = map_find(lids, port->lid);
	if (finding.b == NET_NONE)
		return ibsa__map_put(lids, port->lid, index);
	return line ? finding_add_at_line(check, line, &finding)
		    : finding_add_at_node(check, port->node, &finding);
}

static int check_node_guid(struct net_check *check, uint32_t node)
{
	const struct source_line *at =
		&check->parser->node_lines[node].zero_guid;

	if (!at->source)
		return 0;
	return finding_add(check, at->source, at->line,
			   &(struct net_finding){
				   .kind = IBSA_FINDING_NO_GUID,
				   .a = node,
			   });
}

static int check_identities(struct net_check *check)
{
	struct map names = { 0 };
	struct map lids = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < check->net->node_count && !err; i++)
		err = check_name(check, &names, i);
	for (uint32_t i = 0; i < check->net->node_count && !err; i++)
		err = check_node_guid(check, i);
	for (uint32_t i = 0; i < check->net->port_count && !err; i++)
		err = check_lid(check, &lids, i);
	ibsa__map_done(&names);
	ibsa__map_done(&lids);
	return err;
}

/*
 * Store for each port its line in the topology file. Find out whether the file
 * has rates and lists links at both ends, and which link width most ports have,
 * so that exceptions can be reported.
 */
static void check_survey(struct net_check *check)
{
	const struct net_parser *parser = check->parser;
	uint32_t widths[WIDTHS] = { 0 };

	for (size_t i = 0; i < parser->port_line_count; i++) {
		const struct port_line *line = &parser->port_lines[i];
		const struct net_port *port = &check->net->ports[line->port];

		check->line_of[line->port] = (uint32_t)i + 1;
		check->has_both |= check->line_of[port->cable] != 0;
		check->has_rate |= has_rate(line);
		widths[port->rate.width]++;
	}
	for (uint8_t i = 1; i < WIDTHS; i++) {
		if (widths[i] >= widths[check->width])
			check->width = i;
	}
}

static int by_line(const void *a, const void *b)
{
	const struct net_finding *one = a;
	const struct net_finding *two = b;
	const int files = strcmp(one->file, two->file);

	if (files)
		return files;
	if (one->line != two->line)
		return one->line < two->line ? -1 : 1;
	return (one->kind > two->kind) - (one->kind < two->kind);
}

static int check_run(struct net_check *check)
{
	const struct net_parser *parser = check->parser;
	int err = 0;

	check_survey(check);
	for (size_t i = 0; i < parser->port_line_count && !err; i++)
		err = check_line(check, &parser->port_lines[i]);
	if (!err)
		err = check_all_parallel(check);
	if (!err)
		err = check_connected(check);
	if (!err)
		err = check_identities(check);
	return err;
}

int ibsa__net_check(struct net_parser *parser)
{
	struct net_check check = {
		.parser = parser,
		.net = &parser->net,
		.line_of = ibsa__calloc(parser->net.port_count + 1,
					sizeof(*check.line_of)),
	};
	const int err = check.line_of ? check_run(&check) : -ENOMEM;

	if (parser->net.finding_count)
		qsort(parser->net.findings, parser->net.finding_count,
		      sizeof(*parser->net.findings), by_line);
	ibsa__free(check.line_of);
	return err;
}
