/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The roles of all ports of this machine, or of a fabric. */
#ifndef COMMAND_PORT_ROLES_H
#define COMMAND_PORT_ROLES_H

#include "names/machine.h"

struct port_roles;

/*
 * Find the roles of all ports of this machine; or of the host whose name
 * @host begins with, or of all hosts of a fabric if @host is NULL. Return: the
 * exit status; after a failure, which is printed, *@out is NULL, and the roles
 * are unknown. port_roles_free() frees *@out, which is valid as long as the list
 * or the fabric.
 */
int port_roles_of_list(const struct ibsa_device_list *list, bool is_local,
		       struct port_roles **out);
int port_roles_of_fabric(struct ibsa_fabric *fabric, const char *host,
			 struct port_roles **out);
void port_roles_free(struct port_roles *roles);

/*
 * Return: a port; NULL: not found. @roles may be NULL. @name: of the device or,
 * on a fabric, of the node.
 */
const struct machine_port *port_roles_find(const struct port_roles *roles,
					   const char *name,
					   unsigned int number);

#endif
