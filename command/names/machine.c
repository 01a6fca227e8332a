/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists the ports of this machine, or of a host of an embedded fabric. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "common/host.h"
#include "output/fields.h"
#include "names/machine.h"
#include "names/port_roles.h"
#include "session/scope.h"

static int memory_missing(struct ibsa_error *error)
{
	snprintf(error->text, sizeof(error->text), "out of memory");
	return CLI_DEVICE;
}

static bool has_infiniband(const struct ibsa_device_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; k < ibsa_device_at(list, i)->port_count; k++)
			if (ibsa_device_port_at(ibsa_device_at(list, i), k)
				    ->state->link != IBSA_LINK_ETHERNET)
				return true;
	return false;
}

/*
 * Whether a command uses the port if the user names neither a device nor a
 * port.
 */
static bool is_default(const struct ibsa_device_list *list,
		       const struct ibsa_device *device,
		       const struct ibsa_port *port)
{
	if (device->node_type != IBSA_NODE_CA ||
	    ibsa_port_gsi(list, port, NULL))
		return false;
	return port->state->link != IBSA_LINK_ETHERNET || !has_infiniband(list);
}

struct machine_port machine_port_of_device(const struct ibsa_device *device,
					   const struct ibsa_port *port)
{
	return (struct machine_port){
		.opened_as = device->name,
		.name = device->name,
		.device = device->name,
		.number = port->number,
		.err = port->err,
		.state = *port->state,
		.rate = port->rate,
		.board = device->board,
		.pkeys = port->pkeys,
		.pkey_count = port->pkey_count,
	};
}

struct machine_port machine_port_of_fabric(const struct ibsa_fabric_port *port)
{
	const char *device = ibsa__host_device(port->node);

	return (struct machine_port){
		.opened_as = port->id,
		.name = port->node,
		.device = *device ? device : port->node,
		.number = port->number,
		.state = port->state,
		.rate = port->rate,
	};
}

static int port_add(struct machine *machine, struct machine_port port,
		    struct ibsa_error *error)
{
	struct machine_port *added = list_add(&machine->ports, &machine->count,
					      sizeof(*added));

	if (!added)
		return memory_missing(error);
	*added = port;
	return CLI_DONE;
}

/*
 * Whether the node that -C or IBSA_NODE names in a fabric server is a switch.
 */
static bool node_is_switch(const struct ibsa_device_list *list)
{
	return secure_getenv("IBSA_NODE") && list->count &&
	       ibsa_device_at(list, 0)->node_type == IBSA_NODE_SWITCH;
}

static int machine_ports_read(const struct scope *scope,
			      struct ibsa_error *error, struct machine *out)
{
	const struct ibsa_device_list *list = out->list;
	bool has_device = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		if (!scope_has_device(scope, device->name))
			continue;
		has_device = true;
		for (size_t k = 0; k < device->port_count; k++) {
			const struct ibsa_port *port =
				ibsa_device_port_at(device, k);

			if (!scope_has_device_port(scope, device->name,
						   port->number) ||
			    (!scope->device && !is_default(list, device, port)))
				continue;
			if (port_add(out, machine_port_of_device(device, port),
				     error))
				return CLI_DEVICE;
		}
	}
	out->is_missing = out->count == 0;
	if (out->count)
		return CLI_DONE;
	if (scope->device || (scope->port && list->count))
		scope_none(scope, has_device, error);
	else if (node_is_switch(list))
		snprintf(
			error->text, sizeof(error->text),
			"'%.64s' is a switch; choose a host of the fabric with "
			"-C; list the nodes with: ibsa topology",
			secure_getenv("IBSA_NODE"));
	else
		snprintf(error->text, sizeof(error->text),
			 "this machine has no InfiniBand %s",
			 list->count ? "port" : "device");
	return CLI_DEVICE;
}

/*
 * Find the name of the node, and the port, that the options or IBSA_NODE name.
 */
static int fabric_scope(const struct cli *cli, struct scope *out)
{
	const char *node = secure_getenv("IBSA_NODE");
	int status = CLI_DONE;

	if (cli->open.device)
		out->device = cli->open.device;
	else if (node && *node)
		status = scope_parse(node, out);
	if (cli->open.port)
		out->port = cli->open.port;
	return status;
}

/* Return: how well the best match in @fabric fits the name @name; above 0. */
static int best_match(struct ibsa_fabric *fabric, const char *name)
{
	struct ibsa_fabric_port port;
	int best = 1;

	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++) {
		const int match = scope_node_match(name, &port);

		if (match > best)
			best = match;
	}
	return best;
}

static size_t host_len(const char *node)
{
	return strcspn(node, " ");
}

static bool is_of_host(const struct ibsa_fabric_port *port, const char *host)
{
	return strlen(host) == host_len(port->node) &&
	       strncmp(host, port->node, strlen(host)) == 0;
}

/*
 * Write the name of the host of which a set of devices selects ports: the own
 * host, or else that of the first port in the set; "" if there is none.
 */
static void set_host(const struct scope *scope, struct ibsa_fabric *fabric,
		     char out[IBSA_VALUE_TEXT])
{
	char own[IBSA_VALUE_TEXT];
	const bool has_own = scope_own_host(fabric, own);
	struct ibsa_fabric_port port;

	out[0] = '\0';
	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++) {
		if (has_own ? !scope_node_match(own, &port)
			    : !scope_has_node(scope, &port))
			continue;
		snprintf(out, IBSA_VALUE_TEXT, "%.*s", (int)host_len(port.node),
			 port.node);
		return;
	}
}

/* Whether a text that may be a set of devices is the name of a node. */
static bool is_node_name(struct ibsa_fabric *fabric, const char *text)
{
	struct ibsa_fabric_port port;

	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++)
		if (strcmp(text, port.id) == 0 ||
		    ibsa__host_match(text, port.node) > 0)
			return true;
	return false;
}

/*
 * Take the ports whose node matches @host as well as @best; or, if @best is 0,
 * those of @host that the set of devices selects.
 */
static int fabric_host_take(const struct scope *scope, const char *host,
			    int best, struct ibsa_error *error,
			    struct machine *out)
{
	struct ibsa_fabric_port port;
	bool has_device = false;

	for (size_t i = 0; !ibsa_fabric_port_at(out->fabric, i, &port); i++) {
		if (best ? scope_node_match(host, &port) != best
			 : !is_of_host(&port, host) ||
				    !scope_has_node(scope, &port))
			continue;
		has_device = true;
		if (scope_has_port(scope, port.number) &&
		    port_add(out, machine_port_of_fabric(&port), error))
			return CLI_DEVICE;
	}
	out->is_missing = out->count == 0;
	if (out->is_missing)
		scope_none(scope, has_device, error);
	return out->is_missing ? CLI_DEVICE : CLI_DONE;
}

static int fabric_ports_take(const struct scope *scope,
			     struct ibsa_error *error, struct machine *out)
{
	struct ibsa_fabric_port port;
	char host[IBSA_VALUE_TEXT];

	if (ibsa_fabric_port_at(out->fabric, 0, &port) != 0) {
		out->is_missing = true;
		snprintf(error->text, sizeof(error->text),
			 "the fabric has no channel adapter");
		return CLI_DEVICE;
	}
	if (scope_is_set(scope->device) &&
	    !is_node_name(out->fabric, scope->device)) {
		set_host(scope, out->fabric, host);
		return fabric_host_take(scope, host, 0, error, out);
	}
	if (scope->device)
		snprintf(host, sizeof(host), "%s", scope->device);
	else if (!scope_own_host(out->fabric, host))
		snprintf(host, sizeof(host), "%.*s", (int)host_len(port.node),
			 port.node);
	return fabric_host_take(scope, host, best_match(out->fabric, host),
				error, out);
}

/* Read the P_Key table of a fabric's port, through a client at the port. */
static int pkeys_read(const struct cli *cli, const struct machine *machine,
		      struct machine_port *port, struct ibsa_error *error)
{
	uint16_t *pkeys = NULL;
	struct ibsa_client *client;
	size_t count = 0;
	uint16_t pkey;
	int err = port->state.port_state == IBSA_PORT_DOWN
			  ? -ENETDOWN
			  : machine_open(cli, machine, port, error, &client);

	/* A port without a link cannot be opened: its table stays empty. */
	if (err == -ENETDOWN)
		return CLI_DONE;
	if (err)
		return CLI_DEVICE;
	while (!err && ibsa_pkey_get(client, (uint32_t)count, &pkey) == 0) {
		uint16_t *more = list_add(&pkeys, &count, sizeof(*more));

		err = more ? 0 : -ENOMEM;
		if (more)
			*more = pkey;
	}
	(void)ibsa_close(client);
	port->pkeys = pkeys;
	port->pkey_count = count;
	return err ? memory_missing(error) : CLI_DONE;
}

static int fabric_read_ports(struct cli *cli, const char *file,
			     struct ibsa_error *error, struct machine *out)
{
	struct scope scope = { .fabric = file };
	int status = fabric_scope(cli, &scope);
	int err = 0;

	if (status == CLI_DONE)
		err = ibsa_fabric_load(file, NULL, error, &out->fabric);
	if (err)
		status = err == -EINVAL ? CLI_USAGE : CLI_DEVICE;
	if (status == CLI_DONE) {
		scope_at_host(&scope, out->fabric);
		status = fabric_ports_take(&scope, error, out);
	}
	for (size_t i = 0; i < out->count && status == CLI_DONE; i++)
		status = pkeys_read(cli, out, &out->ports[i], error);
	scope_free(&scope);
	return status;
}

static int ports_read(struct cli *cli, struct ibsa_error *error,
		      struct machine *out)
{
	const struct scope scope = {
		.fabric = secure_getenv("IBSA_FABRIC"),
		.device = cli->open.device,
		.port = cli->open.port,
	};
	const char *file = fabric_file(cli);
	int err, server_err;

	*out = (struct machine){ .count = 0 };
	error->text[0] = '\0';
	if (file)
		return fabric_read_ports(cli, file, error, out);
	err = ibsa_devices_read(&out->list);
	if (!err)
		return machine_ports_read(&scope, error, out);
	out->list = NULL;
	server_err = server_failure(error);
	if (server_err) {
		out->is_missing = server_err == -ENODEV || server_err == -ENXIO;
		return CLI_DEVICE;
	}
	out->is_missing = err == -ENOSYS;
	no_device_text(err, error);
	return CLI_DEVICE;
}

bool machine_is_local(const struct cli *cli)
{
	const char *fabric = secure_getenv("IBSA_FABRIC");

	return !fabric_file(cli) &&
	       (!fabric || !*fabric || secure_getenv("SYSFS_PATH"));
}

/*
 * Find the roles of the ports. All ports of the host are read for this, because
 * @machine may have only some of them.
 */
static int roles_read(const struct cli *cli, struct machine *machine)
{
	struct port_roles *roles = NULL;
	int status = CLI_DONE;

	if (machine->list)
		status = port_roles_of_list(machine->list,
					    machine_is_local(cli), &roles);
	else if (machine->count)
		status = port_roles_of_fabric(machine->fabric,
					      machine->ports[0].name, &roles);
	for (size_t i = 0; i < machine->count; i++) {
		struct machine_port *port = &machine->ports[i];
		const struct machine_port *found =
			port_roles_find(roles, port->name, port->number);

		if (!found)
			continue;
		port->role = found->role;
		port->role_reason = found->role_reason;
		port->is_role_given = found->is_role_given;
		port->was_up = found->was_up;
	}
	port_roles_free(roles);
	return status;
}

int machine_read(struct cli *cli, struct ibsa_error *error, struct machine *out)
{
	const int status = ports_read(cli, error, out);

	return status == CLI_DONE ? roles_read(cli, out) : status;
}

bool machine_port_is_expected(const struct cli *cli,
			      const struct machine_port *port)
{
	return cli->open.port || cli->open.device ||
	       (port->is_role_given && port->role != ROLE_UNCABLED);
}

void machine_free(struct machine *machine)
{
	for (size_t i = 0; machine->fabric && i < machine->count; i++)
		free((void *)machine->ports[i].pkeys);
	free(machine->ports);
	ibsa_devices_free(machine->list);
	ibsa_fabric_put(machine->fabric);
	*machine = (struct machine){ .count = 0 };
}

int machine_open(const struct cli *cli, const struct machine *machine,
		 const struct machine_port *port, struct ibsa_error *error,
		 struct ibsa_client **out)
{
	struct ibsa_options options = cli->open;

	options.device = port->opened_as;
	options.port = port->number;
	options.on = machine->fabric;
	return ibsa_open(&options, error, out);
}

const char *machine_port_text(const struct machine_port *port,
			      char out[MACHINE_PORT_TEXT])
{
	char clean[IBSA_VALUE_TEXT];

	snprintf(out, MACHINE_PORT_TEXT, "%s/%u",
		 fields_clean(port->device, clean), port->number);
	return out;
}

bool machine_port_is_active(const struct machine_port *port)
{
	return !port->err && port->state.port_state == IBSA_PORT_ACTIVE;
}
