/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our own contexts, for devices without uverbs. */
#ifndef VERBS_CONTEXT_H
#define VERBS_CONTEXT_H

#include <ibsa/verbs.h>

#include "base/environment.h"
#include "device/files.h"

/*
 * A context that ibsa_verbs_open() created. @options: a copy of the program's
 * options; the library owns the device's name, the SA address and the fabric
 * in them. If the context is in an embedded fabric, @options.on is this
 * fabric, and @options.device is a node of the fabric.
 */
struct ibsa__verbs {
	struct ibv_device device;
	struct verbs_context context;
	struct ibsa_options options;
	struct ibsa_address sa;
	struct ibsa_fabric *fabric; /* to be released; or NULL */
	char *name;
	/*
	 * Address ("unix:PATH") of the device's fabric server; NULL if it is
	 * not at a fabric server.
	 */
	char *server;
	/*
	 * Copy of the environment variables when the context was opened. The
	 * copy is used again when ports of the context are opened later.
	 */
	struct ibsa__environment *environment;
	struct device_files *files; /* NULL: in an embedded fabric */
};

/*
 * Do what ibsa_verbs_open() does, with the environment variables of an earlier
 * time. The thread cannot be cancelled.
 */
int ibsa__verbs_open(const struct ibsa_options *options,
		     const struct ibsa__environment *environment,
		     struct ibsa_error *error,
		     struct ibv_context **out) IBSA_MUST_USE;

/*
 * Get the context of ibsa_verbs_open() with this address. The context exists
 * until the put, even if it is closed meanwhile. Return: NULL:
 * ibsa_verbs_open() did not create it, or it is closed. Any thread may call
 * this.
 */
struct ibsa__verbs *ibsa__verbs_get(const struct ibv_context *context);
void ibsa__verbs_put(struct ibsa__verbs *verbs);

static inline bool ibsa__verbs_is_in_fabric(const struct ibsa__verbs *verbs)
{
	return verbs->options.on;
}

/*
 * Return: the name of the context's device in its device files; a fabric
 * server's files have only one device.
 */
const char *ibsa__verbs_file_name(const struct ibsa__verbs *verbs);

/*
 * Open a transport at a port of the context's embedded fabric. Return: 0;
 * -ENETDOWN the port has no link; -ENXIO no such port; or the error from
 * opening the port.
 */
int ibsa__verbs_port_open(const struct ibsa__verbs *verbs, unsigned int port,
			  struct ibsa_transport **out) IBSA_MUST_USE;

#endif
