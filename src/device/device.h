/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the layers above need to know of devices beyond ibsa/device.h. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <limits.h>

#include <ibsa/device.h>

#include "device/files.h"

/* The lists of <ibsa/device.h>, of the devices that @files show. */
int ibsa__devices_read(struct device_files *files,
		       struct ibsa_device_list **out) IBSA_MUST_USE;
int ibsa__gids_read(struct device_files *files, const char *device,
		    unsigned int port,
		    struct ibsa_gid_list **out) IBSA_MUST_USE;

/* A port that MADs can be sent from. Names in sysfs are at most NAME_MAX. */
struct ibsa__port_selection {
	char device[NAME_MAX + 1];
	char umad[NAME_MAX + 1];
	unsigned int port;
	struct ibsa_port_state state;
};

/*
 * Read the state of one port afresh: a dozen small files. 0; -ENOENT or the
 * error of reading them; -EPROTO or -ERANGE they hold nonsense.
 */
int ibsa__port_read(struct device_files *files, const char *device,
		    unsigned int port,
		    struct ibsa_port_state *out) IBSA_MUST_USE;

/*
 * The number that one of a port's files starts with, as it stands there: 0;
 * the error of reading it; -EPROTO there is none; -ERANGE it is above @max.
 */
int ibsa__port_number_read(struct device_files *files, const char *device,
			   unsigned int port, const char *file, uint64_t max,
			   uint64_t *out) IBSA_MUST_USE;

/* GID 0. 0, -EPROTO or the error of reading it. */
int ibsa__port_gid_read(struct device_files *files, const char *device,
			unsigned int port, struct ibsa_gid *out) IBSA_MUST_USE;

/* enum ibsa_node_type. 0; -EPROTO, -ERANGE or the error of reading it. */
int ibsa__node_type_read(struct device_files *files, const char *device,
			 unsigned int *out) IBSA_MUST_USE;

/* "node_guid" or "sys_image_guid". 0, -EPROTO or the error of reading it. */
int ibsa__guid_read(struct device_files *files, const char *device,
		    const char *file, uint64_t *out) IBSA_MUST_USE;

/*
 * The name of a port's MAD device, "umad0". 0; -ENOMEM; -ENOENT it has none.
 */
int ibsa__mad_device_find(struct device_files *files, const char *device,
			  unsigned int port,
			  char out[NAME_MAX + 1]) IBSA_MUST_USE;

/*
 * The name that a device has now which was @device: the one with its node
 * GUID, for a device may be renamed, or come back under another name; else,
 * or with a GUID of 0, which none has, the one that has its name. 0; -ENODEV
 * neither is there; or the error of reading the list.
 */
int ibsa__device_find_again(struct device_files *files, const char *device,
			    uint64_t node_guid,
			    char out[NAME_MAX + 1]) IBSA_MUST_USE;

/* One P_Key, 0 if the entry is empty. -ENOENT after the last entry. */
int ibsa__pkey_read(struct device_files *files, const char *device,
		    unsigned int port, size_t index,
		    uint16_t *out) IBSA_MUST_USE;

/* The port's link layer, enum ibsa_link_layer. 0 or the error of reading. */
int ibsa__link_read(struct device_files *files, const char *device,
		    unsigned int port, uint8_t *out) IBSA_MUST_USE;

/*
 * One entry of the GID table, with its interface in the caller's network name
 * space, or 0. 0; -ENODATA it is empty; -ENOENT no such entry, port or
 * device; -EPROTO its GID or type is nonsense, or its type is missing where
 * the others have one; or the error of reading it.
 */
int ibsa__gid_read(struct device_files *files, const char *device,
		   unsigned int port, uint32_t index,
		   struct ibsa_gid_entry *out) IBSA_MUST_USE;

/*
 * Told an entry, or why it cannot be read, with only its index. What is not 0
 * ends the walk.
 */
typedef int (*ibsa__gid_fn)(unsigned int port, int err,
			    const struct ibsa_gid_entry *entry, void *arg);

/*
 * All entries of a device that are not empty, by port, then index, in one
 * pass. 0; -ENODEV no such device; -ENOMEM; the error of reading a folder; or
 * what @each returned.
 */
int ibsa__gids_walk(struct device_files *files, const char *device,
		    ibsa__gid_fn each, void *arg) IBSA_MUST_USE;

/*
 * The first entry with this GID, type and interface; interface 0: any. 0;
 * -ENOENT there is none, or no such port or device; -ENOMEM; or the error of
 * reading the table's folder.
 */
int ibsa__gid_find(struct device_files *files, const char *device,
		   unsigned int port, const struct ibsa_gid *gid,
		   enum ibsa_gid_type type, uint32_t ifindex,
		   struct ibsa_gid_entry *out) IBSA_MUST_USE;

/*
 * The P_Key table from entry 0 on; *@out is freed with ibsa__free(). A
 * device without P_Keys (iWARP) has an empty one.
 */
int ibsa__pkeys_read(struct device_files *files, const char *device,
		     unsigned int port, uint16_t **out,
		     size_t *out_count) IBSA_MUST_USE;

/*
 * The port to use: @device NULL for any, @port 0 for any. Without a device,
 * only InfiniBand ports count; with one, an active Ethernet port (RoCE) is
 * taken if the device has no active InfiniBand port. 0; -ENOSYS modules not
 * loaded; -ENODEV no such device; -ENXIO it has no such port, or without a
 * name none has; -ENETDOWN not active; or the error of reading it. @error says
 * which, and what to do.
 */
int ibsa__port_select(struct device_files *files, const char *device,
		      unsigned int port, struct ibsa_error *error,
		      struct ibsa__port_selection *out) IBSA_MUST_USE;

/* The same, leaving out the first @skip ports that would do. */
int ibsa__port_select_next(struct device_files *files, const char *device,
			   unsigned int port, unsigned int skip,
			   struct ibsa_error *error,
			   struct ibsa__port_selection *out) IBSA_MUST_USE;

#endif
