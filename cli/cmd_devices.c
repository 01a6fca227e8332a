/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa devices: the ports that can be used, of a machine or a fabric. */
#include <errno.h>
#include <string.h>

#include <ibsa/device.h>
#include <ibsa/sim.h>

#include "cli.h"
#include "fields.h"

enum { NO_PORT = -1 };

/* One line: a port, or a device that has none to show. */
struct line {
	const char *name;
	int port;			     /* or NO_PORT */
	const struct ibsa_port_state *state; /* NULL: unknown */
	const struct ibsa_device *device;    /* NULL in a fabric */
	const struct ibsa_port *details;     /* NULL: unknown */
	const char *rate;		     /* NULL: unknown */
	const char *note;
};

/* What all lines are made from; a table has notes only if some line does. */
struct view {
	const struct ibsa_device_list *list;
	struct ibsa_fabric *fabric;
	bool noted;
};

static void number(struct out *out, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	out_number(out, name, value, text);
}

static void text_or_none(struct out *out, const char *name, const char *text)
{
	char clean[IBSA_VALUE_TEXT];

	if (text && *text)
		out_text(out, name, fields_clean(text, clean));
	else
		out_none(out, name);
}

/* The name of a state is what PortInfo calls it. */
static void state_cells(struct out *out, const struct ibsa_port_state *state)
{
	struct ibsa_port_info info = { .port_state = state->port_state };

	fields_named_as(out, "state", &ibsa_port_info_record, "port_state",
			&info);
	number(out, "lid", state->lid);
	number(out, "sm_lid", state->sm_lid);
}

static void no_cells(struct out *out, const char *const *names)
{
	for (; *names; names++)
		out_none(out, *names);
}

static void port_cells(struct out *out, const struct line *line)
{
	static const char *const states[] = { "state", "lid", "sm_lid", NULL };
	static const char *const gids[] = { "guid", "gid", NULL };

	text_or_none(out, "device", line->name);
	if (line->port == NO_PORT)
		out_none(out, "port");
	else
		number(out, "port", (uint64_t)line->port);
	if (line->state)
		state_cells(out, line->state);
	else
		no_cells(out, states);
	text_or_none(out, "rate", line->rate);
	if (line->state) {
		fields_guid(out, "guid", fields_gid_guid(&line->state->gid));
		fields_gid(out, "gid", &line->state->gid);
	} else {
		no_cells(out, gids);
	}
}

static void more_port_cells(struct out *out, const struct line *line)
{
	static const char *const states[] = { "phys_state", "lmc", "sm_sl",
					      NULL };
	struct ibsa_port_info info = { .port_state = 0 };

	if (line->state) {
		info.port_physical_state = line->state->phys_state;
		fields_named_as(out, "phys_state", &ibsa_port_info_record,
				"port_physical_state", &info);
		number(out, "lmc", line->state->lmc);
		number(out, "sm_sl", line->state->sm_sl);
	} else {
		no_cells(out, states);
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

static void line_row(struct out *out, const struct view *view,
		     const struct line *line)
{
	port_cells(out, line);
	if (out->shape != OUT_TABLE) {
		more_port_cells(out, line);
		more_device_cells(out, line);
	}
	if (view->noted || out->shape != OUT_TABLE)
		text_or_none(out, "note", line->note);
}

static const char *port_note(const struct ibsa_port *port)
{
	if (port->err)
		return strerror(-port->err);
	if (!port->umad || !*port->umad)
		return "no MAD device; load ib_umad";
	return NULL;
}

/* A device is as many lines as it has ports, at least one. */
static size_t device_lines(const struct ibsa_device *device)
{
	return device->port_count > 0 ? device->port_count : 1;
}

static struct line machine_line(const struct ibsa_device *device, size_t index)
{
	struct line line = {
		.name = device->name,
		.port = NO_PORT,
		.device = device,
		.note = "no ports",
	};

	if (device->port_count > 0) {
		const struct ibsa_port *port = &device->ports[index];

		line.port = (int)port->number;
		line.note = port_note(port);
		line.state = port->err ? NULL : &port->state;
		line.details = port->err ? NULL : port;
		line.rate = port->err ? NULL : port->rate;
	}
	if (device->err)
		line.note = strerror(-device->err);
	return line;
}

static void machine_row(struct out *out, size_t index, void *arg)
{
	const struct view *view = arg;
	const struct ibsa_device *device = view->list->devices;
	struct line line;

	for (; index >= device_lines(device); device++)
		index -= device_lines(device);
	line = machine_line(device, index);
	line_row(out, view, &line);
}

/* How many lines there are, and whether one has a note. */
static size_t count_lines(struct view *view)
{
	const struct ibsa_device *device = view->list->devices;
	size_t lines = 0;

	for (size_t i = 0; i < view->list->count; i++, device++) {
		for (size_t j = 0; j < device_lines(device); j++)
			view->noted |= machine_line(device, j).note != NULL;
		lines += device_lines(device);
	}
	return lines;
}

static int no_devices(struct cli *cli, int err)
{
	out_rows(&cli->out, 0, machine_row, NULL);
	return say_no_device(err);
}

static int machine_devices(struct cli *cli)
{
	struct ibsa_device_list *list;
	struct view view = { .noted = false };
	size_t lines;
	int err = ibsa_devices_read(&list);

	if (err)
		return no_devices(cli, err);
	view.list = list;
	lines = count_lines(&view);
	if (lines > 0)
		out_rows(&cli->out, lines, machine_row, &view);
	ibsa_devices_free(list);
	return lines > 0 ? CLI_DONE : no_devices(cli, 0);
}

static void fabric_row(struct out *out, size_t index, void *arg)
{
	const struct view *view = arg;
	struct ibsa_fabric_port port;
	struct line line = { .name = NULL };

	if (ibsa_fabric_port_at(view->fabric, index, &port) != 0)
		return;
	line.name = port.node;
	line.port = (int)port.number;
	line.state = &port.state;
	line.rate = port.rate;
	line_row(out, view, &line);
}

static int fabric_devices(struct cli *cli, const char *file)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_fabric_port port;
	struct view view = { .noted = false };
	size_t count = 0;
	int err = ibsa_fabric_load(file, NULL, &error, &view.fabric);

	if (err) {
		complain("%s", error.text[0] ? error.text : strerror(-err));
		return err == -EINVAL ? CLI_USAGE : CLI_DEVICE;
	}
	while (ibsa_fabric_port_at(view.fabric, count, &port) == 0)
		count++;
	out_rows(&cli->out, count, fabric_row, &view);
	ibsa_fabric_put(view.fabric);
	if (count == 0)
		complain("%s has no channel adapter", file);
	return count > 0 ? CLI_DONE : CLI_DEVICE;
}

int cmd_devices(struct cli *cli)
{
	const char *file = fabric_file(cli);

	if (cli->arg_count > 1) {
		complain("devices takes no argument '%s'; see ibsa devices "
			 "--help",
			 cli->args[1]);
		return CLI_USAGE;
	}
	if (cli->open.device || cli->open.port) {
		complain("devices lists all ports; leave out --device and "
			 "--port");
		return CLI_USAGE;
	}
	return file ? fabric_devices(cli, file) : machine_devices(cli);
}
