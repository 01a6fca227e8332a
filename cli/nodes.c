/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes by their names, and ports by their GUIDs. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ask.h"
#include "fields.h"
#include "nodes.h"

enum { CANDIDATES = 8 }; /* as many as an error message should name */

/* The nodes that match: the first few, and how many ports of the first. */
struct matches {
	const char *name;
	bool loosely;
	struct ibsa_node nodes[CANDIDATES];
	unsigned int count;
	bool more;
	unsigned int ports;
};

static bool matches_name(const struct matches *matches,
			 const struct ibsa_node *node)
{
	const char *text = node->node_description;
	size_t len = strlen(matches->name);

	if (!matches->loosely)
		return strcmp(text, matches->name) == 0;
	return strncasecmp(text, matches->name, len) == 0 &&
	       (text[len] == '\0' ||
		(text[len] == ' ' && !strchr(matches->name, ' ')));
}

static void add(struct matches *matches, const struct ibsa_node *node)
{
	unsigned int i = 0;

	while (i < matches->count &&
	       matches->nodes[i].node_guid != node->node_guid)
		i++;
	if (i == CANDIDATES) {
		matches->more = true;
		return;
	}
	if (i == 0)
		matches->ports++;
	if (i == matches->count)
		matches->nodes[matches->count++] = *node;
	else if (node->local_port_num < matches->nodes[i].local_port_num)
		matches->nodes[i] = *node;
}

static int collect(struct cli *cli, const struct ibsa_reply *reply, void *arg)
{
	struct matches *matches = arg;
	struct ibsa_node node;

	(void)cli;
	for (size_t i = 0; i < reply->count; i++)
		if (ibsa_reply_decode(reply, i, &node) == 0 &&
		    matches_name(matches, &node))
			add(matches, &node);
	return CLI_DONE;
}

static int look_up(struct cli *cli, struct matches *matches)
{
	struct ibsa_node want = { 0 };
	struct ibsa_query query = {
		.record = &ibsa_node_record,
		.match = &want,
		.method = IBSA_METHOD_GET_TABLE,
	};
	int status;

	if (!matches->loosely) {
		memcpy(want.node_description, matches->name,
		       strnlen(matches->name,
			       sizeof(want.node_description) - 1));
		query.mask = IBSA_NODE_CM(node_description);
	}
	status = ask(cli, &query, collect, matches);
	return status == CLI_NO ? CLI_DONE : status;
}

static int several(const struct matches *matches, const char *where)
{
	char list[CANDIDATES * 80] = "";
	char text[IBSA_VALUE_TEXT];
	size_t len = 0;

	for (unsigned int i = 0; i < matches->count && len < sizeof(list); i++)
		len += (size_t)snprintf(
			list + len, sizeof(list) - len, "%s'%s' (guid:0x%llx)",
			i > 0 ? ", " : "",
			fields_clean(matches->nodes[i].node_description, text),
			(unsigned long long)matches->nodes[i].port_guid);
	complain("%s'%s' is the name of several nodes: %s%s; use a GUID", where,
		 matches->name, list, matches->more ? ", ..." : "");
	return CLI_USAGE;
}

/* The one node that matches. Return: the exit status. */
static int choose(const struct cli *cli, const struct matches *matches,
		  const char *where, struct ibsa_node *out)
{
	if (matches->count == 0) {
		complain("%sthe fabric has no node '%s'; ibsa query table "
			 "NodeRecord lists them",
			 where, matches->name);
		return CLI_NO;
	}
	if (matches->count > 1)
		return several(matches, where);
	if (cli->verbose && matches->ports > 1)
		complain("%s'%s' has %u ports; this is port %u", where,
			 matches->name, matches->ports,
			 matches->nodes[0].local_port_num);
	*out = matches->nodes[0];
	return CLI_DONE;
}

int nodes_find(struct cli *cli, const char *where, const char *name,
	       struct ibsa_node *out)
{
	struct matches matches = { .name = name };
	int status = look_up(cli, &matches);

	if (status == CLI_DONE && matches.count == 0) {
		matches.loosely = true;
		status = look_up(cli, &matches);
	}
	return status ? status : choose(cli, &matches, where, out);
}

static int by_guid(const void *a, const void *b)
{
	const struct ibsa_node *x = a;
	const struct ibsa_node *y = b;

	return (x->port_guid > y->port_guid) - (x->port_guid < y->port_guid);
}

static int by_name(const void *a, const void *b)
{
	const struct ibsa_node *const *x = a;
	const struct ibsa_node *const *y = b;
	int order = strcasecmp((*x)->node_description, (*y)->node_description);

	return order ? order : by_guid(*x, *y);
}

static int keep_all(struct cli *cli, const struct ibsa_reply *reply, void *arg)
{
	struct nodes *nodes = arg;

	(void)cli;
	nodes->all = calloc(reply->count, sizeof(*nodes->all));
	nodes->by_name = calloc(reply->count, sizeof(*nodes->by_name));
	if (!nodes->all || !nodes->by_name) {
		complain("out of memory");
		return CLI_DEVICE;
	}
	for (size_t i = 0; i < reply->count; i++)
		nodes->count += ibsa_reply_decode(reply, i,
						  &nodes->all[nodes->count]) ==
				0;
	qsort(nodes->all, nodes->count, sizeof(*nodes->all), by_guid);
	for (size_t i = 0; i < nodes->count; i++)
		nodes->by_name[i] = &nodes->all[i];
	qsort(nodes->by_name, nodes->count, sizeof(*nodes->by_name), by_name);
	return CLI_DONE;
}

int nodes_read(struct cli *cli, struct nodes *out)
{
	struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	int status;

	*out = (struct nodes){ .count = 0 };
	status = ask(cli, &query, keep_all, out);
	return status == CLI_NO ? CLI_DONE : status;
}

void nodes_free(struct nodes *nodes)
{
	free(nodes->all);
	free(nodes->by_name);
}

/* The first whose description is not before all that begin with @name. */
static size_t first_like(const struct nodes *nodes, const char *name)
{
	size_t len = strlen(name);
	size_t low = 0;
	size_t high = nodes->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strncasecmp(nodes->by_name[mid]->node_description, name,
				len) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Descriptions that go on after the name with a blank or not at all come
 * before all others that begin with it. */
static void match_in(const struct nodes *nodes, struct matches *matches)
{
	size_t len = strlen(matches->name);

	for (size_t i = first_like(nodes, matches->name);
	     i < nodes->count && !matches->more; i++) {
		const struct ibsa_node *node = nodes->by_name[i];

		if (strncasecmp(node->node_description, matches->name, len) !=
			    0 ||
		    (unsigned char)node->node_description[len] > ' ')
			return;
		if (matches_name(matches, node))
			add(matches, node);
	}
}

int nodes_find_in(struct cli *cli, const struct nodes *nodes, const char *where,
		  const char *name, struct ibsa_node *out)
{
	struct matches matches = { .name = name };

	match_in(nodes, &matches);
	if (matches.count == 0) {
		matches.loosely = true;
		match_in(nodes, &matches);
	}
	return choose(cli, &matches, where, out);
}

const struct ibsa_node *nodes_at(const struct nodes *nodes, uint64_t port_guid)
{
	const struct ibsa_node key = { .port_guid = port_guid };

	if (nodes->count == 0)
		return NULL;
	return bsearch(&key, nodes->all, nodes->count, sizeof(key), by_guid);
}
