/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists the ports of this machine, or of a host of an embedded fabric. */
#ifndef COMMAND_MACHINE_H
#define COMMAND_MACHINE_H

#include <ibsa/device.h>
#include <ibsa/text.h>

#include "names/roles.h"
#include "output/cli.h"

struct machine_port machine_port_of_device(const struct ibsa_device *device,
					   const struct ibsa_port *port);
struct machine_port machine_port_of_fabric(const struct ibsa_fabric_port *port);

struct machine {
	struct machine_port *ports;
	size_t count;
	struct ibsa_device_list *list; /* of this machine, or NULL */
	struct ibsa_fabric *fabric;    /* embedded, or NULL */
	/*
	 * The ports could be read, but this machine has none, or does not have
	 * the port that the user names.
	 */
	bool is_missing;
};

/*
 * Read the ports: those of --device and --port, or else all ports of InfiniBand
 * and Omni-Path, or else all RoCE ports. On an embedded fabric, the ports of
 * the node that --device or IBSA_NODE names, or of the first adapter, and of
 * the other adapters of that host if no adapter is named.
 *
 * Return: the exit status; CLI_DEVICE if there is no such port, with the reason
 * in @error, which is not printed; "": a failure was printed. The caller frees
 * @out in any case.
 */
int machine_read(struct cli *cli, struct ibsa_error *error,
		 struct machine *out);
void machine_free(struct machine *machine);

/*
 * Open a client at a port, with the options of the command line. Return: the
 * exit status.
 */
int machine_open(const struct cli *cli, const struct machine *machine,
		 const struct machine_port *port, struct ibsa_error *error,
		 struct ibsa_client **out);

bool machine_port_is_active(const struct machine_port *port);

/*
 * Whether the user expects the port to be in use: --port or --device selects
 * it, or the file of roles gives it a role.
 */
bool machine_port_is_expected(const struct cli *cli,
			      const struct machine_port *port);

/* Whether the ports are those of this machine, not of a fabric. */
bool machine_is_local(const struct cli *cli);

/* "DEVICE/PORT", safe to print. */
enum { MACHINE_PORT_TEXT = IBSA_VALUE_TEXT + 16 };
const char *machine_port_text(const struct machine_port *port,
			      char out[MACHINE_PORT_TEXT]);

#endif
