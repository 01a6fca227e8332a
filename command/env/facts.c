/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa env: reads this machine's ports, and queries the SA for their paths. */
#include <stdlib.h>
#include <string.h>

#include "common/host.h"
#include "env/env.h"
#include "graph/rails.h"
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

static bool has_pkey(const struct env_port *at)
{
	return at->pkey_index < at->port->pkey_count;
}

/* Fail if --pkey is given, because a port does not have it. */
static int pkey_missing(const struct env_options *options,
			const struct env_port *at)
{
	char where[MACHINE_PORT_TEXT];

	if (!options->pkeys.count)
		return CLI_DONE;
	return fail_no("%s does not have P_Key 0x%04x",
		       machine_port_text(at->port, where),
		       options->pkeys.all[0]);
}

/* Find the P_Keys of the ports. It is a failure if no port has that of --pkey. */
static int pkeys_find(const struct env_options *options,
		      struct env_facts *facts)
{
	const uint16_t *given = options->pkeys.count ? &options->pkeys.all[0]
						     : NULL;
	bool has_any = false;

	for (size_t i = 0; i < facts->count; i++)
		has_any |= pkey_find(facts->ports[i].port, given,
				     &facts->ports[i].pkey_index);
	return has_any ? CLI_DONE : pkey_missing(options, &facts->ports[0]);
}

static int pkey_note(const struct env_options *options, struct env_facts *facts,
		     const struct env_port *at)
{
	if (!has_pkey(at))
		return pkey_missing(options, at);
	facts->pkey_is_given = options->pkeys.count;
	value_note(&facts->pkey,
		   at->port->pkeys[at->pkey_index] & (uint16_t)~IBSA_PKEY_FULL);
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

/* Number of ports whose switches are compared. */
enum { WIRED_MAX = 32 };

/* The channel adapters of the fabric, and the paths to them from one port. */
struct paths {
	struct env_facts *facts;
	const struct env_port *from;
	struct nodes nodes;
};

static const struct ibsa_node *own_node(const struct paths *paths,
					const struct machine_port *port)
{
	return nodes_at(&paths->nodes, fields_gid_guid(&port->state.gid));
}

static int paths_take(struct cli *cli, const struct ibsa_reply *reply,
		      void *arg)
{
	struct paths *paths = arg;
	struct env_facts *facts = paths->facts;
	struct ibsa_path path;

	(void)cli;
	for (size_t i = 0; i < reply->count; i++) {
		const struct ibsa_node *node;

		if (ibsa_reply_decode(reply, i, &path, sizeof(path)) != 0)
			continue;
		node = nodes_at(&paths->nodes, fields_gid_guid(&path.dgid));
		if (!node || node->node_type != IBSA_NODE_CA ||
		    node == own_node(paths, paths->from->port))
			continue;
		value_note(&facts->sl, path.sl);
		value_note(&facts->traffic_class, path.tclass);
		facts->path_count++;
	}
	return CLI_DONE;
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

	if (has_pkey(paths->from)) {
		match.pkey = port->pkeys[paths->from->pkey_index];
		query.mask |= IBSA_PATH_CM(pkey);
	}
	return query_wait(cli, &query, paths_take, paths);
}

/*
 * Return: why an application should not use a port, which the user has not
 * named; NULL: it should.
 */
static const char *reason_against(const struct cli *cli,
				  const struct machine_port *port)
{
	if (port->err)
		return "it cannot be read";
	if (!cli->open.device && !cli->open.port && port->role &&
	    port->role != ROLE_COMPUTE)
		return port->role_reason;
	return machine_port_is_active(port) ? NULL : "it is not active";
}

/* Leave out those ports that are no longer for applications. */
static void ports_drop(const struct cli *cli, struct env_facts *facts)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->count; i++)
		if (!reason_against(cli, facts->ports[i].port))
			facts->ports[count++] = facts->ports[i];
	facts->count = count;
}

/* Find the switch to which a port is connected. */
static bool leaf_find(const struct ibsa_topology *topology, size_t index,
		      unsigned int number, size_t *out)
{
	struct ibsa_topology_port port;
	struct ibsa_topology_node far;

	if (ibsa_topology_port_at(topology, index, number, &port) != 0 ||
	    !port.has_link ||
	    ibsa_topology_node_at(topology, port.far_node, &far) != 0 ||
	    far.type != IBSA_NODE_SWITCH)
		return false;
	*out = port.far_node;
	return true;
}

/*
 * Whether an adapter with the same name, of another node, is connected to the
 * switch.
 */
static bool has_peer(const struct ibsa_topology *topology, size_t own,
		     const char *device, size_t leaf)
{
	struct ibsa_topology_node node;
	size_t at;

	for (size_t i = 0; !ibsa_topology_node_at(topology, i, &node); i++) {
		if (i == own || node.type != IBSA_NODE_CA ||
		    strcmp(ibsa__host_device(node.name), device) != 0)
			continue;
		for (unsigned int k = 1; k <= node.port_count; k++)
			if (leaf_find(topology, i, k, &at) && at == leaf)
				return true;
	}
	return false;
}

/*
 * Find out how the ports are connected; see enum env_wiring.
 */
static enum env_wiring wiring_find(const struct paths *paths,
				   const struct ibsa_topology *topology)
{
	const struct env_facts *facts = paths->facts;
	size_t leaves[WIRED_MAX];
	size_t index;
	size_t same = 0;

	if (facts->count < 2 || facts->count > WIRED_MAX)
		return ENV_WIRING_OTHER;
	for (size_t i = 0; i < facts->count; i++) {
		const struct machine_port *port = facts->ports[i].port;
		const struct ibsa_node *node = own_node(paths, port);

		if (!node ||
		    ibsa_topology_node_find(topology, node->node_guid,
					    &index) ||
		    !leaf_find(topology, index, port->number, &leaves[i]) ||
		    !has_peer(topology, index, port->device, leaves[i]))
			return ENV_WIRING_OTHER;
		for (size_t k = 0; k < i; k++)
			same += leaves[k] == leaves[i];
	}
	return same == 0 ? ENV_WIRING_RAILS
	       : same == facts->count * (facts->count - 1) / 2
		       ? ENV_WIRING_ONE_SWITCH
		       : ENV_WIRING_OTHER;
}

/*
 * Compare the rails of this host with those of the hosts like it; print the
 * differences, and leave out the ports that turn out to be for storage.
 */
static int rails_compare(struct cli *cli, const struct paths *paths)
{
	const struct ibsa_node *own = own_node(paths, paths->from->port);
	struct rails rails = { .topology = NULL };
	char host[HOST_TEXT];
	int status;

	if (!own)
		return CLI_DONE;
	status = rails_read(cli->client, &paths->nodes, &rails);
	if (status == CLI_DONE) {
		rails_print(&rails, host_of(own->node_description, host));
		rails_roles_set(cli->client, &rails, host,
				paths->facts->machine.ports,
				paths->facts->machine.count);
		ports_drop(cli, paths->facts);
		rails_print_unequal(&rails, host);
		paths->facts->wiring = wiring_find(paths, rails.topology);
	}
	rails_free(&rails);
	return status;
}

/*
 * Query the SA of one port for its paths. Return: the exit status; a failure
 * is printed.
 */
static int paths_read(struct cli *cli, struct env_facts *facts,
		      struct env_port at)
{
	struct paths paths = { .facts = facts, .from = &at };
	struct ibsa_error error = { .text = "" };
	int status;
	int err;

	if (at.port->state.link == IBSA_LINK_ETHERNET && !cli->open.access.sa)
		return CLI_DONE;
	err = machine_open(cli, &facts->machine, at.port, &error, &cli->client);
	if (err) {
		cli->client = NULL;
		return error_explain(err, &error);
	}
	status = nodes_query(cli, NULL, 0, &paths.nodes);
	if (status == CLI_DONE && !paths.nodes.count)
		status = CLI_NO;
	if (status == CLI_DONE && !facts->has_rails) {
		facts->has_rails = true;
		status = rails_compare(cli, &paths);
	}
	if (status == CLI_DONE && !reason_against(cli, at.port))
		status = paths_query(cli, &paths);
	(void)ibsa_close(cli->client);
	cli->client = NULL;
	nodes_free(&paths.nodes);
	return status == CLI_NO ? CLI_DONE : status;
}

/* Print which ports are left out, and why. */
static void left_out_explain(const struct cli *cli,
			     const struct env_facts *facts)
{
	char where[MACHINE_PORT_TEXT];

	for (size_t i = 0; i < facts->machine.count; i++) {
		const struct machine_port *port = &facts->machine.ports[i];
		const char *why = reason_against(cli, port);

		if (why)
			complain("%s is left out: %s",
				 machine_port_text(port, where), why);
	}
}

static int active_ports(const struct cli *cli, struct env_facts *facts)
{
	const struct machine *machine = &facts->machine;

	facts->ports = calloc(machine->count, sizeof(*facts->ports));
	if (!facts->ports)
		return no_memory();
	for (size_t i = 0; i < machine->count; i++) {
		const struct machine_port *port = &machine->ports[i];

		if (!reason_against(cli, port))
			facts->ports[facts->count++] = (struct env_port){
				.port = port, .pkey_index = SIZE_MAX
			};
	}
	if (facts->count)
		return CLI_DONE;
	left_out_explain(cli, facts);
	return fail_device("no port is active; to list the ports, type: ibsa "
			   "devices");
}

/* Store the facts that need no SA. Return: the exit status. */
static int ports_read(struct cli *cli, struct env_facts *out)
{
	struct ibsa_error error;
	int status = machine_read(cli, &error, &out->machine);

	if (status != CLI_DONE && *error.text)
		complain("%s", error.text);
	if (status != CLI_DONE)
		return status;
	status = active_ports(cli, out);
	if (status == CLI_DONE)
		status = pkeys_find(cli->own, out);
	if (status != CLI_DONE)
		out->count = 0;
	return status;
}

/* Store what the ports that are left have in common. Return: the exit status. */
static int ports_note(const struct env_options *options, struct env_facts *out)
{
	int status = CLI_DONE;

	for (size_t i = 0; i < out->count && status == CLI_DONE; i++) {
		gid_index_read(out, out->ports[i].port);
		status = pkey_note(options, out, &out->ports[i]);
	}
	return status;
}

int env_facts_read(struct cli *cli, struct env_facts *out)
{
	const struct env_options *options = cli->own;
	size_t i = 0;
	int worst, status;

	*out = (struct env_facts){ .count = 0 };
	if (options->pkeys.count > 1)
		return fail_usage("env: --pkey is given more than once; it "
				  "takes one value");
	worst = ports_read(cli, out);
	/*
	 * After the first failure no further SA is queried: one message
	 * explains why values are missing.
	 */
	while (i < out->count && worst == CLI_DONE) {
		const struct machine_port *port = out->ports[i].port;

		worst = paths_read(cli, out, out->ports[i]);
		/* The port, or one before it, may have been left out. */
		i += i < out->count && out->ports[i].port == port;
	}
	status = ports_note(options, out);
	if (status != CLI_DONE) {
		out->count = 0;
		return status;
	}
	if (out->count)
		left_out_explain(cli, out);
	return worst;
}

void env_facts_free(struct env_facts *facts)
{
	free(facts->ports);
	machine_free(&facts->machine);
}
