/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The devices and ports on which a command operates. */
#ifndef COMMAND_SCOPE_H
#define COMMAND_SCOPE_H

#include <ibsa/fabric.h>
#include <ibsa/text.h>

#include "output/cli.h"

struct scope {
	const char *device; /* NULL: all */
	unsigned int port;  /* 0: all of the device */
	const char
		/*
		 * The fabric to which the device belongs; NULL or "": this
		 * machine.
		 */
		*fabric;
	/* the memory of @device, if it was allocated; otherwise NULL */
	char *owned;
};

/*
 * Parse "DEVICE" or "DEVICE/PORT" into @out, which must be zero. Return: the
 * exit status.
 */
int scope_parse(const char *text, struct scope *out);

/*
 * Parse the only argument DEVICE[/PORT], or --device and --port. Return: the
 * exit status; a failure is printed. The caller frees @out in any case.
 */
int scope_find(const struct cli *cli, struct scope *out);
void scope_free(struct scope *scope);

/*
 * Write the name of the node that a topology file's commands are at, as for
 * ibsa_open(): that of IBSA_NODE, without a port; or else of the host with the
 * host name of this machine. Return: false: the file has no such host.
 */
bool scope_own_host(struct ibsa_fabric *fabric, char out[IBSA_VALUE_TEXT]);

/*
 * If @scope's device is the name of a device of scope_own_host(), replace it with
 * that node's description, which belongs to the topology file @fabric: as for
 * ibsa_open(), devices of the own host come first.
 */
void scope_at_host(struct scope *scope, struct ibsa_fabric *fabric);

/*
 * Load a topology file, and apply scope_at_host(). Return: the exit status; a
 * failure is printed.
 */
int scope_fabric_load(struct scope *scope, const char *file,
		      struct ibsa_fabric **out);

/*
 * Return: how well @name fits the node of the port: a node id best, as for
 * ibsa_open(); then as rated by ibsa__host_match(); 0 no match.
 */
int scope_node_match(const char *name, const struct ibsa_fabric_port *port);

/*
 * The device of a scope may be a list with commas, of names and patterns such
 * as mlx5_[0-7]; each may end with "/PORT". A device whose name is the whole
 * text comes first.
 *
 * scope_is_set() tells whether a text can stand for several devices.
 */
bool scope_is_set(const char *device);
bool scope_has_device(const struct scope *scope, const char *device);

/* Whether the port is in the scope of a device, which is in the scope. */
bool scope_has_device_port(const struct scope *scope, const char *device,
			   unsigned int port);
bool scope_has_node(const struct scope *scope,
		    const struct ibsa_fabric_port *port);
bool scope_has_port(const struct scope *scope, unsigned int port);

/* Set @out to the message that the device, or its port, does not exist. */
void scope_none(const struct scope *scope, bool has_device,
		struct ibsa_error *out);

#endif
