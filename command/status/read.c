/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what ibsa status shows. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "graph/rails.h"
#include "output/codes.h"
#include "output/fields.h"
#include "session/query_wait.h"
#include "session/scope.h"
#include "status/status.h"

enum { SM_MASTER = 3, RATE_ROOM = 16, GROUPS_MAX = 32 };

void status_list_add(char list[STATUS_TEXT], const char *format, ...)
{
	static const char more[] = ", ...";
	const size_t len = strlen(list);
	char text[STATUS_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len + strlen(text) + 2 * sizeof(more) < STATUS_TEXT)
		snprintf(list + len, STATUS_TEXT - len, "%s%s", len ? ", " : "",
			 text);
	else if (len < sizeof(more) ||
		 strcmp(list + len - strlen(more), more) != 0)
		strcpy(list + len, more);
}

/* Ports with the same rate. */
struct group {
	char rate[RATE_ROOM]; /* such as "400 Gb/s" */
	size_t count;
};

/* Shorten a rate such as "400 Gb/sec (4X NDR)" to "400 Gb/s". */
static void rate_shorten(const char *rate, char out[RATE_ROOM])
{
	snprintf(out, RATE_ROOM, "%.*s Gb/s", (int)strcspn(rate, " "), rate);
	if (!*rate)
		strcpy(out, "unknown rate");
}

static void group_add(struct group groups[GROUPS_MAX], const char *rate)
{
	char text[RATE_ROOM];
	size_t i = 0;

	rate_shorten(rate, text);
	while (i < GROUPS_MAX - 1 && groups[i].count &&
	       strcmp(groups[i].rate, text) != 0)
		i++;
	strcpy(groups[i].rate, text);
	groups[i].count++;
}

/* List a port that is not active, with its state. */
static void inactive_add(char list[STATUS_TEXT],
			 const struct machine_port *port)
{
	char name[MACHINE_PORT_TEXT];
	char state[CODE_TEXT], phys[CODE_TEXT];

	machine_port_text(port, name);
	if (port->err)
		status_list_add(list, "%s: %s", name, strerror(-port->err));
	else
		status_list_add(list, "%s %s (%s)", name,
				codes_name(IBSA_SHOW_port_state,
					   port->state.port_state, state),
				codes_name(IBSA_SHOW_phys_state,
					   port->state.phys_state, phys));
}

static void role_count(const struct machine *machine, enum port_role role,
		       struct status_role *out)
{
	struct group groups[GROUPS_MAX] = { { .count = 0 } };

	for (size_t i = 0; i < machine->count; i++) {
		const struct machine_port *port = &machine->ports[i];

		if (port->role != role)
			continue;
		out->count++;
		if (!machine_port_is_active(port)) {
			inactive_add(out->inactive, port);
			continue;
		}
		group_add(groups, port->rate ? port->rate : "");
		out->active++;
	}
	for (size_t i = 0; i < GROUPS_MAX && groups[i].count; i++)
		status_list_add(out->rates, "%zu at %s", groups[i].count,
				groups[i].rate);
}

static int rtt_note(struct cli *cli, const struct ibsa_reply *reply, void *arg)
{
	struct status *status = arg;

	(void)cli;
	status->sm.rtt_ns = reply->rtt_ns;
	return CLI_DONE;
}

/* Measure the time of an answer, with the smallest query that there is. */
static int sa_time(struct cli *cli, struct status *status)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
		.method = IBSA_METHOD_GET,
	};

	return query_wait(cli, &query, rtt_note, status);
}

/* Copy the name of the node that has a LID. */
static void name_find(const struct status *status, uint32_t lid,
		      char out[IBSA_VALUE_TEXT])
{
	const struct ibsa_topology *topology = status->check.topology;
	struct ibsa_topology_node node;
	unsigned int port;
	size_t index;

	if (ibsa_topology_lid_find(topology, lid, &index, &port) == 0 &&
	    ibsa_topology_node_at(topology, index, &node) == 0)
		fields_clean(node.name, out);
}

static void sm_fill(struct status *status)
{
	struct status_sm *sm = &status->sm;

	name_find(status, sm->lid, sm->name);
	for (size_t i = 0; i < status->check.sm_count; i++) {
		const struct ibsa_sm_info *info = &status->check.sms[i];
		char name[IBSA_VALUE_TEXT] = "";

		if (info->lid == sm->lid)
			sm->guid = info->guid;
		if (info->lid == sm->lid || info->sm_state == SM_MASTER)
			continue;
		name_find(status, info->lid, name);
		status_list_add(sm->standby_names, "%s",
				*name ? name : "a node without a description");
		sm->standby++;
	}
}

/*
 * Open the client. If --device stands for several devices, open it at the first
 * of their ports that is active. Set *@sm_lid to the SM LID of the first active
 * port, also if the client cannot be opened.
 */
static int sender_open(struct cli *cli, const struct machine *machine,
		       uint32_t *sm_lid)
{
	const char *device = cli->open.device;
	const unsigned int port = cli->open.port;
	size_t i = 0;
	int result;

	while (i + 1 < machine->count &&
	       !machine_port_is_active(&machine->ports[i]))
		i++;
	if (machine_port_is_active(&machine->ports[i]))
		*sm_lid = machine->ports[i].state.sm_lid;
	if (scope_is_set(device)) {
		cli->open.device = machine->ports[i].opened_as;
		cli->open.port = machine->ports[i].number;
	}
	result = client_open(cli);
	cli->open.device = device;
	cli->open.port = port;
	return result;
}

static int fabric_read(struct cli *cli, struct status *status)
{
	struct rails rails = { .is_borrowed = true };
	struct ibsa_port_state own;
	int result = sender_open(cli, &status->machine, &status->sm.lid);

	if (result == CLI_DONE)
		result = own_port_get(cli, &own);
	if (result != CLI_DONE)
		return result;
	status->sm.lid = own.port_state == IBSA_PORT_ACTIVE ? own.sm_lid : 0;
	result = sa_time(cli, status);
	if (result == CLI_DONE)
		result = fabric_check_read(&status->check);
	if (result == CLI_DONE)
		result = status_hosts_count(status);
	if (result != CLI_DONE)
		return result;
	status->has_fabric = true;
	sm_fill(status);
	status_fabric_count(status, &own);
	rails.topology = status->check.topology;
	if (*status->host)
		rails_roles_set(cli->client, &rails, status->host,
				status->machine.ports, status->machine.count);
	return CLI_DONE;
}

static void no_ports(const struct status *status,
		     const struct ibsa_error *error)
{
	complain("%s", error->text);
	if (status->machine.is_missing && !status->machine.list &&
	    !status->machine.fabric)
		suggest_fabric();
}

int status_read(struct cli *cli, struct ibsa_topology *expected,
		struct status *out)
{
	struct ibsa_error error;
	int result;

	*out = (struct status){
		.check = {
			.cli = cli,
			.expected = expected,
			.shows_sms = true,
		},
	};
	result = machine_read(cli, &error, &out->machine);
	if (result != CLI_DONE && *error.text)
		no_ports(out, &error);
	if (result != CLI_DONE)
		return result;
	result = fabric_read(cli, out);
	for (size_t i = 0; i < STATUS_ROLES; i++)
		role_count(&out->machine, (enum port_role)i, &out->roles[i]);
	return result;
}

void status_free(struct status *status)
{
	status->check.expected = NULL; /* it is the caller's */
	fabric_check_done(&status->check);
	machine_free(&status->machine);
}
