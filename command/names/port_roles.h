/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The roles of all ports of this machine, or of a fabric. */
#ifndef COMMAND_PORT_ROLES_H
#define COMMAND_PORT_ROLES_H

#include "names/machine.h"

struct port_roles;

/*
 * Find the roles of all ports of this machine, or of the hosts of a fabric.
 * Return: the roles, which port_roles_free() frees, and which are valid as long
 * as the list or the fabric; NULL after a failure, which is printed: the roles
 * are then unknown.
 */
struct port_roles *port_roles_of_list(const struct ibsa_device_list *list,
				      bool is_local);
struct port_roles *port_roles_of_fabric(struct ibsa_fabric *fabric);
void port_roles_free(struct port_roles *roles);

/* @roles may be NULL. @name: of the device or, on a fabric, of the node. */
enum port_role port_roles_at(const struct port_roles *roles, const char *name,
			     unsigned int number);

#endif
