/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node's port from the node's name. */
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

static int several(const struct matches *matches)
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
	complain("'%s' is the name of several nodes: %s%s; use a GUID",
		 matches->name, list, matches->more ? ", ..." : "");
	return CLI_USAGE;
}

int nodes_find(struct cli *cli, const char *name, uint64_t *out_port_guid)
{
	struct matches matches = { .name = name };
	int status = look_up(cli, &matches);

	if (status == CLI_DONE && matches.count == 0) {
		matches.loosely = true;
		status = look_up(cli, &matches);
	}
	if (status != CLI_DONE)
		return status;
	if (matches.count == 0) {
		complain("the fabric has no node '%s'; ibsa query table "
			 "NodeRecord lists them",
			 name);
		return CLI_NO;
	}
	if (matches.count > 1)
		return several(&matches);
	if (cli->verbose && matches.ports > 1)
		complain("'%s' has %u ports; this is port %u", name,
			 matches.ports, matches.nodes[0].local_port_num);
	*out_port_guid = matches.nodes[0].port_guid;
	return CLI_DONE;
}
