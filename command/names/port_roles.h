/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The roles of all ports of this machine, or of a fabric. */
#ifndef COMMAND_PORT_ROLES_H
#define COMMAND_PORT_ROLES_H

#include "names/machine.h"

/* The ports, sorted by name and number. */
struct port_roles {
	struct machine_port *all;
	size_t count;
};

/*
 * Find the roles of all ports in a list of devices, or of ports of a fabric:
 * those of the host that is the first word of @host, or those of all hosts if
 * @host is NULL. Return: the exit status; after a failure, which is printed,
 * *@out is NULL. *@out must not be used after the list or the fabric has been
 * freed.
 */
int port_roles_of_list(const struct ibsa_device_list *list, bool is_local,
		       struct port_roles **out);
int port_roles_of_fabric(struct ibsa_fabric *fabric, const char *host,
			 struct port_roles **out);
void port_roles_free(struct port_roles *roles);

/*
 * Return: the port with this name and number; NULL: there is none, or @roles is
 * NULL. @name: name of the device or, on a fabric, description of the node.
 */
const struct machine_port *port_roles_find(const struct port_roles *roles,
					   const char *name,
					   unsigned int number);

#endif
