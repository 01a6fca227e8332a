/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists the ports of this machine, or of a host of an embedded fabric. */
#ifndef COMMAND_MACHINE_H
#define COMMAND_MACHINE_H

#include <ibsa/device.h>
#include <ibsa/text.h>

#include "names/roles.h"
#include "output/cli.h"

/**
 * struct machine_port - one port
 * @opened_as: device or node that ibsa_open() takes
 * @device:    name of the device; on an embedded fabric, the part of the node's
 *             description after the host, or else the description
 * @number:    port number
 * @err:       negative errno of reading the port; the members below are then
 *             not valid
 * @state:     its state
 * @rate:      as the kernel writes it; "" if unknown
 * @board:     of the device, or NULL
 * @pkeys:     P_Key table; empty entries are 0
 * @role:      role among the ports that were read
 * @is_role_given: the file of roles has the role
 * @was_up:    it is down, and its LID or counters tell that it was up
 */
struct machine_port {
	const char *opened_as;
	const char *device;
	unsigned int number;
	int err;
	struct ibsa_port_state state;
	const char *rate;
	const char *board;
	const uint16_t *pkeys;
	size_t pkey_count;
	enum port_role role;
	bool is_role_given;
	bool was_up;
};

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
 * in @error, which is not printed. The caller frees @out in any case.
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
