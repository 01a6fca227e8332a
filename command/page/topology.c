/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the topology and its findings into a page: an array for each column.
 */
#include <stdlib.h>
#include <string.h>

#include "output/fields.h"
#include "page/page.h"

enum { PATH_NONE, PATH_FOUND, PATH_OWN };
enum { FINDINGS_MAX = 10000 };

static int by_node_port(const void *a, const void *b)
{
	const struct page_port *x = a;
	const struct page_port *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

size_t page_port_find(const struct page *page, size_t node, unsigned int number)
{
	const struct page_port key = { .node = node, .number = number };
	const struct page_port *found = bsearch(
		&key, page->ports, page->port_count, sizeof(key), by_node_port);

	return found ? (size_t)(found - page->ports) : SIZE_MAX;
}

static int by_guid(const void *a, const void *b)
{
	const uint64_t x = (*(const struct page_port *const *)a)->port.guid;
	const uint64_t y = (*(const struct page_port *const *)b)->port.guid;

	return (x > y) - (x < y);
}

size_t page_port_find_guid(const struct page *page, uint64_t guid)
{
	const struct page_port key = { .port = { .guid = guid } };
	const struct page_port *at = &key;
	const struct page_port **found = bsearch(
		&at, page->by_guid, page->port_count, sizeof(at), by_guid);

	return found ? (size_t)(*found - page->ports) : SIZE_MAX;
}

/*
 * Whether the page shows the port: of a switch, only port 0; of another node,
 * each port that has a GUID or a link, even if it has no LID.
 */
static bool is_end_port(const struct ibsa_topology_node *node,
			const struct ibsa_topology_port *port)
{
	return node->type == IBSA_NODE_SWITCH ? port->number == 0
					      : port->guid || port->has_link;
}

static size_t node_ports(struct page *page, size_t index, struct page_port *out)
{
	const struct ibsa_topology_node node = topology_view_node(&page->view,
								  index);
	const unsigned int last = node.type == IBSA_NODE_SWITCH
					  ? 0
					  : node.port_count;
	size_t count = 0;

	for (unsigned int number = 0; number <= last; number++) {
		const struct ibsa_topology_port port =
			topology_view_port(&page->view, index, number);

		if (is_end_port(&node, &port))
			out[count++] = (struct page_port){ index, number,
							   port };
	}
	return count;
}

int page_ports_find(struct page *page)
{
	size_t room = 1;

	for (size_t i = 0; i < page->view.info.nodes; i++) {
		const struct ibsa_topology_node node =
			topology_view_node(&page->view, i);

		room += node.type == IBSA_NODE_SWITCH ? 1
						      : node.port_count + 1U;
	}
	page->ports = calloc(room, sizeof(*page->ports));
	page->by_guid = calloc(room, sizeof(*page->by_guid));
	if (!page->ports || !page->by_guid)
		return no_memory();
	for (size_t i = 0; i < page->view.info.nodes; i++)
		page->port_count += node_ports(page, i,
					       page->ports + page->port_count);
	for (size_t i = 0; i < page->port_count; i++)
		page->by_guid[i] = &page->ports[i];
	qsort(page->by_guid, page->port_count, sizeof(*page->by_guid), by_guid);
	page->here = page->check.file
			     ? SIZE_MAX
			     : page_port_find_guid(page, page->check.own_guid);
	return CLI_DONE;
}

static void info_put(struct page *page)
{
	const struct ibsa_topology_info *info = &page->view.info;
	struct page_json *json = &page->json;

	page_open(json, "info", '{');
	page_number(json, "nodes", info->nodes);
	page_number(json, "adapters", info->adapters);
	page_number(json, "switches", info->switches);
	page_number(json, "links", info->links);
	page_number(json, "islands", info->islands);
	page_number(json, "hidden", info->hidden);
	page_number(json, "unmatched", info->unmatched);
	page_close(json, '}');
}

static const char *const node_columns[] = { "name",  "guid",  "type",
					    "ports", "level", "island" };

static void node_put(struct page_json *json, size_t column,
		     const struct ibsa_topology_node *node)
{
	const uint64_t numbers[] = { 0,		  0,
				     node->type,  node->port_count,
				     node->level, node->island };

	if (column == 0)
		page_text(json, NULL, node->name);
	else if (column == 1)
		page_hex(json, NULL, node->guid, 16);
	else
		page_number(json, NULL, numbers[column]);
}

static void nodes_put(struct page *page)
{
	struct page_json *json = &page->json;

	page_open(json, "nodes", '{');
	for (size_t column = 0; column < 6; column++) {
		page_open(json, node_columns[column], '[');
		for (size_t i = 0; i < page->view.info.nodes; i++) {
			const struct ibsa_topology_node node =
				topology_view_node(&page->view, i);

			node_put(json, column, &node);
		}
		page_close(json, ']');
	}
	page_close(json, '}');
}

/*
 * Write a port as a JSON array: node, number, GUID, LID; then whether there is
 * a path from this port to it, and the MTU and rate of this path.
 */
static void port_put(struct page *page, size_t index)
{
	const struct page_port *port = &page->ports[index];
	const struct fabric_path *path = fabric_check_path(&page->check,
							   port->port.guid);
	struct page_json *json = &page->json;

	page_open(json, NULL, '[');
	page_number(json, NULL, port->node);
	page_number(json, NULL, port->number);
	page_hex(json, NULL, port->port.guid, 16);
	page_number(json, NULL, port->port.lid);
	page_number(json, NULL,
		    index == page->here ? PATH_OWN
		    : path		? PATH_FOUND
					: PATH_NONE);
	page_number(json, NULL, path ? path->mtu : 0);
	page_number(json, NULL, path ? path->rate : 0);
	page_close(json, ']');
}

/*
 * Write a link as a JSON array: both ends, lanes, speed, state, MTU, rate, and
 * the number of ends that report it.
 */
static void link_put(struct page_json *json, size_t node,
		     const struct ibsa_topology_port *port)
{
	page_open(json, NULL, '[');
	page_number(json, NULL, node);
	page_number(json, NULL, port->number);
	page_number(json, NULL, port->far_node);
	page_number(json, NULL, port->far_port);
	page_number(json, NULL, port->lanes);
	page_text(json, NULL, port->speed);
	page_number(json, NULL, port->state);
	page_number(json, NULL, port->mtu);
	page_number(json, NULL, port->rate);
	page_number(json, NULL, port->is_one_end ? 1 : 2);
	page_close(json, ']');
}

static void links_put(struct page *page)
{
	page_open(&page->json, "links", '[');
	for (size_t i = 0; i < page->view.info.nodes; i++) {
		const unsigned int last =
			topology_view_node(&page->view, i).port_count;

		for (unsigned int number = 0; number <= last; number++) {
			const struct ibsa_topology_port port =
				topology_view_port(&page->view, i, number);

			if (topology_is_first_end(page->view.topology, i,
						  &port))
				link_put(&page->json, i, &port);
		}
	}
	page_close(&page->json, ']');
}

/* Write the texts of codes: a member for each code that has a meaning. */
static void codes_put(struct page_json *json, const char *name,
		      enum ibsa_show show)
{
	char number[16];

	page_open(json, name, '{');
	for (unsigned int i = 0; i < 64; i++) {
		const char *text = ibsa_code_name(show, i);

		snprintf(number, sizeof(number), "%u", i);
		if (text)
			page_text(json, number, text);
	}
	page_close(json, '}');
}

static void all_codes_put(struct page_json *json)
{
	page_open(json, "codes", '{');
	codes_put(json, "mtu", IBSA_SHOW_mtu);
	codes_put(json, "rate", IBSA_SHOW_rate);
	codes_put(json, "state", IBSA_SHOW_port_state);
	codes_put(json, "type", IBSA_SHOW_node_type);
	page_close(json, '}');
}

/*
 * Return: the node at the other end of a link of an expected node, or SIZE_MAX.
 */
static size_t expected_peer_find(const struct page *page,
				 const struct topology_view *expected,
				 size_t index)
{
	const unsigned int last =
		topology_view_node(expected, index).port_count;
	size_t found;

	for (unsigned int number = 0; number <= last; number++) {
		const struct ibsa_topology_port port =
			topology_view_port(expected, index, number);

		if (port.has_link &&
		    ibsa_topology_node_find(
			    page->check.topology,
			    topology_view_node(expected, port.far_node).guid,
			    &found) == 0)
			return found;
	}
	return SIZE_MAX;
}

/*
 * Write two values for a node that only the topology of --expect has: its name,
 * and the node to which it was connected, or null.
 */
static void expected_node_put(struct page *page, uint64_t guid)
{
	const struct topology_view expected = {
		.topology = page->check.expected,
		.map = page->view.map,
	};
	struct page_json *json = &page->json;
	struct ibsa_topology_node node;
	size_t index, peer;

	if (!guid || !expected.topology ||
	    ibsa_topology_node_find(expected.topology, guid, &index) != 0)
		return;
	node = topology_view_node(&expected, index);
	if (*node.name)
		page_text(json, NULL, node.name);
	else
		page_hex(json, NULL, guid, 16);
	peer = expected_peer_find(page, &expected, index);
	if (peer == SIZE_MAX)
		page_null(json, NULL);
	else
		page_number(json, NULL, peer);
}

/*
 * Write a finding as a JSON array: kind, severity, node or null, port,
 * sentence, and, after null, the values of expected_node_put().
 */
static void finding_put(struct page *page, const struct ibsa_finding *finding)
{
	struct page_json *json = &page->json;
	size_t node;
	const bool is_known = finding->guid &&
			      ibsa_topology_node_find(page->check.topology,
						      finding->guid,
						      &node) == 0;

	page_open(json, NULL, '[');
	page_text(json, NULL, finding->name);
	page_number(json, NULL, finding->severity);
	if (is_known)
		page_number(json, NULL, node);
	else
		page_null(json, NULL);
	page_number(json, NULL, finding->port);
	page_text(json, NULL, finding->what.text);
	if (!is_known)
		expected_node_put(page, finding->guid);
	page_close(json, ']');
}

/*
 * Write at most FINDINGS_MAX findings, the critical ones first: a page with all
 * of them may be too large to open.
 */
static void findings_put(struct page *page)
{
	const enum ibsa_severity order[] = { IBSA_SEVERITY_CRITICAL,
					     IBSA_SEVERITY_WARNING };
	struct ibsa_finding finding;
	size_t count = 0;

	page_number(&page->json, "warnings",
		    page->check.count - page->check.critical_count);
	page_number(&page->json, "critical", page->check.critical_count);
	page_open(&page->json, "findings", '[');
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0;
		     i < page->check.count && count < FINDINGS_MAX; i++) {
			fabric_check_finding(&page->check, i, &finding);
			if (finding.severity != order[pass])
				continue;
			finding_put(page, &finding);
			count++;
		}
	}
	page_close(&page->json, ']');
}

void page_topology(struct page *page)
{
	info_put(page);
	all_codes_put(&page->json);
	nodes_put(page);
	page_open(&page->json, "ports", '[');
	for (size_t i = 0; i < page->port_count; i++)
		port_put(page, i);
	page_close(&page->json, ']');
	links_put(page);
	findings_put(page);
}
