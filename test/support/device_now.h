/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of internal functions on devices, with the device files that the
 * environment names now.
 */
#ifndef TEST_DEVICE_NOW_H
#define TEST_DEVICE_NOW_H

#include "client/files.h"
#include "device/device.h"
#include "umad_dev/umad.h"

static inline int now_port_read(const char *device, unsigned int port,
				struct ibsa_port_state *out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return err;
	err = ibsa__port_read(files, device, port, out);
	ibsa__files_put(files);
	return err;
}

static inline int now_link_read(const char *device, unsigned int port,
				enum ibsa_link_layer *out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return err;
	err = ibsa__link_read(files, device, port, out);
	ibsa__files_put(files);
	return err;
}

static inline int now_gid_read(const char *device, unsigned int port,
			       uint32_t index, struct ibsa_gid_entry *out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return err;
	err = ibsa__gid_read(files, device, port, index, out);
	ibsa__files_put(files);
	return err;
}

static inline int now_gid_find(const char *device, unsigned int port,
			       const struct ibsa_gid *gid,
			       enum ibsa_gid_type type, uint32_t ifindex,
			       struct ibsa_gid_entry *out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return err;
	err = ibsa__gid_find(files, device, port, gid, type, ifindex, out);
	ibsa__files_put(files);
	return err;
}

static inline int now_port_select(const char *device, unsigned int port,
				  struct ibsa_error *error,
				  struct ibsa__port_selection *out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return err;
	err = ibsa__port_select(files, device, port, 0, error, out);
	ibsa__files_put(files);
	return err;
}

static inline int now_umad_open(const char *device, unsigned int port,
				size_t reply_bytes, struct ibsa_error *error,
				struct ibsa_transport **out)
{
	struct device_files *files;
	int err = ibsa__files_open_now(&files);

	if (err)
		return err;
	err = ibsa__umad_open(files, device, port, reply_bytes, error, out);
	ibsa__files_put(files);
	return err;
}

#endif
