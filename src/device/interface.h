/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which network interface of the caller's name space an entry of a GID table
 * belongs to. sysfs has its name, and that in whatever name space it is.
 */
#ifndef DEVICE_INTERFACE_H
#define DEVICE_INTERFACE_H

#include <ibsa/types.h>

struct ifaddrs;

/* The interfaces, asked for when the first name is looked up. Starts as 0. */
struct ibsa__interfaces {
	struct ifaddrs *all; /* NULL too if they cannot be read */
	bool is_read;
};

/*
 * The index of the interface @name that has @gid, or 0. An interface of that
 * name which has a hardware address, but neither it nor another address in
 * this GID, is another name space's namesake.
 */
uint32_t ibsa__interface_find(struct ibsa__interfaces *interfaces,
			      const char *name, const struct ibsa_gid *gid);

void ibsa__interfaces_done(struct ibsa__interfaces *interfaces);

#endif
