/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ports of the device that ibsad serves, and their device files. */
#ifndef IBSAD_PORT_H
#define IBSAD_PORT_H

#include <limits.h>

#include "device/files.h"
#include "serve/serve.h"

enum { IBSAD_PORTS = 8 }; /* the most ports of a device that are served */

/*
 * @umad:  name of the port's MAD device; "": none
 * @state: the state that was read last, at @read_ns; @read_ns 0: never
 */
struct ibsad_port {
	char umad[NAME_MAX + 1];
	struct serve_state state;
	uint64_t read_ns;
};

/* @at: the ports, by their number; entry 0 is not used. */
struct ibsad_ports {
	struct device_files *files;
	char device[REMOTE_NODE_MAX + 1];
	struct ibsad_port at[IBSAD_PORTS + 1];
};

/*
 * Find the device @name, in the files of this machine or, if @uses_environment,
 * in those that the environment variables select. Return: 0; or -errno and the
 * reason in *@error.
 */
int ibsad_ports_open(struct ibsad_ports *ports, const char *name,
		     bool uses_environment,
		     struct ibsa_error *error) IBSA_MUST_USE;
void ibsad_ports_close(struct ibsad_ports *ports);

/*
 * Find a port; @number 0: the first active port, or else the first. Return: 0;
 * -ENXIO.
 */
int ibsad_port_find(struct ibsad_ports *ports, uint32_t number,
		    uint32_t *out) IBSA_MUST_USE;

/* Read the state of a port, unless it was read less than @age_ns ago. */
void ibsad_port_read(struct ibsad_ports *ports, uint32_t number,
		     uint64_t age_ns);

/* Read the states that have been read before. Return: whether one changed. */
bool ibsad_ports_refresh(struct ibsad_ports *ports);

/*
 * Read a device file of a client, or list a directory. Return: as struct
 * serve_ops; -EACCES the path is not about RDMA devices.
 */
int ibsad_ports_file(struct ibsad_ports *ports, const char *path, char *out,
		     size_t room, size_t *used) IBSA_MUST_USE;
int ibsad_ports_folder(struct ibsad_ports *ports, const char *path, char *out,
		       size_t room, size_t *used) IBSA_MUST_USE;

#endif
