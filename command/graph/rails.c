/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds what is wrong with the rails of a host, with the library's check. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/host.h"
#include "graph/rails.h"

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

int rails_read(const struct nodes *nodes, struct rails *out)
{
	const int err = topology_begin(nodes, &out->topology);

	out->is_borrowed = false;
	return topology_end(err, out->topology);
}

/* The topology to which links are added, and the first error. */
struct links {
	struct ibsa_topology *topology;
	int err;
};

static void links_take(const struct ibsa_reply *reply, void *arg)
{
	struct links *links = arg;
	struct ibsa_link link;

	for (size_t i = 0; i < reply->count && !links->err; i++)
		if (ibsa_reply_decode(reply, i, &link, sizeof(link)) == 0)
			links->err = ibsa_topology_add(links->topology,
						       &ibsa_link_record, &link,
						       sizeof(link));
}

int rails_read_links(struct ibsa_client *client, const struct nodes *nodes,
		     struct rails *out)
{
	const struct ibsa_query query = {
		.record = &ibsa_link_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct links links = { .err = topology_begin(nodes, &out->topology) };

	out->is_borrowed = false;
	links.topology = out->topology;
	/* Without links, the names of the adapters are compared only. */
	if (!links.err)
		(void)!ibsa_query_wait(client, &query, links_take, &links);
	return topology_end(links.err, out->topology);
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

/*
 * Copy the name of the adapter: of a missing one, out of the sentence of the
 * finding, which begins with "HOST has no ADAPTER,".
 */
static void device_copy(const struct ibsa_finding *finding,
			const struct ibsa_topology_node *node,
			struct rail_finding *out)
{
	static const char words[] = " has no ";
	const char *at = ibsa__host_device(node->name);

	if (finding->kind == IBSA_FINDING_RAIL_MISSING) {
		at = strstr(finding->what.text, words);
		at = at ? at + strlen(words) : "";
	}
	snprintf(out->device, sizeof(out->device), "%.*s",
		 (int)strcspn(at, " ,"), at);
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

void rails_print(const struct rails *rails, const char *host)
{
	struct rail_finding rail;
	size_t index = 0;

	while (rails_next(rails, host, &index, &rail))
		complain("%s: %s", rail.name, rail.what.text);
}
