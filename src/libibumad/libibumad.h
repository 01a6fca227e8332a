/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices and ports by the names that libibumad uses for them: what its files
 * share.
 *
 * libibumad's structs limit names to 19 characters and devices to ten ports.
 * The functions here have no such limits, so that these apply only where a
 * caller's struct does.
 */
#ifndef LIBIBUMAD_LIBIBUMAD_H
#define LIBIBUMAD_LIBIBUMAD_H

#include <limits.h>

#include <infiniband/umad.h>

#include <ibsa/types.h>

#include "client/files.h"

struct ibsa__ca {
	umad_ca_t head;	     /* without the ports */
	umad_port_t **ports; /* in ascending order of number */
	size_t count;
};

/* A device and one of its ports. */
struct ibsa__ca_port {
	char ca[NAME_MAX + 1];
	int port;
};

/*
 * Get the names of channel adapters, switches and routers, in the order of the
 * directory, which determines the default device. The caller frees *@out with
 * ibsa__names_free(). Return: 0; -ENOMEM; or the error of reading the
 * directory.
 */
int ibsa__ca_names(struct device_files *files,
		   struct ibsa__names *out) IBSA_MUST_USE;

/* Like ibsa__ca_names(), in byte order: mlx5_10 before mlx5_9. */
int ibsa__ca_names_sorted(struct device_files *files,
			  struct ibsa__names *out) IBSA_MUST_USE;

/* Copy a name if it fits. If cut, it could be the name of another device. */
bool ibsa__ca_name_fits(const char *name, char out[UMAD_CA_NAME_LEN]);

/*
 * Set errno for the negative @err. libibumad's pages do not promise that, but
 * its callers print errno. Return: @err.
 */
int ibsa__ca_fail(int err);

/*
 * Read a device; the caller frees it with ibsa__ca_free(). Return: 0; -ENOMEM;
 * -EIO a port cannot be read; -EINVAL a file of the device is invalid; or the
 * error of reading one.
 */
int ibsa__ca_read(struct device_files *files, const char *name,
		  struct ibsa__ca *out) IBSA_MUST_USE;
void ibsa__ca_free(struct ibsa__ca *ca);

/* The highest port number; 0 if there are no ports. */
int ibsa__ca_last_port(const struct ibsa__ca *ca);

/* Read a port. Return: 0; -ENOMEM; -EIO any other error. */
int ibsa__ca_port_read(struct device_files *files, const char *ca,
		       unsigned int port, umad_port_t *out) IBSA_MUST_USE;

/* Copy the first line of @text, cut to @room. */
void ibsa__ca_text(char *to, size_t room, const char *text);

/* Which ports are accepted: on planarized adapters, some have no QP 0. */
enum ibsa__ca_role { IBSA__CA_ANY, IBSA__CA_SMI };

/* Whether a port has a subnet management interface (QP 0). */
bool ibsa__ca_port_has_smi(const umad_port_t *port);

/*
 * Choose a device and port. @ca NULL: any; @port not above 0: any. If both are
 * given and @role is IBSA__CA_ANY, they are returned unchecked. Return: 0;
 * -ENOMEM; -ENODEV there is no device, or @ca cannot be read or has no suitable
 * port.
 */
int ibsa__ca_port_find(struct device_files *files, const char *ca, int port,
		       enum ibsa__ca_role role,
		       struct ibsa__ca_port *out) IBSA_MUST_USE;

#endif
