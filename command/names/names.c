/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of nodes, which are requested from the SA without waiting for the
 * reply.
 */
#include <stdlib.h>
#include <string.h>

#include "names/names.h"

enum {
	/*
	 * Deadlines in ms of the query for the name of one node, and of the
	 * query for all names.
	 */
	ONE_MS = 1000,
	ALL_MS = 5000
};

struct name {
	uint64_t guid; /* port GUID */
	uint16_t lid;
	char text[sizeof(((struct ibsa_node *)0)->node_description)];
};

static int name_compare(const void *a, const void *b)
{
	const struct name *one = a, *other = b;

	return (one->guid > other->guid) - (one->guid < other->guid);
}

static struct name *name_find(const struct names *names, size_t count,
			      uint64_t guid)
{
	const struct name key = { .guid = guid };

	if (!count)
		return NULL;
	return bsearch(&key, names->all, count, sizeof(key), name_compare);
}

/* Replace the names of nodes that are in @names, and append the other nodes. */
static void add_all(struct names *names, const struct ibsa_reply *reply)
{
	const size_t sorted = names->count;
	struct name *all = realloc(names->all,
				   (sorted + reply->count) * sizeof(*all));

	if (!all)
		return;
	names->all = all;
	for (size_t i = 0; i < reply->count; i++) {
		struct name *name;
		struct ibsa_node node;

		if (ibsa_reply_decode(reply, i, &node, sizeof(node)) != 0)
			continue;
		name = name_find(names, sorted, node.port_guid);
		if (!name)
			name = &all[names->count++];
		name->guid = node.port_guid;
		name->lid = node.lid;
		memcpy(name->text, node.node_description, sizeof(name->text));
	}
	/*
	 * Sort the names only if a node was added: many replies contain only
	 * known nodes.
	 */
	if (names->count > sorted)
		qsort(all, names->count, sizeof(*all), name_compare);
}

static void reply_add(const struct ibsa_reply *reply, void *arg)
{
	struct names *names = arg;

	names->answered++;
	if (!reply->err && !reply->status && reply->count)
		add_all(names, reply);
	names->changed(names->arg);
}

/*
 * Query the names of the nodes that match; of all nodes if @mask is 0. If the
 * query cannot be sent, the names remain unknown.
 */
static void name_query(struct names *names, const struct ibsa_node *match,
		       uint64_t mask)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.match = match,
		.mask = mask,
		.method = IBSA_METHOD_GET_TABLE,
		.deadline_ms = mask ? ONE_MS : ALL_MS,
	};

	if (ibsa_query_start(names->client, &query, reply_add, names, NULL) ==
	    0)
		names->asked++;
}

void names_load(struct names *names)
{
	name_query(names, NULL, 0);
}

void names_request_guid(struct names *names, uint64_t guid)
{
	const struct ibsa_node match = { .port_guid = guid };

	if (!names_of_guid(names, guid))
		name_query(names, &match, IBSA_NODE_CM(port_guid));
}

void names_request_lid(struct names *names, uint16_t lid)
{
	const struct ibsa_node match = { .lid = lid };

	if (!names_of_lid(names, lid))
		name_query(names, &match, IBSA_NODE_CM(lid));
}

const char *names_of_guid(const struct names *names, uint64_t guid)
{
	const struct name *name = name_find(names, names->count, guid);

	return name ? name->text : NULL;
}

const char *names_of_lid(const struct names *names, uint16_t lid)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->all[i].lid == lid)
			return names->all[i].text;
	return NULL;
}

void names_done(struct names *names)
{
	free(names->all);
	names->all = NULL;
	names->count = 0;
}
