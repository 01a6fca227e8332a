/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the roles of all ports of this machine, or of a fabric. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "names/port_roles.h"

static int by_name(const void *a, const void *b)
{
	const struct machine_port *x = a;
	const struct machine_port *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order
		     : (x->number > y->number) - (x->number < y->number);
}

/* Whether the first words of two descriptions are the same. */
static bool is_same_host(const char *a, const char *b)
{
	const size_t len = strcspn(a, " ");

	return len == strcspn(b, " ") && memcmp(a, b, len) == 0;
}

/*
 * Find the roles of the ports of each host. @is_one: all ports belong to one
 * host; otherwise a port belongs to the host that is the first word of its
 * name.
 */
static int hosts_find(struct port_roles *roles, bool is_one, bool is_local)
{
	struct machine_port *all = roles->all;
	int status = CLI_DONE;

	if (roles->count)
		qsort(all, roles->count, sizeof(*all), by_name);
	for (size_t i = 0; i < roles->count && status == CLI_DONE;) {
		size_t count = 1;

		while (i + count < roles->count &&
		       (is_one ||
			is_same_host(all[i].name, all[i + count].name)))
			count++;
		status = roles_find(&all[i], count, is_local);
		i += count;
	}
	return status;
}

/*
 * Find the roles, unless @status says that adding the ports has failed. Return:
 * the exit status; after a failure, *@out is NULL.
 */
static int roles_finish(struct port_roles *roles, int status, bool is_one,
			bool is_local, struct port_roles **out)
{
	if (status == CLI_DONE)
		status = hosts_find(roles, is_one, is_local);
	if (status != CLI_DONE)
		port_roles_free(roles);
	*out = status == CLI_DONE ? roles : NULL;
	return status;
}

static int port_add(struct port_roles *roles, const struct machine_port *port)
{
	return list_put(&roles->all, &roles->count, port, sizeof(*port));
}

int port_roles_of_list(const struct ibsa_device_list *list, bool is_local,
		       struct port_roles **out)
{
	struct port_roles *roles = calloc(1, sizeof(*roles));
	int status = roles ? CLI_DONE : no_memory();

	for (size_t i = 0; !status && i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		if (device->node_type != IBSA_NODE_CA)
			continue;
		for (size_t k = 0; k < device->port_count && !status; k++) {
			const struct ibsa_port *at = ibsa_device_port_at(device,
									 k);
			const struct machine_port port =
				machine_port_of_device(device, at);

			/* The SMI of a plane is not a port for programs. */
			if (!ibsa_port_gsi(list, at, NULL))
				status = port_add(roles, &port);
		}
	}
	return roles_finish(roles, status, true, is_local, out);
}

int port_roles_of_fabric(struct ibsa_fabric *fabric, const char *host,
			 struct port_roles **out)
{
	struct port_roles *roles = calloc(1, sizeof(*roles));
	int status = roles ? CLI_DONE : no_memory();
	struct ibsa_fabric_port at;

	for (size_t i = 0; !status && !ibsa_fabric_port_at(fabric, i, &at);
	     i++) {
		const struct machine_port port = machine_port_of_fabric(&at);

		if (!host || is_same_host(port.name, host))
			status = port_add(roles, &port);
	}
	return roles_finish(roles, status, false, false, out);
}

void port_roles_free(struct port_roles *roles)
{
	if (roles)
		free(roles->all);
	free(roles);
}

const struct machine_port *port_roles_find(const struct port_roles *roles,
					   const char *name,
					   unsigned int number)
{
	const struct machine_port key = { .name = name, .number = number };

	if (!roles || !roles->count)
		return NULL;
	return bsearch(&key, roles->all, roles->count, sizeof(*roles->all),
		       by_name);
}
