/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of libibsa-fabric that libibsa calls. libibsa does not link
 * libibsa-fabric: it gets this table when a topology file or capture is opened,
 * and from a fabric that the program opened itself.
 */
#ifndef UMAD_FABRIC_OPS_H
#define UMAD_FABRIC_OPS_H

#include <ibsa/transport.h>
#include <ibsa/types.h>

struct ibsa_fabric;

/* To be incremented when the table changes. */
enum { FABRIC_OPS_VERSION = 2 };

/* The name and the node id of an adapter, valid as long as its fabric. */
struct fabric_adapter {
	const char *name, *id;
};

/* Any thread may call these functions. */
struct fabric_ops {
	unsigned int version;
	/* Whether a file is a capture, valid or not. */
	bool (*is_capture)(const char *path);
	/*
	 * Get the fabric of a topology file or capture, with a reference. A
	 * process has one fabric for each file: all clients that open the same
	 * file share it. Return: 0; -errno, with *@error set.
	 */
	int (*get)(const char *path, struct ibsa_error *error,
		   struct ibsa_fabric **out) IBSA_MUST_USE;
	/* Put the reference of get. */
	void (*put)(struct ibsa_fabric *fabric);
	/*
	 * Find the adapter that a process at the node or host @node selects
	 * with the name @device, or without a name if @device is NULL, as in
	 * struct remote_hello. Return: its node id, for attach and
	 * adapter_find, valid as long as the fabric; NULL: there is no such
	 * adapter, or attach and adapter_find accept @device (if it is NULL:
	 * @node) itself.
	 */
	const char *(*adapter_name)(struct ibsa_fabric *fabric,
				    const char *node, bool is_machine,
				    const char *device);
	/*
	 * Attach a transport to an adapter, as ibsa_fabric_attach() does.
	 * Messages name @path, the file of the fabric; NULL: the fabric belongs
	 * to the program. Return: 0; -errno, with *@error set.
	 */
	int (*attach)(struct ibsa_fabric *fabric, const char *path,
		      const char *name, unsigned int port,
		      struct ibsa_error *error,
		      struct ibsa_transport **out) IBSA_MUST_USE;
	/*
	 * Find the adapter and port that attach would use; the port need not
	 * have a cable. Without a @name, it is the first adapter that has a
	 * port. Return: 0; -errno, with *@error set.
	 */
	int (*adapter_find)(struct ibsa_fabric *fabric, const char *path,
			    const char *name, unsigned int port,
			    struct ibsa_error *error,
			    struct fabric_adapter *out) IBSA_MUST_USE;
	/* The link type (enum ibsa_link_layer) of all ports. */
	uint8_t (*link)(const struct ibsa_fabric *fabric);
};

/* A struct ibsa_fabric begins with this. */
struct fabric_base {
	const struct fabric_ops *ops;
};

static inline const struct fabric_ops *
fabric_ops_of(const struct ibsa_fabric *fabric)
{
	return ((const struct fabric_base *)(const void *)fabric)->ops;
}

/* The table of libibsa-fabric, which exports it by this name. */
extern const struct fabric_ops ibsa__fabric_ops;

#endif
