/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Roles of a host's ports: for applications, for storage, or not used. */
#ifndef COMMAND_ROLES_H
#define COMMAND_ROLES_H

#include <ibsa/transport.h>

#include "output/cli.h"

enum port_role {
	ROLE_UNKNOWN, /* no port is up */
	ROLE_COMPUTE,
	ROLE_STORAGE,
	ROLE_MANAGEMENT, /* of the switches of a GPU baseboard, not a network */
	ROLE_UNCABLED,
};

/**
 * struct role_port - a port of a host, and its role
 * @device:   name of the device
 * @number:   of the port
 * @has_state: @state is valid
 * @rate:     as the kernel writes it, or NULL
 * @board:    of the device, or NULL
 * @role:     result
 * @is_given: the file of roles has the role
 * @was_up:   the LID or the counters of a port that is down tell that it was
 *            up before
 */
struct role_port {
	const char *device;
	unsigned int number;
	bool has_state;
	struct ibsa_port_state state;
	const char *rate;
	const char *board;
	enum port_role role;
	bool is_given;
	bool was_up;
};

/*
 * Find the roles of all ports of one host: those that the file of roles has for
 * their devices; otherwise from their link layers, rates and subnets, from the
 * PCI devices, and from the counters. The file is that of IBSA_ROLES, or else
 * /etc/ibsa/roles.conf. @is_local: the ports are those of this machine. Return:
 * the exit status; a failure is printed.
 */
int roles_find(struct role_port *ports, size_t count, bool is_local);

/* "compute", ...; NULL for an unknown role. */
const char *role_name(enum port_role role);

#endif
