/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa devices: the ports that can be used, of a machine or a fabric. */
#include <errno.h>
#include <string.h>

#include <ibsa/device.h>
#include <ibsa/sim.h>

#include "cli.h"
#include "fields.h"

/* One line: a port, or a device that has none to show. */
struct line {
	const struct ibsa_device *device; /* NULL in a fabric */
	const char *name;
	unsigned int port;
	const struct ibsa_port_state *state; /* NULL if unreadable */
	const char *rate;
	const struct ibsa_port *details; /* NULL in a fabric */
	const char *note;
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

	fields_named(out, &ibsa_port_info_record, "port_state", &info);
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
	static const char *const unread[] = { "port_state", "lid", "sm_lid",
					      NULL };
	static const char *const no_gid[] = { "guid", "gid", NULL };

	if (line->port)
		number(out, "port", line->port);
	else
		out_none(out, "port");
	if (line->state)
		state_cells(out, line->state);
	else
		no_cells(out, unread);
	text_or_none(out, "rate", line->rate);
	if (!line->state) {
		no_cells(out, no_gid);
		return;
	}
	fields_guid(out, "guid", fields_gid_guid(&line->state->gid));
	fields_gid(out, "gid", &line->state->gid);
}

static void more_cells(struct out *out, const struct line *line)
{
	const struct ibsa_device *device = line->device;
	const struct ibsa_port *port = line->details;
	struct ibsa_port_info info;

	if (line->state) {
		info.port_physical_state = line->state->phys_state;
		fields_named(out, &ibsa_port_info_record, "port_physical_state",
			     &info);
		number(out, "lmc", line->state->lmc);
		number(out, "sm_sl", line->state->sm_sl);
	}
	if (device && !device->err) {
		fields_guid(out, "node_guid", device->node_guid);
		fields_guid(out, "system_image_guid",
			    device->system_image_guid);
		text_or_none(out, "firmware", device->firmware);
		text_or_none(out, "board", device->board);
	}
	if (port && !port->err) {
		text_or_none(out, "link_layer", port->link_layer);
		text_or_none(out, "umad", port->umad);
	}
}

static void line_row(struct out *out, const struct line *line)
{
	text_or_none(out, "device", line->name);
	port_cells(out, line);
	if (out->shape != OUT_TABLE)
		more_cells(out, line);
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

static void machine_row(struct out *out, size_t index, void *arg)
{
	const struct ibsa_device_list *list = arg;
	const struct ibsa_device *device = list->devices;
	struct line line = { .rate = NULL };

	for (; index >= device_lines(device); device++)
		index -= device_lines(device);
	line.device = device;
	line.name = device->name;
	if (device->port_count > 0) {
		const struct ibsa_port *port = &device->ports[index];

		line.details = port;
		line.port = port->number;
		line.state = port->err ? NULL : &port->state;
		line.rate = port->err ? NULL : port->rate;
		line.note = port_note(port);
	} else {
		line.note = "no ports";
	}
	if (device->err)
		line.note = strerror(-device->err);
	line_row(out, &line);
}

static int no_devices(struct cli *cli, int err)
{
	out_rows(&cli->out, 0, machine_row, NULL);
	if (err == -ENOSYS)
		complain("this machine has no InfiniBand: its kernel has no "
			 "RDMA modules loaded");
	else if (err)
		complain("cannot read the devices: %s", strerror(-err));
	else
		complain("this machine has no InfiniBand device");
	suggest_fabric();
	return CLI_DEVICE;
}

static int machine_devices(struct cli *cli)
{
	struct ibsa_device_list *list;
	size_t lines = 0;
	int err = ibsa_devices_read(&list);

	if (err)
		return no_devices(cli, err);
	for (size_t i = 0; i < list->count; i++)
		lines += device_lines(&list->devices[i]);
	if (lines > 0)
		out_rows(&cli->out, lines, machine_row, list);
	ibsa_devices_free(list);
	return lines > 0 ? CLI_DONE : no_devices(cli, 0);
}

static void fabric_row(struct out *out, size_t index, void *arg)
{
	struct ibsa_fabric_port port;
	struct line line;

	if (ibsa_fabric_port_at(arg, index, &port) != 0)
		return;
	line = (struct line){
		.name = port.node,
		.port = port.number,
		.state = &port.state,
	};
	line_row(out, &line);
}

static int fabric_devices(struct cli *cli, const char *file)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_fabric_port port;
	struct ibsa_fabric *fabric;
	size_t count = 0;
	int err = ibsa_fabric_load(file, NULL, &error, &fabric);

	if (err) {
		complain("%s", error.text[0] ? error.text : strerror(-err));
		return err == -EACCES || err == -ENOMEM ? CLI_DEVICE
							: CLI_USAGE;
	}
	while (ibsa_fabric_port_at(fabric, count, &port) == 0)
		count++;
	out_rows(&cli->out, count, fabric_row, fabric);
	ibsa_fabric_put(fabric);
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
	return file ? fabric_devices(cli, file) : machine_devices(cli);
}
