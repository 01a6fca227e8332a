/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds nodes by name and ports by GUID. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session/query_wait.h"
#include "output/fields.h"
#include "names/node_map.h"
#include "names/likely.h"
#include "names/nodes.h"
#include "session/own_port.h"

/* maximum number of nodes that an error message lists */
enum { CANDIDATES = 8 };

/*
 * Print the message for an ambiguous name: several switches or routers have
 * it, so it is not the name of a host.
 */
static int ambiguous_name(const char *where, const char *name,
			  const struct node_ports *ports)
{
	char list[CANDIDATES * 80] = "";
	char text[IBSA_VALUE_TEXT];
	size_t len = 0;

	for (size_t i = 0;
	     i < ports->count && i < CANDIDATES && len < sizeof(list); i++)
		len += (size_t)snprintf(
			list + len, sizeof(list) - len, "%s'%s' (guid:0x%llx)",
			i > 0 ? ", " : "",
			fields_clean(ports->all[i].node_description, text),
			(unsigned long long)ports->all[i].port_guid);
	return fail_usage("%s'%s' is the name of several nodes: %s%s; use a "
			  "GUID",
			  where, name, list,
			  ports->count > CANDIDATES ? ", ..." : "");
}

int node_ports_check(const struct node_ports *ports, const char *where,
		     const char *name)
{
	for (size_t i = 1; i < ports->count; i++)
		if (ports->all[i].node_type != IBSA_NODE_CA &&
		    ports->all[i].node_guid != ports->all[0].node_guid)
			return ambiguous_name(where, name, ports);
	return CLI_DONE;
}

bool nodes_are_shown(struct ibsa_client *client)
{
	uint16_t pkey;

	for (uint32_t i = 0; ibsa_pkey_get(client, i, &pkey) == 0; i++)
		if (pkey == IBSA_PKEY_DEFAULT)
			return true;
	return false;
}

void name_absent_explain(const struct cli *cli, const char *where,
			 const char *name)
{
	complain("%s%s the name '%s'; to list the nodes, type: ibsa query "
		 "table NodeRecord",
		 where,
		 nodes_are_shown(cli->client) ? "no node has"
					      : "the SA shows no node with",
		 name);
}

/* A name, and the nodes among which it is searched. */
struct lookup {
	const struct cli *cli;
	const char *where;
	const char *name;
	const struct ibsa_node *all;
	size_t count;
};

/* Print that no node has the name, and which one may be meant. */
static void absence_explain(const struct lookup *lookup)
{
	char likely[NODE_NAME_TEXT];
	char text[IBSA_VALUE_TEXT];

	if (!node_name_likely(lookup->all, lookup->count, lookup->name, likely))
		name_absent_explain(lookup->cli, lookup->where, lookup->name);
	else
		complain("%s%s the name '%s'; did you mean '%s'?",
			 lookup->where,
			 nodes_are_shown(lookup->cli->client)
				 ? "no node has"
				 : "the SA shows no node with",
			 lookup->name, fields_clean(likely, text));
}

/*
 * Print that no node has the name, or, if it is HOST/DEVICE, which adapter of
 * the host the SA does not show. Return: the exit status.
 */
static int port_absent_explain(const struct lookup *lookup)
{
	const char *name = lookup->name;
	const size_t len = strcspn(name, "/");
	char *host = strndup(name, len);
	struct node_ports ports = { .count = 0 };

	if (!host || (name[len] && len &&
		      ibsa_host_select(lookup->all, lookup->count, host,
				       &ports.all, &ports.count) != 0)) {
		free(host);
		return no_memory();
	}
	if (ports.count)
		complain("%sthe SA shows %zu %s of the host '%s', but no '%s'; "
			 "to see them, type: ibsa reach %s",
			 lookup->where, ports.count,
			 ports.count == 1 ? "port" : "ports", host,
			 name + len + 1, host);
	else
		absence_explain(lookup);
	node_ports_free(&ports);
	free(host);
	return CLI_NO;
}

/*
 * Choose those ports of @nodes, which are all nodes of the lookup that can match,
 * that the name stands for. Return: the exit status.
 */
static int ports_choose(const struct lookup *lookup,
			const struct ibsa_node *nodes, size_t count,
			struct node_ports *out)
{
	if (ibsa_host_select(nodes, count, lookup->name, &out->all,
			     &out->count) != 0)
		return no_memory();
	if (out->count == 0)
		return lookup->cli->names.is_absence_told
			       ? CLI_NO
			       : port_absent_explain(lookup);
	return node_ports_check(out, lookup->where, lookup->name);
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

int nodes_query(struct cli *cli, const struct ibsa_node *match, uint64_t mask,
		struct nodes *out)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.match = match,
		.mask = mask,
		.method = IBSA_METHOD_GET_TABLE,
	};
	int status;

	*out = (struct nodes){ .count = 0 };
	status = records_query(cli, &query, &out->all, &out->count);
	if (status != CLI_DONE)
		return status;
	out->by_name = calloc(out->count + 1, sizeof(*out->by_name));
	if (!out->by_name)
		return no_memory();
	if (out->count)
		qsort(out->all, out->count, sizeof(*out->all), by_guid);
	for (size_t i = 0; i < out->count; i++)
		out->by_name[i] = &out->all[i];
	qsort(out->by_name, out->count, sizeof(*out->by_name), by_name);
	return CLI_DONE;
}

int nodes_read(struct cli *cli, struct nodes *out)
{
	struct ibsa_error why;
	const int status = nodes_query(cli, NULL, 0, out);

	if (status != CLI_DONE ||
	    own_port_in_nodes(cli, cli->client, out->all, out->count, &why))
		return status;
	return fail_silent("%s", why.text);
}

void nodes_free(struct nodes *nodes)
{
	free(nodes->all);
	free(nodes->by_name);
}

/*
 * Return: the index of the first description that begins with @name, or that
 * sorts after it.
 */
static size_t first_with_prefix(const struct nodes *nodes, const char *name)
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

/*
 * Return: the number of descriptions, from index @first on, that begin with
 * the @len bytes of @name.
 */
static size_t count_with_prefix(const struct nodes *nodes, size_t first,
				const char *name, size_t len)
{
	size_t end = first;

	while (end < nodes->count &&
	       strncasecmp(nodes->by_name[end]->node_description, name, len) ==
		       0)
		end++;
	return end - first;
}

/*
 * Choose the ports that the name stands for, among the nodes whose
 * descriptions begin with the name or with its host part: no other node can
 * match.
 */
static int ports_choose_among(const struct lookup *lookup,
			      const struct nodes *nodes, struct node_ports *out)
{
	const size_t len = strcspn(lookup->name, "/");
	char *host = strndup(lookup->name, len);
	const size_t first = host ? first_with_prefix(nodes, host) : 0;
	const size_t count = host ? count_with_prefix(nodes, first, host, len)
				  : 0;
	struct ibsa_node *profile = calloc(count + 1, sizeof(*profile));
	int status = CLI_DEVICE;

	for (size_t i = 0; profile && i < count; i++)
		profile[i] = *nodes->by_name[first + i];
	if (host && profile)
		status = ports_choose(lookup, profile, count, out);
	else
		complain("out of memory");
	free(host);
	free(profile);
	return status;
}

/*
 * Choose the ports that @name stands for among the names of --node-name-map;
 * @out is empty if there are none.
 */
static int ports_choose_mapped(const struct lookup *lookup,
			       const struct nodes *nodes,
			       struct node_ports *out)
{
	struct ibsa_node *mapped = calloc(nodes->count + 1, sizeof(*mapped));
	size_t count = 0;
	int status = mapped ? CLI_DONE : no_memory();

	for (size_t i = 0; mapped && i < nodes->count; i++) {
		const char *text = node_map_find(lookup->cli->names.map,
						 nodes->all[i].node_guid);

		if (!text)
			continue;
		mapped[count] = nodes->all[i];
		snprintf(mapped[count].node_description,
			 sizeof(mapped->node_description), "%s", text);
		count++;
	}
	if (mapped && ibsa_host_select(mapped, count, lookup->name, &out->all,
				       &out->count) != 0)
		status = no_memory();
	if (status == CLI_DONE && out->count) {
		node_ports_free(out);
		status = ports_choose(lookup, mapped, count, out);
	}
	free(mapped);
	return status;
}

int nodes_find(struct cli *cli, const struct nodes *nodes, const char *where,
	       const char *name, struct node_ports *out)
{
	struct lookup lookup = { .cli = cli, .where = where, .name = name };
	struct nodes read = { .count = 0 };
	const struct nodes *all = nodes ? nodes : &read;
	int status = nodes ? CLI_DONE : nodes_read(cli, &read);

	*out = (struct node_ports){ .count = 0 };
	lookup.all = all->all;
	lookup.count = all->count;
	if (nodes)
		return ports_choose_among(&lookup, nodes, out);
	if (status == CLI_DONE && cli->names.map)
		status = ports_choose_mapped(&lookup, all, out);
	if (status == CLI_DONE && !out->count)
		status = ports_choose(&lookup, all->all, all->count, out);
	nodes_free(&read);
	return status;
}

void node_ports_free(struct node_ports *ports)
{
	ibsa_host_ports_free(ports->all);
	*ports = (struct node_ports){ .count = 0 };
}

const struct ibsa_node *nodes_at(const struct nodes *nodes, uint64_t port_guid)
{
	const struct ibsa_node key = { .port_guid = port_guid };

	if (nodes->count == 0)
		return NULL;
	return bsearch(&key, nodes->all, nodes->count, sizeof(key), by_guid);
}
