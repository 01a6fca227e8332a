/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the device and the port if the caller of a libibumad function names
 * neither, or only one of the two.
 *
 * Source: what libibumad of rdma-core does.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/types.h>

#include "libibumad/libibumad.h"

/* PortPhysicalState of PortInfo. */
enum { PHYS_DISABLED = 3, PHYS_LINK_UP = 5 };

/*
 * How suitable a device is, in ascending order. Of several equally suitable
 * devices, the first is chosen.
 */
enum fit { UNFIT, UP, ACTIVE };

/*
 * The device and port that are returned if no device is suitable, as libibumad
 * does. Reading this device then fails.
 */
static const struct ibsa__ca_port historic = { .ca = "mthca0", .port = 1 };

static bool is_infiniband(const umad_port_t *port)
{
	return !strcmp(port->link_layer, "InfiniBand") ||
	       !strcmp(port->link_layer, "IB");
}

static bool is_active(const umad_port_t *port)
{
	return port->state == IBSA_PORT_ACTIVE;
}

static bool has_role(const umad_port_t *port, enum ibsa__ca_role role)
{
	return role == IBSA__CA_ANY || ibsa__ca_port_has_smi(port);
}

/* Return: how suitable the device is if the caller names the port @wanted. */
static enum fit wanted_fit(const struct ibsa__ca *ca, int wanted,
			   enum ibsa__ca_role role)
{
	for (size_t i = 0; i < ca->count; i++) {
		const umad_port_t *port = ca->ports[i];

		if (port->portnum != wanted)
			continue;
		if (!is_infiniband(port) || !has_role(port, role))
			return UNFIT;
		if (is_active(port))
			return ACTIVE;
		return port->phys_state == PHYS_DISABLED ? UNFIT : UP;
	}
	return UNFIT;
}

/*
 * Return: the first port that is not disabled, with any link layer. The caller
 * uses this port if no port is up.
 */
static const umad_port_t *first_enabled(const struct ibsa__ca *ca,
					enum ibsa__ca_role role)
{
	for (size_t i = 0; i < ca->count; i++) {
		const umad_port_t *port = ca->ports[i];

		if (port->phys_state != PHYS_DISABLED && has_role(port, role))
			return port;
	}
	return NULL;
}

static enum fit best_fit(const struct ibsa__ca *ca, enum ibsa__ca_role role,
			 int *out)
{
	const umad_port_t *up = NULL;

	for (size_t i = 0; i < ca->count; i++) {
		const umad_port_t *port = ca->ports[i];

		if (!is_infiniband(port) || !has_role(port, role))
			continue;
		if (is_active(port)) {
			*out = port->portnum;
			return ACTIVE;
		}
		if (!up && port->phys_state == PHYS_LINK_UP)
			up = port;
	}
	if (!up)
		up = first_enabled(ca, role);
	if (!up)
		return UNFIT;
	*out = up->portnum;
	return UP;
}

/*
 * Read a device and set *@out to how suitable it is. *@port: the wanted port
 * number, or 0; on success, the port found. Return: 0 or an error from reading
 * the device.
 */
static int fit_read(struct device_files *files, const char *name,
		    enum ibsa__ca_role role, int *port, enum fit *out)
{
	struct ibsa__ca ca;
	int err = ibsa__ca_read(files, name, &ca);

	if (err)
		return err;
	if (ca.head.node_type == IBSA_NODE_SWITCH) {
		*port = 0;
		*out = ACTIVE;
	} else if (*port > 0) {
		*out = wanted_fit(&ca, *port, role);
	} else {
		*out = best_fit(&ca, role, port);
	}
	ibsa__ca_free(&ca);
	return 0;
}

static void found_set(struct ibsa__ca_port *out, const char *name, int port)
{
	snprintf(out->ca, sizeof(out->ca), "%s", name);
	out->port = port;
}

/* Find the most suitable device. A device that cannot be read is skipped. */
static int best_find(struct device_files *files,
		     const struct ibsa__names *names, int wanted,
		     enum ibsa__ca_role role, struct ibsa__ca_port *out)
{
	enum fit best = UNFIT;

	*out = historic;
	for (size_t i = 0; i < names->count && best < ACTIVE; i++) {
		int port = wanted;
		enum fit fit;
		int err;

		err = fit_read(files, names->at[i], role, &port, &fit);
		if (err == -ENOMEM)
			return err;
		if (err || fit <= best)
			continue;
		best = fit;
		found_set(out, names->at[i], port);
	}
	return 0;
}

static int any_find(struct device_files *files, int port,
		    enum ibsa__ca_role role, struct ibsa__ca_port *out)
{
	struct ibsa__names names;
	int err;

	err = ibsa__ca_names(files, &names);
	if (err)
		return ibsa__ca_fail(err) == -ENOMEM ? err : -ENODEV;
	err = names.count ? best_find(files, &names, port, role, out) : -ENODEV;
	ibsa__names_free(&names);
	return err;
}

/*
 * Return: how suitable a device is for QP 0. A port that the caller has named
 * is accepted in any state if it has an SMI.
 */
static enum fit smi_fit(struct device_files *files, const char *name, int port)
{
	umad_port_t state;
	enum fit fit;

	if (ibsa__ca_port_read(files, name, (unsigned int)port, &state))
		return UNFIT;
	fit = ibsa__ca_port_has_smi(&state) ? UP : UNFIT;
	umad_release_port(&state);
	return fit;
}

int ibsa__ca_port_find(struct device_files *files, const char *ca, int port,
		       enum ibsa__ca_role role, struct ibsa__ca_port *out)
{
	enum fit fit = ACTIVE;
	int err = 0;

	if (!ca)
		return any_find(files, port, role, out);
	if (strlen(ca) >= sizeof(out->ca)) {
		(void)ibsa__ca_fail(-ENOENT);
		return -ENODEV;
	}
	if (!port)
		err = fit_read(files, ca, role, &port, &fit);
	else if (role == IBSA__CA_SMI)
		fit = smi_fit(files, ca, port);
	if (err || fit == UNFIT)
		return err == -ENOMEM ? err : -ENODEV;
	found_set(out, ca, port);
	return 0;
}
