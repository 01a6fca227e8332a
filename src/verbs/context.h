/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts that are our own, for devices without uverbs. */
#ifndef VERBS_CONTEXT_H
#define VERBS_CONTEXT_H

#include <ibsa/verbs.h>

#include "base/environment.h"
#include "device/files.h"

/*
 * @options: as given, with device, SA and fabric our own. A fabric, held, is
 *           in @options.on; then @options.device is a node of it.
 */
struct ibsa__verbs {
	struct ibv_device device;
	struct verbs_context context;
	struct ibsa_options options;
	struct ibsa_address sa;
	struct ibsa_fabric *fabric; /* to be released */
	char *name;
	char *server; /* that the device is at, or NULL */
	/* As the context was opened: devices and ports are opened later. */
	struct ibsa__environment *environment;
	struct device_files *files; /* NULL: in an embedded fabric */
};

/*
 * What is behind a context; to be put, which keeps it until then even if it is
 * closed meanwhile. NULL: not one of ours, or closed. Any thread.
 */
struct ibsa__verbs *ibsa__verbs_get(const struct ibv_context *context);
void ibsa__verbs_put(struct ibsa__verbs *verbs);

static inline bool ibsa__verbs_is_in_fabric(const struct ibsa__verbs *verbs)
{
	return verbs->options.on;
}

/* The name of the device in its files, where a server has but one. */
const char *ibsa__verbs_file_name(const struct ibsa__verbs *verbs);

#endif
