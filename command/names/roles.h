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
 * struct machine_port - a port of a host, and its role
 * @opened_as: device or node that ibsa_open() takes
 * @name:      name of the device; on an embedded fabric, description of the
 *             node
 * @device:    name of the device; on an embedded fabric, the part of the node's
 *             description after the host, or else the description
 * @number:    port number
 * @err:       negative errno of reading the port; the members below are then
 *             not valid
 * @state:     its state
 * @rate:      as the kernel writes it; "" or NULL if unknown
 * @board:     board ID of the device, or NULL
 * @pkeys:     P_Key table; empty entries are 0
 * @role:      role among all ports of the host
 * @role_reason: the role and what shows it, such as "its role is storage: ...";
 *              NULL for an unknown role
 * @is_role_given: the file of roles has the role
 * @was_up:    it is down, and its LID or counters tell that it was up
 */
struct machine_port {
	const char *opened_as;
	const char *name;
	const char *device;
	unsigned int number;
	int err;
	struct ibsa_port_state state;
	const char *rate;
	const char *board;
	const uint16_t *pkeys;
	size_t pkey_count;
	enum port_role role;
	const char *role_reason;
	bool is_role_given;
	bool was_up;
};

/*
 * Find the roles of all ports of one host. The file of roles may contain the
 * role of a device; the other roles follow from the link layers, rates and
 * subnets of the ports, from the PCI devices, and from the counters. The file
 * is that of IBSA_ROLES, or else /etc/ibsa/roles.conf. @is_local: the ports are
 * those of this machine. Return: the exit status; a failure is printed.
 */
int roles_find(struct machine_port *ports, size_t count, bool is_local);

/* The role of a port that is down, but the hosts like this one have its rail. */
void role_set_by_peers(struct machine_port *port);

/* The role of a port whose leaf switch has ports of storage servers. */
void role_set_by_leaf(struct machine_port *port);

/* "compute", ...; NULL for an unknown role. */
const char *role_name(enum port_role role);

#endif
