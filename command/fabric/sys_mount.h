/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The /sys of the command of ibsa fabric exec --sysfs: that of the machine, but
 * with the RDMA devices of a host of the fabric instead of those of the
 * machine.
 */
#ifndef COMMAND_FABRIC_SYS_MOUNT_H
#define COMMAND_FABRIC_SYS_MOUNT_H

#include <limits.h>
#include <stdint.h>

#include <ibsa/server.h>

#include "fabric/tree.h"

/* All members are zero if --sysfs is not given. */
struct sys_mount {
	struct tree tree;
	char path[PATH_MAX];
	int64_t due_ms; /* of the next update */
	bool is_open;
};

/*
 * Write the files of the host in IBSA_NODE to a new directory. Return: the exit
 * status; a failure is printed.
 */
int sys_mount_open(struct sys_mount *sys, struct ibsa_fabric_server *server);

/*
 * Update the files if the next update is due. Return: the time until the next
 * update in ms; -1: there are no files.
 */
int sys_mount_update(struct sys_mount *sys);

/*
 * In the child: mount the files at /sys/class and /sys/devices of a new mount
 * namespace. If that is not permitted, print a message and set SYSFS_PATH.
 */
void sys_mount_enter(const struct sys_mount *sys);

/* Remove the files. */
void sys_mount_close(struct sys_mount *sys);

#endif
