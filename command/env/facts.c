/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa env: reads this machine's ports, and queries the SA for their paths. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "env/env.h"
#include "output/fields.h"
#include "session/query_wait.h"

static void value_note(struct env_value *value, unsigned int number)
{
	if (value->kind == ENV_UNKNOWN)
		*value = (struct env_value){ .kind = ENV_KNOWN,
					     .number = number };
	else if (value->kind == ENV_KNOWN && value->number != number)
		*value = (struct env_value){ .kind = ENV_DIFFERS,
					     .number = value->number,
					     .other = number };
}

/*
 * Find the P_Key of --pkey in the port's table; without --pkey, the first
 * P_Key with full membership, otherwise the first P_Key. Return: false: the
 * table is empty or does not contain the P_Key.
 */
static bool pkey_find(const struct machine_port *port, const uint16_t *given,
		      size_t *out)
{
	bool has_limited = false;

	for (size_t i = 0; i < port->pkey_count; i++) {
		const uint16_t pkey = port->pkeys[i];

		if (!(pkey & ~IBSA_PKEY_FULL) ||
		    (given && (pkey ^ *given) & ~IBSA_PKEY_FULL))
			continue;
		if (pkey & IBSA_PKEY_FULL) {
			*out = i;
			return true;
		}
		if (!has_limited)
			*out = i;
		has_limited = true;
	}
	return has_limited;
}

static int pkey_read(struct cli *cli, struct env_facts *facts,
		     struct env_port *at)
{
	const struct env_options *options = cli->own;
	const uint16_t *given = options->pkeys.count ? &options->pkeys.all[0]
						     : NULL;
	char where[MACHINE_PORT_TEXT];
	uint16_t pkey;

	if (!pkey_find(at->port, given, &at->pkey_index)) {
		if (!given)
			return CLI_DONE;
		return fail_no("%s does not have P_Key 0x%04x",
			       machine_port_text(at->port, where), *given);
	}
	pkey = at->port->pkeys[at->pkey_index];
	facts->pkey_is_given = given;
	value_note(&facts->pkey, pkey & (uint16_t)~IBSA_PKEY_FULL);
	value_note(&facts->pkey_index, (unsigned int)at->pkey_index);
	return CLI_DONE;
}

/*
 * Read the index of a RoCE port's best GID. UCX and NCCL use GIDs at RoCE
 * ports only.
 */
static void gid_index_read(struct env_facts *facts,
			   const struct machine_port *port)
{
	struct ibsa_gid_list *list;
	size_t at;

	if (port->state.link != IBSA_LINK_ETHERNET ||
	    ibsa_gids_read(port->opened_as, port->number, &list) != 0)
		return;
	if (ibsa_gid_choose(list->rows, list->count, NULL, NULL, &at) == 0)
		value_note(&facts->gid_index, list->rows[at].entry.index);
	ibsa_gids_free(list);
}

/* The channel adapters of the fabric, and the paths to them from one port. */
struct paths {
	struct env_facts *facts;
	const struct env_port *from;
	uint64_t *guids; /* of the adapters' ports, sorted */
	size_t count;
};

static int by_guid(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int adapters_take(struct cli *cli, const struct ibsa_reply *reply,
			 void *arg)
{
	struct paths *paths = arg;
	struct ibsa_node node;

	(void)cli;
	paths->guids = calloc(reply->count, sizeof(*paths->guids));
	if (!paths->guids)
		return no_memory();
	for (size_t i = 0; i < reply->count; i++)
		if (ibsa_reply_decode(reply, i, &node, sizeof(node)) == 0)
			paths->guids[paths->count++] = node.port_guid;
	qsort(paths->guids, paths->count, sizeof(*paths->guids), by_guid);
	return CLI_DONE;
}

static int paths_take(struct cli *cli, const struct ibsa_reply *reply,
		      void *arg)
{
	struct paths *paths = arg;
	struct env_facts *facts = paths->facts;
	struct ibsa_path path;

	(void)cli;
	for (size_t i = 0; i < reply->count; i++) {
		uint64_t guid;

		if (ibsa_reply_decode(reply, i, &path, sizeof(path)) != 0)
			continue;
		guid = fields_gid_guid(&path.dgid);
		if (guid == fields_gid_guid(&paths->from->port->state.gid) ||
		    !bsearch(&guid, paths->guids, paths->count,
			     sizeof(*paths->guids), by_guid))
			continue;
		value_note(&facts->sl, path.sl);
		value_note(&facts->traffic_class, path.tclass);
		facts->path_count++;
	}
	return CLI_DONE;
}

static int adapters_query(struct cli *cli, struct paths *paths)
{
	const struct ibsa_node match = { .node_type = IBSA_NODE_CA };
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.match = &match,
		.mask = IBSA_NODE_CM(node_type),
		.method = IBSA_METHOD_GET_TABLE,
	};

	return query_wait(cli, &query, adapters_take, paths);
}

/* Query all paths from the port in its partition. */
static int paths_query(struct cli *cli, struct paths *paths)
{
	const struct machine_port *port = paths->from->port;
	struct ibsa_path match = { .sgid = port->state.gid };
	struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid),
		.method = IBSA_METHOD_GET_TABLE,
	};

	if (paths->from->pkey_index < port->pkey_count) {
		match.pkey = port->pkeys[paths->from->pkey_index];
		query.mask |= IBSA_PATH_CM(pkey);
	}
	return query_wait(cli, &query, paths_take, paths);
}

/*
 * Query the SA of one port for its paths. Return: the exit status; a failure
 * is printed.
 */
static int paths_read(struct cli *cli, struct env_facts *facts,
		      const struct env_port *at)
{
	struct paths paths = { .facts = facts, .from = at };
	struct ibsa_error error = { .text = "" };
	int status;
	int err;

	if (at->port->state.link == IBSA_LINK_ETHERNET && !cli->open.access.sa)
		return CLI_DONE;
	err = machine_open(cli, &facts->machine, at->port, &error,
			   &cli->client);
	if (err) {
		cli->client = NULL;
		return error_explain(err, &error);
	}
	status = adapters_query(cli, &paths);
	if (status == CLI_DONE)
		status = paths_query(cli, &paths);
	(void)ibsa_close(cli->client);
	cli->client = NULL;
	free(paths.guids);
	return status == CLI_NO ? CLI_DONE : status;
}

static int active_ports(struct env_facts *facts)
{
	const struct machine *machine = &facts->machine;

	facts->ports = calloc(machine->count, sizeof(*facts->ports));
	if (!facts->ports)
		return no_memory();
	for (size_t i = 0; i < machine->count; i++) {
		const struct machine_port *port = &machine->ports[i];

		if (!port->err && port->state.port_state == IBSA_PORT_ACTIVE)
			facts->ports[facts->count++] = (struct env_port){
				.port = port, .pkey_index = SIZE_MAX
			};
	}
	if (facts->count)
		return CLI_DONE;
	return fail_device("no port is active; to list the ports, type: ibsa "
			   "devices");
}

/* Store the facts that need no SA. Return: the exit status. */
static int ports_read(struct cli *cli, struct env_facts *out)
{
	struct ibsa_error error;
	int status = machine_read(cli, &error, &out->machine);

	if (status != CLI_DONE) {
		complain("%s", error.text);
		return status;
	}
	status = active_ports(out);
	for (size_t i = 0; i < out->count && status == CLI_DONE; i++)
		status = pkey_read(cli, out, &out->ports[i]);
	if (status != CLI_DONE)
		out->count = 0;
	return status;
}

int env_facts_read(struct cli *cli, struct env_facts *out)
{
	const struct env_options *options = cli->own;
	int worst;

	*out = (struct env_facts){ .count = 0 };
	if (options->pkeys.count > 1)
		return fail_usage("env: --pkey is given more than once; it "
				  "takes one value");
	worst = ports_read(cli, out);
	/*
	 * After the first failure no further SA is queried: one message
	 * explains why values are missing.
	 */
	for (size_t i = 0; i < out->count; i++) {
		gid_index_read(out, out->ports[i].port);
		if (worst == CLI_DONE)
			worst = paths_read(cli, out, &out->ports[i]);
	}
	return worst;
}

void env_facts_free(struct env_facts *facts)
{
	free(facts->ports);
	machine_free(&facts->machine);
}
