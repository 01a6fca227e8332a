/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions on devices for the layers above, in addition to <ibsa/device.h>. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <limits.h>

#include <ibsa/device.h>

#include "device/files.h"

/*
 * Do what ibsa_devices_read() and ibsa_gids_read() do, for the devices in
 * @files.
 */
int ibsa__devices_read(struct device_files *files,
		       struct ibsa_device_list **out) IBSA_MUST_USE;
int ibsa__gids_read(struct device_files *files, const char *device,
		    unsigned int port,
		    struct ibsa_gid_list **out) IBSA_MUST_USE;

/*
 * The port that a port selection has found; MADs can be sent from it. A name
 * in sysfs has at most NAME_MAX bytes.
 */
struct ibsa__port_selection {
	char device[NAME_MAX + 1];
	char umad[NAME_MAX + 1];
	unsigned int port;
	struct ibsa_port_state state;
};

/*
 * Read the state of one port, about a dozen small files. Return: 0; -ENOENT no
 * such port; -EPROTO or -ERANGE a file's content is invalid; or the error from
 * reading a file.
 */
int ibsa__port_read(struct device_files *files, const char *device,
		    unsigned int port,
		    struct ibsa_port_state *out) IBSA_MUST_USE;

/*
 * Read one GID of a port; it may be zero. Return: 0; -EPROTO the file's content
 * is invalid; or the error from reading the file.
 */
int ibsa__port_gid_read(struct device_files *files, const char *device,
			unsigned int port, uint32_t index,
			struct ibsa_gid *out) IBSA_MUST_USE;

/* Read the node type, an enum ibsa_node_type. Return: 0; -EPROTO or -ERANGE the
 * file's content is invalid; or the error from reading it. */
int ibsa__node_type_read(struct device_files *files, const char *device,
			 unsigned int *out) IBSA_MUST_USE;

/*
 * Read the GUID in @file, "node_guid" or "sys_image_guid". Return: 0; -EPROTO
 * the file's content is invalid; or the error from reading it.
 */
int ibsa__guid_read(struct device_files *files, const char *device,
		    const char *file, uint64_t *out) IBSA_MUST_USE;

/* Find the name of a port's MAD device, such as "umad0". Return: 0; -ENOMEM;
 * -ENOENT the port has none. */
int ibsa__mad_device_find(struct device_files *files, const char *device,
			  unsigned int port,
			  char out[NAME_MAX + 1]) IBSA_MUST_USE;

/*
 * Find the device that had the name @device and may have been renamed: the
 * device with @node_guid; if there is none, or if @node_guid is 0, the device
 * called @device. Return: 0; -ENODEV neither exists; or the error from reading
 * the list.
 */
int ibsa__device_find_again(struct device_files *files, const char *device,
			    uint64_t node_guid,
			    char out[NAME_MAX + 1]) IBSA_MUST_USE;

/*
 * Read one P_Key; 0 means that the entry is empty. Return: 0; -ENOENT there is
 * no such entry; -EPROTO or -ERANGE the file's content is invalid; or the error
 * from reading it.
 */
int ibsa__pkey_read(struct device_files *files, const char *device,
		    unsigned int port, size_t index,
		    uint16_t *out) IBSA_MUST_USE;

/* Read the port's link layer. Return: 0 or the error from reading it. */
int ibsa__link_read(struct device_files *files, const char *device,
		    unsigned int port, enum ibsa_link_layer *out) IBSA_MUST_USE;

/*
 * Read one entry of the GID table. The interface of the entry is an index in
 * the caller's network namespace, or 0. Return: 0; -ENODATA the entry is empty;
 * -ENOENT no such entry, port or device; -EPROTO the GID or its type is
 * invalid, or the type is missing although other entries have a type; or the
 * error from reading the entry.
 */
int ibsa__gid_read(struct device_files *files, const char *device,
		   unsigned int port, uint32_t index,
		   struct ibsa_gid_entry *out) IBSA_MUST_USE;

/*
 * Called for each entry of a GID table; with @err not 0 if the entry could not
 * be read, in which case @entry has only the index. A result other than 0 ends
 * the walk.
 */
typedef int (*ibsa__gid_fn)(unsigned int port, int err,
			    const struct ibsa_gid_entry *entry, void *arg);

/*
 * Call @each for each entry that is not empty in the GID tables of a device,
 * ordered by port and index. Return: 0; -ENODEV no such device; -ENOMEM; the
 * error from reading a directory; or the result of @each.
 */
int ibsa__gids_walk(struct device_files *files, const char *device,
		    ibsa__gid_fn each, void *arg) IBSA_MUST_USE;

/*
 * Find the first entry of a port's GID table with this GID, type and interface;
 * interface 0 matches any. Return: 0; -ENOENT no such entry, port or device;
 * -ENOMEM; or the error from reading the table's directory.
 */
int ibsa__gid_find(struct device_files *files, const char *device,
		   unsigned int port, const struct ibsa_gid *gid,
		   enum ibsa_gid_type type, uint32_t ifindex,
		   struct ibsa_gid_entry *out) IBSA_MUST_USE;

/*
 * Read the P_Key table of a port into *@out, which the caller frees with
 * ibsa__free(). A device without P_Keys (iWARP) has an empty table. Return: 0;
 * -ENOMEM; or an error of ibsa__pkey_read().
 */
int ibsa__pkeys_read(struct device_files *files, const char *device,
		     unsigned int port, uint16_t **out,
		     size_t *out_count) IBSA_MUST_USE;

/*
 * Write the message for an error of ibsa__devices_read(). Return: @err.
 */
int ibsa__devices_read_fail(struct device_files *files, int err,
			    struct ibsa_error *error);

/*
 * Select a port from which MADs can be sent; skip the first @skip ports that
 * fit. @device NULL means any device, @port 0 any port. Without @device only
 * InfiniBand ports are considered. With @device, an active Ethernet port (RoCE)
 * is selected if the device has no active InfiniBand port. Return: 0; -ENOSYS
 * the kernel modules are not loaded; -ENODEV no such device, or no port that
 * can be used; -ENXIO no such port; -ENETDOWN the port is not active; or the
 * error from reading it. The message in @error tells what to do.
 */
int ibsa__port_select(struct device_files *files, const char *device,
		      unsigned int port, unsigned int skip,
		      struct ibsa_error *error,
		      struct ibsa__port_selection *out) IBSA_MUST_USE;

#endif
