/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds what is wrong with the rails of a host, with the library's check. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/host.h"
#include "graph/rails.h"
#include "output/reason.h"

/* Add the nodes to a new topology. Return: 0 or a negative errno. */
static int topology_begin(const struct nodes *nodes, struct ibsa_topology **out)
{
	int err = ibsa_topology_new(out);

	if (err)
		*out = NULL;
	for (size_t i = 0; i < nodes->count && !err; i++)
		err = ibsa_topology_add(*out, &ibsa_node_record, &nodes->all[i],
					sizeof(nodes->all[i]));
	return err;
}

static int topology_end(int err, struct ibsa_topology *topology)
{
	if (!err)
		err = ibsa_topology_finish(topology);
	if (!err)
		err = ibsa_topology_check(topology, NULL);
	return err ? no_memory() : CLI_DONE;
}

/*
 * The topology to which records are added, and the first error. PortInfoRecords
 * are added only if they are of adapters: with the records of only some ports
 * of a switch, there would be other findings than with all of them.
 */
struct additions {
	struct ibsa_topology *topology;
	const struct nodes *nodes;
	int err;
};

static void links_take(const struct ibsa_reply *reply, void *arg)
{
	struct additions *to = arg;
	struct ibsa_link link;

	for (size_t i = 0; i < reply->count && !to->err; i++)
		if (ibsa_reply_decode(reply, i, &link, sizeof(link)) == 0)
			to->err = ibsa_topology_add(to->topology,
						    &ibsa_link_record, &link,
						    sizeof(link));
}

/*
 * Query the links. If the query fails, only the names of adapters are compared.
 */
static void links_add(struct ibsa_client *client, struct additions *to)
{
	const struct ibsa_query query = {
		.record = &ibsa_link_record,
		.method = IBSA_METHOD_GET_TABLE,
	};

	if (!to->err)
		(void)!ibsa_query_wait(client, &query, links_take, to);
}

/* Set the bit of the LID of each adapter. */
static void adapters_mark(const struct nodes *nodes, uint8_t lids[0x10000 / 8])
{
	memset(lids, 0, 0x10000 / 8);
	for (size_t i = 0; i < nodes->count; i++)
		if (nodes->all[i].node_type == IBSA_NODE_CA)
			lids[nodes->all[i].lid / 8] |=
				(uint8_t)(1 << nodes->all[i].lid % 8);
}

static void ports_take(const struct ibsa_reply *reply, void *arg)
{
	struct additions *to = arg;
	struct ibsa_port_info port;
	uint8_t lids[0x10000 / 8];

	adapters_mark(to->nodes, lids);
	for (size_t i = 0; i < reply->count && !to->err; i++)
		if (ibsa_reply_decode(reply, i, &port, sizeof(port)) == 0 &&
		    lids[port.endport_lid / 8] & 1 << port.endport_lid % 8)
			to->err = ibsa_topology_add(to->topology,
						    &ibsa_port_info_record,
						    &port, sizeof(port));
}

/*
 * Query the rates of the ports with this number. An adapter has few ports, so
 * that the SA returns the records of few ports of switches.
 */
static void rates_add(struct ibsa_client *client, struct additions *to,
		      uint8_t number)
{
	const struct ibsa_port_info match = { .port_num = number };
	const struct ibsa_query query = {
		.record = &ibsa_port_info_record,
		.match = &match,
		.mask = IBSA_PORT_INFO_CM(port_num),
		.method = IBSA_METHOD_GET_TABLE,
	};

	if (!to->err)
		(void)!ibsa_query_wait(client, &query, ports_take, to);
}

/*
 * Compare the links, and the rates of the adapters' ports with numbers up to
 * @ports.
 */
static int links_read(struct ibsa_client *client, const struct nodes *nodes,
		      uint8_t ports, struct rails *out)
{
	struct additions to = { .nodes = nodes };

	out->is_borrowed = false;
	to.err = topology_begin(nodes, &out->topology);
	to.topology = out->topology;
	links_add(client, &to);
	for (uint8_t number = 1; number <= ports; number++)
		rates_add(client, &to, number);
	return topology_end(to.err, out->topology);
}

int rails_read_rates(struct ibsa_client *client, const struct nodes *nodes,
		     struct rails *out)
{
	enum { ADAPTER_PORTS = 2 };

	return links_read(client, nodes, ADAPTER_PORTS, out);
}

/* Whether there is the finding that a leaf switch is missing. */
static bool lacks_leaf(const struct rails *rails)
{
	struct ibsa_finding finding;

	for (size_t i = 0;
	     ibsa_topology_finding_at(rails->topology, i, &finding) == 0; i++)
		if (finding.missing_device && !finding.guid)
			return true;
	return false;
}

int rails_read(struct ibsa_client *client, const struct nodes *nodes,
	       struct rails *out)
{
	int status = links_read(client, nodes, 0, out);

	/* The rates tell whether these rails are for storage. */
	if (status == CLI_DONE && lacks_leaf(out)) {
		rails_free(out);
		status = rails_read_rates(client, nodes, out);
	}
	return status;
}

int rails_use(struct ibsa_topology *topology, struct rails *out)
{
	*out = (struct rails){ .topology = topology, .is_borrowed = true };
	return ibsa_topology_check(topology, NULL) ? no_memory() : CLI_DONE;
}

void rails_free(struct rails *rails)
{
	if (!rails->is_borrowed)
		ibsa_topology_free(rails->topology);
	rails->topology = NULL;
}

const char *host_of(const char *description, char out[HOST_TEXT])
{
	snprintf(out, HOST_TEXT, "%.*s", (int)strcspn(description, " "),
		 description);
	return out;
}

static bool is_rail_finding(enum ibsa_finding_kind kind)
{
	return kind == IBSA_FINDING_RAIL_MISSING ||
	       kind == IBSA_FINDING_RAIL_CROSSED ||
	       kind == IBSA_FINDING_RAIL_APART ||
	       kind == IBSA_FINDING_RAIL_SLOW;
}

/* Find the node of the finding, if it is of the host. */
static bool node_find(const struct rails *rails,
		      const struct ibsa_finding *finding, const char *host,
		      struct ibsa_topology_node *out)
{
	char name[HOST_TEXT];
	size_t index;

	if (ibsa_topology_node_find(rails->topology, finding->guid, &index) ||
	    ibsa_topology_node_at(rails->topology, index, out))
		return false;
	return strcasecmp(host_of(out->name, name), host) == 0;
}

static void device_copy(const struct ibsa_finding *finding,
			const struct ibsa_topology_node *node,
			struct rail_finding *out)
{
	const char *name = finding->missing_device
				   ? finding->missing_device
				   : ibsa__host_device(node->name);

	snprintf(out->device, sizeof(out->device), "%s", name);
}

bool rails_next(const struct rails *rails, const char *host, size_t *index,
		struct rail_finding *out)
{
	struct ibsa_topology_node node;
	struct ibsa_finding finding;

	while (ibsa_topology_finding_at(rails->topology, (*index)++,
					&finding) == 0) {
		if (!is_rail_finding(finding.kind) ||
		    !node_find(rails, &finding, host, &node))
			continue;
		*out = (struct rail_finding){
			.kind = finding.kind,
			.name = finding.name,
			.node_guid = finding.guid,
			.what = finding.what,
		};
		device_copy(&finding, &node, out);
		return true;
	}
	return false;
}

bool rails_find_missing(const struct rails *rails, const char *name,
			char out_host[HOST_TEXT], struct rail_finding *out)
{
	const size_t len = strcspn(name, "/");
	size_t index = 0;

	if (!name[len] || len >= HOST_TEXT)
		return false;
	snprintf(out_host, HOST_TEXT, "%.*s", (int)len, name);
	while (rails_next(rails, out_host, &index, out))
		if (out->kind == IBSA_FINDING_RAIL_MISSING &&
		    strcmp(out->device, name + len + 1) == 0)
			return true;
	return false;
}

void rails_roles_set(struct ibsa_client *client, const struct rails *rails,
		     const char *host, struct machine_port *ports, size_t count)
{
	struct ibsa_topology_info info;
	struct rail_finding rail;
	size_t index = 0;

	while (rails_next(rails, host, &index, &rail))
		for (size_t i = 0; i < count; i++)
			if (rail.kind == IBSA_FINDING_RAIL_MISSING &&
			    ports[i].role == ROLE_UNCABLED &&
			    !ports[i].is_role_given &&
			    strcmp(ports[i].device, rail.device) == 0)
				role_set_by_peers(&ports[i]);
	ibsa_topology_info_get(rails->topology, &info);
	if (!info.hidden && !info.unmatched && nodes_are_shown(client))
		leaf_roles_set(rails->topology, host, ports, count);
}

void rails_print(const struct rails *rails, const char *host)
{
	struct rail_finding rail;
	size_t index = 0;

	while (rails_next(rails, host, &index, &rail))
		complain("%s: %s", rail.name, rail.what.text);
}

void rails_print_unequal(const struct rails *rails, const char *host)
{
	struct ibsa_topology_node node;
	struct ibsa_finding finding;
	struct ibsa_error first;
	char more[64] = "";
	size_t count = 0;

	for (size_t i = 0;
	     ibsa_topology_finding_at(rails->topology, i, &finding) == 0; i++) {
		if (finding.kind != IBSA_FINDING_RAIL_MISSING ||
		    node_find(rails, &finding, host, &node))
			continue;
		if (!count++)
			first = finding.what;
	}
	if (count > 1)
		snprintf(more, sizeof(more), "; ibsa check lists %zu of them",
			 count);
	if (count)
		complain("the hosts have unequal sets of rails: %s%s",
			 first.text, more);
}

void rails_reason(const struct cli *cli, const struct rail_finding *rail,
		  struct ibsa_reason *out)
{
	const char *what = rail->what.text;
	const bool is_certain = nodes_are_shown(cli->client);
	/*
	 * The library states this itself if the links show that the SA hides
	 * some nodes.
	 */
	const bool is_told = is_certain || strstr(what, "does not show it");

	*out = (struct ibsa_reason){
		.code = (enum ibsa_reason_code)REASON_RAIL_MISSING,
		.is_certain = is_certain,
	};
	snprintf(out->detail, sizeof(out->detail), "%.200s%s", what,
		 is_told ? "" : "; the SA may not show it");
}
