/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the roles of all ports of this machine, or of a fabric. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "names/port_roles.h"

/* The ports; @opened_as is the name in their lines. */
struct port_roles {
	struct machine_port *all;
	size_t count;
};

static int by_name(const void *a, const void *b)
{
	const struct machine_port *x = a;
	const struct machine_port *y = b;
	const int order = strcmp(x->opened_as, y->opened_as);

	return order ? order
		     : (x->number > y->number) - (x->number < y->number);
}

static bool is_same_host(const struct machine_port *a,
			 const struct machine_port *b)
{
	const size_t len = strcspn(a->opened_as, " ");

	return len == strcspn(b->opened_as, " ") &&
	       memcmp(a->opened_as, b->opened_as, len) == 0;
}

/*
 * Find the roles, after @status of adding the ports. @is_one: all ports are of
 * one host. Return: as port_roles_of_list().
 */
static struct port_roles *roles_finish(struct port_roles *roles, int status,
				       bool is_one, bool is_local)
{
	struct machine_port *all = roles->all;

	if (status == CLI_DONE && roles->count)
		qsort(all, roles->count, sizeof(*all), by_name);
	for (size_t i = 0; i < roles->count && status == CLI_DONE;) {
		size_t count = 1;

		while (i + count < roles->count &&
		       (is_one || is_same_host(&all[i], &all[i + count])))
			count++;
		status = roles_find(&all[i], count, is_local);
		i += count;
	}
	if (status == CLI_DONE)
		return roles;
	port_roles_free(roles);
	return NULL;
}

static struct port_roles *roles_new(void)
{
	struct port_roles *roles = calloc(1, sizeof(*roles));

	if (!roles)
		no_memory();
	return roles;
}

static int port_add(struct port_roles *roles, const struct machine_port *port)
{
	return list_put(&roles->all, &roles->count, port, sizeof(*port));
}

struct port_roles *port_roles_of_list(const struct ibsa_device_list *list,
				      bool is_local)
{
	struct port_roles *roles = roles_new();
	int status = CLI_DONE;

	for (size_t i = 0; roles && i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		if (device->node_type != IBSA_NODE_CA)
			continue;
		for (size_t k = 0; k < device->port_count && !status; k++) {
			const struct machine_port port = machine_port_of_device(
				device, ibsa_device_port_at(device, k));

			status = port_add(roles, &port);
		}
	}
	return roles ? roles_finish(roles, status, true, is_local) : NULL;
}

struct port_roles *port_roles_of_fabric(struct ibsa_fabric *fabric)
{
	struct port_roles *roles = roles_new();
	struct ibsa_fabric_port at;
	int status = CLI_DONE;

	for (size_t i = 0;
	     roles && !status && !ibsa_fabric_port_at(fabric, i, &at); i++) {
		struct machine_port port = machine_port_of_fabric(&at);

		port.opened_as = at.node;
		status = port_add(roles, &port);
	}
	return roles ? roles_finish(roles, status, false, false) : NULL;
}

void port_roles_free(struct port_roles *roles)
{
	if (roles)
		free(roles->all);
	free(roles);
}

enum port_role port_roles_at(const struct port_roles *roles, const char *name,
			     unsigned int number)
{
	const struct machine_port key = { .opened_as = name, .number = number };
	const struct machine_port *found = NULL;

	if (roles && roles->count)
		found = bsearch(&key, roles->all, roles->count,
				sizeof(*roles->all), by_name);
	return found ? found->role : ROLE_UNKNOWN;
}
