/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The network interface of an entry of a GID table, in the caller's namespace.
 * sysfs has the interface's name in the namespace where the interface is. */
#ifndef DEVICE_INTERFACE_H
#define DEVICE_INTERFACE_H

#include <ibsa/types.h>

struct ifaddrs;

/* The interfaces, read at the first lookup. Initialised with zero. */
struct ibsa__interfaces {
	struct ifaddrs *all; /* also NULL if reading them failed */
	bool is_read;
};

/*
 * Return: the index of interface @name if @gid belongs to it; else 0. If the
 * interface has a hardware address, and neither it nor another of its addresses
 * is in @gid, it is another interface with the same name as the GID's in
 * another namespace.
 */
uint32_t ibsa__interface_find(struct ibsa__interfaces *interfaces,
			      const char *name, const struct ibsa_gid *gid);

void ibsa__interfaces_done(struct ibsa__interfaces *interfaces);

#endif
