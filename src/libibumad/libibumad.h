/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libibumad's names for devices and ports: what its files share.
 *
 * Its structs hold names of 19 characters and ten ports. Nothing here does,
 * so that such a limit holds only where a caller's struct sets it.
 */
#ifndef LIBIBUMAD_LIBIBUMAD_H
#define LIBIBUMAD_LIBIBUMAD_H

#include <limits.h>

#include <infiniband/umad.h>

#include <ibsa/types.h>

#include "client/files.h"

/* A device with all its ports. */
struct ibsa__ca {
	umad_ca_t head;	     /* all but the ports */
	umad_port_t **ports; /* in ascending order of their number */
	size_t count;
};

/* The device and port that a call is about. */
struct ibsa__ca_port {
	char ca[NAME_MAX + 1];
	int port;
};

/*
 * The names of channel adapters, switches and routers, in the folder's own
 * order, which decides what the default device is. 0; -ENOMEM or the error of
 * reading the folder; free with ibsa__names_free().
 */
int ibsa__ca_names(struct device_files *files,
		   struct ibsa__names *out) IBSA_MUST_USE;

/* The same in byte order: mlx5_10 before mlx5_9. */
int ibsa__ca_names_sorted(struct device_files *files,
			  struct ibsa__names *out) IBSA_MUST_USE;

/* Copies it; not if it would be cut, and so be that of no device, or another. */
bool ibsa__ca_name_fits(const char *name, char out[UMAD_CA_NAME_LEN]);

/*
 * Set errno to what the negative @err says: libibumad's callers show it,
 * though its pages promise nothing of it. Return: @err.
 */
int ibsa__ca_fail(int err);

/*
 * Free with ibsa__ca_free(). 0; -ENOMEM; -EIO a port's files cannot be read;
 * -EINVAL the device's hold nonsense; or the error of reading them.
 */
int ibsa__ca_read(struct device_files *files, const char *name,
		  struct ibsa__ca *out) IBSA_MUST_USE;
void ibsa__ca_free(struct ibsa__ca *ca);

/* The highest port number; 0 without ports. */
int ibsa__ca_last_port(const struct ibsa__ca *ca);

/* 0; -ENOMEM; -EIO any other failure of reading its files. */
int ibsa__ca_port_read(struct device_files *files, const char *ca,
		       unsigned int port, umad_port_t *out) IBSA_MUST_USE;

/* The first line of @text, cut where @room ends. */
void ibsa__ca_text(char *to, size_t room, const char *text);

/* Which ports will do: on planarized adapters some have no QP 0. */
enum ibsa__ca_role { IBSA__CA_ANY, IBSA__CA_SMI };

/* Whether a port has the subnet management interface, QP 0. */
bool ibsa__ca_port_has_smi(const umad_port_t *port);

/*
 * Which device and port the caller means: @ca NULL for any, @port not above 0
 * for any. What names both is taken as it is, if @side is any. 0; -ENOMEM;
 * -ENODEV there is no device, or the one of that name cannot be read or has
 * no port to use.
 */
int ibsa__ca_port_find(struct device_files *files, const char *ca, int port,
		       enum ibsa__ca_role role,
		       struct ibsa__ca_port *out) IBSA_MUST_USE;

#endif
