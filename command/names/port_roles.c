/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the roles of all ports of this machine, or of a fabric. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "common/host.h"
#include "names/port_roles.h"

/* A port: the name of its line, and what its role follows from. */
struct named_port {
	char *name;
	struct role_port port;
};

struct port_roles {
	struct named_port *all;
	size_t count;
	bool failed;
};

static void port_add(struct port_roles *roles, const char *name,
		     const struct role_port *port)
{
	struct named_port *added = list_add(&roles->all, &roles->count,
					    sizeof(*added));

	roles->failed |= !added;
	if (!added)
		return;
	*added = (struct named_port){ .name = strdup(name), .port = *port };
	roles->failed |= !added->name;
}

static int by_name(const void *a, const void *b)
{
	const struct named_port *x = a;
	const struct named_port *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order
		     : (x->port.number > y->port.number) -
			       (x->port.number < y->port.number);
}

static bool is_same_host(const struct named_port *a, const struct named_port *b)
{
	const size_t len = strcspn(a->name, " ");

	return len == strcspn(b->name, " ") &&
	       memcmp(a->name, b->name, len) == 0;
}

/* Find the roles of the ports of one host. */
static int host_find(struct named_port *all, size_t count, bool is_local)
{
	struct role_port *ports = calloc(count, sizeof(*ports));
	int status;

	if (!ports)
		return no_memory();
	for (size_t i = 0; i < count; i++)
		ports[i] = all[i].port;
	status = roles_find(ports, count, is_local);
	for (size_t i = 0; i < count; i++)
		all[i].port.role = ports[i].role;
	free(ports);
	return status;
}

/* @is_one: all ports are of one host; otherwise the names begin with it. */
static struct port_roles *roles_finish(struct port_roles *roles, bool is_one,
				       bool is_local)
{
	int status = roles->failed ? CLI_DEVICE : CLI_DONE;

	if (roles->failed)
		complain("out of memory");
	else if (roles->count)
		qsort(roles->all, roles->count, sizeof(*roles->all), by_name);
	for (size_t i = 0; i < roles->count && status == CLI_DONE;) {
		size_t count = 1;

		while (i + count < roles->count &&
		       (is_one ||
			is_same_host(&roles->all[i], &roles->all[i + count])))
			count++;
		status = host_find(&roles->all[i], count, is_local);
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
		complain("out of memory");
	return roles;
}

struct port_roles *port_roles_of_list(const struct ibsa_device_list *list,
				      bool is_local)
{
	struct port_roles *roles = roles_new();

	for (size_t i = 0; roles && i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		if (device->node_type != IBSA_NODE_CA)
			continue;
		for (size_t k = 0; k < device->port_count; k++) {
			const struct ibsa_port *port =
				ibsa_device_port_at(device, k);

			port_add(roles, device->name,
				 &(struct role_port){
					 .device = device->name,
					 .number = port->number,
					 .has_state = !port->err,
					 .state = *port->state,
					 .rate = port->rate,
					 .board = device->board,
				 });
		}
	}
	return roles ? roles_finish(roles, true, is_local) : NULL;
}

struct port_roles *port_roles_of_fabric(struct ibsa_fabric *fabric)
{
	struct port_roles *roles = roles_new();
	struct ibsa_fabric_port port;

	for (size_t i = 0; roles && !ibsa_fabric_port_at(fabric, i, &port);
	     i++) {
		const char *device = ibsa__host_device(port.node);

		port_add(roles, port.node,
			 &(struct role_port){
				 .device = *device ? device : port.node,
				 .number = port.number,
				 .has_state = true,
				 .state = port.state,
				 .rate = port.rate,
			 });
	}
	return roles ? roles_finish(roles, false, false) : NULL;
}

void port_roles_free(struct port_roles *roles)
{
	for (size_t i = 0; roles && i < roles->count; i++)
		free(roles->all[i].name);
	if (roles)
		free(roles->all);
	free(roles);
}

enum port_role port_roles_at(const struct port_roles *roles, const char *name,
			     unsigned int number)
{
	const struct named_port key = {
		.name = (char *)name,
		.port = { .number = number },
	};
	const struct named_port *found = NULL;

	if (roles && roles->count)
		found = bsearch(&key, roles->all, roles->count,
				sizeof(*roles->all), by_name);
	return found ? found->port.role : ROLE_UNKNOWN;
}
