/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Types and functions that the files of libibumad share: devices and ports
 * in the structs of libibumad.
 *
 * libibumad's structs limit names to 19 characters and devices to ten ports.
 * The functions here have no such limits, so the limits apply only where a
 * function fills a program's struct.
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
 * List the names of channel adapters, switches and routers, in the order of the
 * directory; the first suitable one is the default device. The caller frees
 * *@out with ibsa__names_free(). Return: 0; -ENOMEM; or the error from reading
 * the directory.
 */
int ibsa__ca_names(struct device_files *files,
		   struct ibsa__names *out) IBSA_MUST_USE;

/*
 * Do what ibsa__ca_names() does, but sort the names by their bytes: mlx5_10 is
 * before mlx5_9.
 */
int ibsa__ca_names_sorted(struct device_files *files,
			  struct ibsa__names *out) IBSA_MUST_USE;

/*
 * Set errno for the negative errno @err. libibumad's manual pages do not
 * promise this, but programs print errno. Return: @err.
 */
int ibsa__ca_fail(int err);

/*
 * Read the device @name into @out; the caller frees it with ibsa__ca_free().
 * Return: 0; -ENOMEM; -EIO a port cannot be read; -EINVAL a file of the device
 * has invalid content; or the error from reading a file.
 */
int ibsa__ca_read(struct device_files *files, const char *name,
		  struct ibsa__ca *out) IBSA_MUST_USE;
void ibsa__ca_free(struct ibsa__ca *ca);

/* Return: the highest port number of the device; 0 if it has no ports. */
int ibsa__ca_last_port(const struct ibsa__ca *ca);

/*
 * Read the port @port of the device @ca. Return: 0; -ENOMEM; -EIO any other
 * error.
 */
int ibsa__ca_port_read(struct device_files *files, const char *ca,
		       unsigned int port, umad_port_t *out) IBSA_MUST_USE;

/*
 * Copy the first line of @text to @to, at most @room bytes including the NUL.
 */
void ibsa__ca_text(char *to, size_t room, const char *text);

/*
 * Which ports a search accepts: any port, or only a port with QP 0. Some ports
 * of planarized adapters have no QP 0.
 */
enum ibsa__ca_role { IBSA__CA_ANY, IBSA__CA_SMI };

/* Whether a port has a subnet management interface (QP 0). */
bool ibsa__ca_port_has_smi(const umad_port_t *port);

/*
 * Choose a device and a port. @ca NULL: any device; @port 0: any port. If the
 * caller names both and @role is IBSA__CA_ANY, they are returned without a
 * check. Return: 0; -ENOMEM; -ENODEV there is no device, or @ca cannot be read
 * or has no suitable port.
 */
int ibsa__ca_port_find(struct device_files *files, const char *ca, int port,
		       enum ibsa__ca_role role,
		       struct ibsa__ca_port *out) IBSA_MUST_USE;

#endif
