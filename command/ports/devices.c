/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa devices: lists the ports of a machine or a fabric. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/defaults.h"
#include "base/list.h"
#include "base/rate.h"
#include "output/codes.h"
#include "output/column_table.h"
#include "output/fields.h"
#include "graph/neighbors.h"
#include "names/machine.h"
#include "names/port_roles.h"
#include "ports/ports.h"
#include "options/command.h"

enum { NO_PORT = -1 };

/* A line in the output of ibsa devices: a port, or a device without ports. */
struct line {
	const char *name;
	int port;	/* or NO_PORT */
	bool has_state; /* @state is valid */
	struct ibsa_port_state state;
	const struct ibsa_device *device; /* NULL on an embedded fabric */
	const struct ibsa_port *details;  /* NULL: unknown */
	const char *rate;		  /* NULL: unknown */
	const struct machine_port *role;  /* has it; or NULL */
	/* The reason why the port cannot be used; "" if it can. */
	char note[320];
};

/*
 * The lines in the output of ibsa devices. The table has a column for notes
 * only if at least one line has a note.
 */
struct view {
	const struct scope *scope;
	struct line *lines;
	size_t count;
	bool noted;
	bool has_roles; /* not all lines have the same role */
	struct port_roles *roles;
	bool has_device; /* @scope's device was found */
	bool has_umad;	 /* the kernel module ib_umad is loaded */
	const struct ibsa_device_list
		/*
		 * List of this machine's devices; NULL on an embedded fabric.
		 */
		*list;
};

static void text_or_none(struct out *out, const char *name, const char *text)
{
	fields_text_or_none(out, name, text && *text ? text : NULL);
}

/* States have the names of PortInfo's values. */
static void state_cells(struct out *out, const struct ibsa_port_state *state)
{
	struct ibsa_port_info info = { .port_state = state->port_state };

	fields_named_as(out, "state", &ibsa_port_info_record, "port_state",
			&info);
	out_count(out, "lid", state->lid);
	out_count(out, "sm_lid", state->sm_lid);
}

static void no_cells(struct out *out, const char *const *names)
{
	for (; *names; names++)
		out_none(out, *names);
}

static void rate_cell(struct out *out, const char *rate)
{
	unsigned int tenths = 0;
	char text[CODE_TEXT];

	if (rate)
		(void)rate_of_port(rate, &tenths);
	out_decimal(out, "rate_gbps", codes_gbps(100 * tenths, text));
}

static void port_cells(struct out *out, const struct line *line)
{
	static const char *const lids[] = { "lid", "sm_lid", NULL };
	static const char *const gids[] = { "guid", "gid", NULL };

	text_or_none(out, "device", line->name);
	if (line->port == NO_PORT)
		out_none(out, "port");
	else
		out_count(out, "port", (uint64_t)line->port);
	if (line->has_state) {
		state_cells(out, &line->state);
	} else {
		out_no_code(out, "state");
		no_cells(out, lids);
	}
	text_or_none(out, "rate", line->rate);
	if (out_is_data(out))
		rate_cell(out, line->rate);
	if (line->has_state) {
		fields_guid(out, "guid", fields_gid_guid(&line->state.gid));
		fields_gid(out, "gid", &line->state.gid);
	} else {
		no_cells(out, gids);
	}
}

static void more_port_cells(struct out *out, const struct line *line)
{
	static const char *const names[] = { "lmc", "sm_sl", NULL };
	struct ibsa_port_info info = { .port_state = 0 };

	if (line->has_state) {
		info.port_physical_state = line->state.phys_state;
		fields_named_as(out, "phys_state", &ibsa_port_info_record,
				"port_physical_state", &info);
		out_count(out, "lmc", line->state.lmc);
		out_count(out, "sm_sl", line->state.sm_sl);
	} else {
		out_no_code(out, "phys_state");
		no_cells(out, names);
	}
	text_or_none(out, "link_layer",
		     line->details ? line->details->link_layer : NULL);
	text_or_none(out, "umad", line->details ? line->details->umad : NULL);
}

static void more_device_cells(struct out *out, const struct line *line)
{
	static const char *const names[] = { "node_guid", "system_image_guid",
					     "firmware", "board", NULL };
	const struct ibsa_device *device = line->device;

	if (!device || device->err) {
		no_cells(out, names);
		return;
	}
	fields_guid(out, "node_guid", device->node_guid);
	fields_guid(out, "system_image_guid", device->system_image_guid);
	text_or_none(out, "firmware", device->firmware);
	text_or_none(out, "board", device->board);
}

static enum port_role role_of(const struct line *line)
{
	return line->role ? line->role->role : ROLE_UNKNOWN;
}

/* Return: what shows the role, or NULL. */
static const char *role_evidence(const struct line *line)
{
	const char *text = line->role ? line->role->role_reason : NULL;

	return text ? strchr(text, ':') + strlen(": ") : NULL;
}

static void line_row(struct out *out, size_t index, void *arg)
{
	const struct view *view = arg;
	const struct line *line = &view->lines[index];

	port_cells(out, line);
	if (!out_is_brief(out)) {
		more_port_cells(out, line);
		more_device_cells(out, line);
	}
	if ((view->has_roles && view->list) || !out_is_brief(out))
		out_text_or_none(out, "role", role_name(role_of(line)));
	if (!out_is_brief(out))
		out_text_or_none(out, "role_reason", role_evidence(line));
	if (view->noted || !out_is_brief(out))
		text_or_none(out, "note", line->note);
}

static int line_add(struct view *view, const struct line *line)
{
	struct line *added = list_add(&view->lines, &view->count,
				      sizeof(*added));

	if (!added)
		return -ENOMEM;
	*added = *line;
	view->has_roles |= role_of(&view->lines[0]) != role_of(line);
	view->noted |= line->note[0] != '\0';
	return 0;
}

__attribute__((format(printf, 2, 3))) static void
line_note_add(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(line->note, sizeof(line->note), format, args);
	va_end(args);
}

/* Add a note to the line if this user cannot use the port's device file. */
static void access_note(struct line *line, const struct ibsa_port *port)
{
	struct ibsa_port_access access;

	if (ibsa_port_access_get(port, &access) != 0)
		line_note_add(line, "the port does not support MADs");
	else if (access.open_err == -EACCES)
		line_note_add(line, "not permitted to open %s",
			      access.umad.path);
	else if (access.umad.err == -ENOENT)
		line_note_add(line, "%s does not exist", access.umad.path);
	else if (access.open_err == -ENODEV)
		line_note_add(line, "%s is not a device of ib_umad",
			      access.umad.path);
	else if (access.open_err)
		line_note_add(line, "%s: %s", access.umad.path,
			      strerror(-access.open_err));
}

static void port_fill(const struct view *view, struct line *line,
		      const struct ibsa_port *port)
{
	const struct ibsa_device *device;
	const struct ibsa_port *gsi;

	line->port = (int)port->number;
	if (port->err) {
		line_note_add(line, "%s", strerror(-port->err));
		return;
	}
	line->has_state = true;
	line->role = port_roles_find(view->roles, line->name, port->number);
	line->state = *port->state;
	line->details = port;
	line->rate = port->rate;
	gsi = ibsa_port_gsi(view->list, port, &device);
	if (gsi)
		line_note_add(
			line,
			"SMI of %s/%u; that port receives the SA's answers",
			device->name, gsi->number);
	else if (view->has_umad)
		access_note(line, port);
	else
		line_note_add(line,
			      "no MAD device; load the kernel module ib_umad");
}

/* Add a line for a port; @port is NULL for a device without ports. */
static int device_line_add(struct view *view, const struct ibsa_device *device,
			   const struct ibsa_port *port)
{
	struct line line = {
		.name = device->name,
		.port = NO_PORT,
		.device = device,
	};

	if (port)
		port_fill(view, &line, port);
	else
		line_note_add(&line, "no ports");
	if (device->err)
		line_note_add(&line, "%s", strerror(-device->err));
	return line_add(view, &line);
}

/* Add a line for each port of the device; one line if it has no ports. */
static int device_add(struct view *view, const struct ibsa_device *device)
{
	int err = 0;

	view->has_device = true;
	if (device->port_count == 0 && !view->scope->port)
		return device_line_add(view, device, NULL);
	for (size_t i = 0; !err && i < device->port_count; i++) {
		const struct ibsa_port *port = ibsa_device_port_at(device, i);

		if (scope_has_device_port(view->scope, device->name,
					  port->number))
			err = device_line_add(view, device, port);
	}
	return err;
}

/* Whether the hosts like this one may have the rail of a port. */
static bool is_doubtful(const struct machine_port *port)
{
	return port->role == ROLE_UNCABLED && !port->is_role_given;
}

/* Set roles of ports by the data of the SA of an active port. */
static void roles_compare(const struct cli *cli, struct port_roles *roles,
			  const struct machine_port *from)
{
	struct ibsa_options options = cli->open;
	struct neighbors neighbors;
	struct ibsa_client *client;
	struct ibsa_error error;

	options.device = from->opened_as;
	options.port = from->number;
	if (!options.deadline_ms)
		options.deadline_ms = CLI_DEFAULT_DOCTOR_MS;
	if (ibsa_open(&options, &error, &client) != 0) {
		complain("%s", error.text);
		return;
	}
	if (neighbors_read(client, &from->state.gid, &neighbors))
		rails_roles_set(client, &neighbors.rails, neighbors.host,
				roles->all, roles->count);
	else
		complain("the SA does not show the hosts like this one");
	neighbors_free(&neighbors);
	(void)ibsa_close(client);
}

/* Return: a port from which the SA can be queried, or NULL. */
static const struct machine_port *sender_find(const struct port_roles *roles)
{
	for (size_t i = 0; roles && i < roles->count; i++)
		if (machine_port_is_active(&roles->all[i]) &&
		    ibsa_port_has_sm(&roles->all[i].state))
			return &roles->all[i];
	return NULL;
}

/*
 * With -v, queries find out whether ports that were never up are rails, and
 * whether ports that nothing else tells from rails are for storage.
 */
static void roles_by_peers(const struct cli *cli, struct port_roles *roles)
{
	const struct machine_port *from = sender_find(roles);
	size_t compute = 0;
	bool is_open = false;

	for (size_t i = 0; from && i < roles->count; i++) {
		const struct machine_port *port = &roles->all[i];

		is_open |= is_doubtful(port);
		compute += !port->is_role_given && port->role == ROLE_COMPUTE;
	}
	/* Two ports have no majority, of which one could differ. */
	if (is_open || compute > 2)
		roles_compare(cli, roles, from);
}

static bool has_doubtful(const struct view *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->lines[i].role && is_doubtful(view->lines[i].role))
			return true;
	return false;
}

/* Without -v, tell what a query would show about a port in the table. */
static void peers_suggest(const struct cli *cli, const struct view *view)
{
	if (!cli->output.verbose && !out_is_data(&cli->out) &&
	    has_doubtful(view) && sender_find(view->roles))
		complain("to see whether the hosts like this one use the ports "
			 "that are uncabled here, type: ibsa devices -v");
}

static int list_show(struct cli *cli, struct view *view,
		     const struct ibsa_device_list *list)
{
	int err = 0;

	view->list = list;
	(void)port_roles_of_list(list, machine_is_local(cli), &view->roles);
	if (cli->output.verbose)
		roles_by_peers(cli, view->roles);
	for (size_t i = 0; !err && i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		if (scope_has_device(view->scope, device->name))
			err = device_add(view, device);
	}
	if (err)
		return no_memory();
	if (list->count == 0)
		return ports_no_device(cli, 0);
	if (view->count == 0)
		return ports_none(cli, view->scope, view->has_device);
	out_rows(&cli->out, view->count, line_row, view);
	peers_suggest(cli, view);
	return CLI_DONE;
}

static int machine_devices(struct cli *cli, const struct scope *scope,
			   void *arg)
{
	struct view *view = arg;
	struct ibsa_device_list *list;
	unsigned int version;
	int status;
	int err;

	view->scope = scope;
	err = ibsa_devices_read(&list);
	if (err)
		return ports_no_device(cli, err);
	view->has_umad = ibsa_umad_version(NULL, &version) == 0;
	status = list_show(cli, view, list);
	ibsa_devices_free(list);
	return status;
}

static int fabric_lines(struct ibsa_fabric *fabric, struct view *view)
{
	struct ibsa_fabric_port port;
	int err = 0;

	for (size_t i = 0; !err && !ibsa_fabric_port_at(fabric, i, &port);
	     i++) {
		const struct line line = {
			.name = port.node,
			.port = (int)port.number,
			.has_state = true,
			.state = port.state,
			.rate = port.rate,
			.role = port_roles_find(view->roles, port.node,
						port.number),
		};

		if (!scope_has_node(view->scope, &port))
			continue;
		view->has_device = true;
		if (scope_has_port(view->scope, port.number))
			err = line_add(view, &line);
	}
	return err;
}

static int fabric_devices(struct cli *cli, const struct scope *scope,
			  struct ibsa_fabric *fabric, void *arg)
{
	struct view *view = arg;

	view->scope = scope;
	(void)port_roles_of_fabric(fabric, NULL, &view->roles);
	if (fabric_lines(fabric, view) != 0)
		return no_memory();
	if (view->count == 0)
		return scope->device ? ports_none(cli, scope, view->has_device)
				     : ports_no_adapter(cli, "ports");
	out_rows(&cli->out, view->count, line_row, view);
	return CLI_DONE;
}

/* clang-format off */
static const struct column devices_list[] = {
	ALWAYS("device", TEXT),
	MAYBE("port", NUMBER),
	FIELD("state", port_info, "port_state"),
	MAYBE("lid", NUMBER),
	MAYBE("sm_lid", NUMBER),
	MAYBE("rate", RATE),
	MAYBE("rate_gbps", DECIMAL),
	MAYBE("guid", GUID),
	MAYBE("gid", GID),
	FIELD("phys_state", port_info, "port_physical_state"),
	MAYBE("lmc", NUMBER),
	MAYBE("sm_sl", NUMBER),
	MAYBE("link_layer", TEXT),
	MAYBE("umad", TEXT),
	MAYBE("node_guid", GUID),
	MAYBE("system_image_guid", GUID),
	MAYBE("firmware", TEXT),
	MAYBE("board", TEXT),
	MAYBE_WORDS("role", "compute|storage|management|uncabled"),
	MAYBE("role_reason", TEXT),
	MAYBE("note", TEXT),
};
/* clang-format on */

static const struct columns columns_devices = COLUMN_TABLE("devices",
							   devices_list);

static int cmd_devices(struct cli *cli)
{
	static const struct ports_lister lister = { machine_devices,
						    fabric_devices };
	struct view view = { .scope = NULL };
	const int status = ports_list(cli, &columns_devices, &lister, &view);

	free(view.lines);
	port_roles_free(view.roles);
	return status;
}

/* clang-format off */
const struct command command_devices = {
	.name = "devices",
	.arguments = "[DEVICE[/PORT]]",
	.help = "list the ports of this machine or of a fabric",
	.groups = GROUP_ALL,
	.columns = (const struct columns *const[]){ &columns_devices, NULL },
	.run = cmd_devices,
};
/* clang-format on */
