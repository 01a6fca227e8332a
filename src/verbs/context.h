/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our own contexts, for devices without uverbs. */
#ifndef VERBS_CONTEXT_H
#define VERBS_CONTEXT_H

#include <ibsa/verbs.h>

#include "base/environment.h"
#include "device/files.h"

/*
 * @options: a copy of the program's options; the library owns what its device,
 * SA and fabric point to. If the context is in an embedded fabric, @options.on
 * is this fabric, and @options.device is a node of the fabric.
 */
struct ibsa__verbs {
	struct ibv_device device;
	struct verbs_context context;
	struct ibsa_options options;
	struct ibsa_address sa;
	struct ibsa_fabric *fabric; /* to be released; or NULL */
	char *name;
	char *server; /* address of the device's fabric server, or NULL */
	/* From the time of opening; ports are opened later. */
	struct ibsa__environment *environment;
	struct device_files *files; /* NULL: in an embedded fabric */
};

/*
 * Get our own context with that address. It exists until the put, even if it is
 * closed meanwhile. NULL: it is not ours, or it is closed. Any thread may call
 * it.
 */
struct ibsa__verbs *ibsa__verbs_get(const struct ibv_context *context);
void ibsa__verbs_put(struct ibsa__verbs *verbs);

static inline bool ibsa__verbs_is_in_fabric(const struct ibsa__verbs *verbs)
{
	return verbs->options.on;
}

/* The name of the device in its files; a server has a single one. */
const char *ibsa__verbs_file_name(const struct ibsa__verbs *verbs);

#endif
