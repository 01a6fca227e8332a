/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the network interface of a GID table entry in the caller's network
 * namespace. sysfs has only the name that the interface has in its own
 * namespace, which may differ from the caller's.
 */
#ifndef DEVICE_INTERFACE_H
#define DEVICE_INTERFACE_H

#include <ibsa/types.h>

struct ifaddrs;

/*
 * All addresses of network interfaces, read at the first lookup. The owner
 * initialises it with zeros.
 */
struct ibsa__interfaces {
	/* The addresses; NULL also if reading them has failed. */
	struct ifaddrs *all;
	bool is_read;
};

/*
 * Return: the index of interface @name if @gid belongs to it; otherwise 0. If
 * the interface has a hardware address, but @gid contains neither this nor
 * another address of it, then the GID belongs to an interface with this name in
 * another namespace. If the interface has no hardware address, @gid is assumed
 * to belong to it.
 */
uint32_t ibsa__interface_find(struct ibsa__interfaces *interfaces,
			      const char *name, const struct ibsa_gid *gid);

void ibsa__interfaces_done(struct ibsa__interfaces *interfaces);

#endif
