/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of ibsa service share. */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include "cli.h"

/* A service from the command line, and which of its fields count. */
struct service {
	struct ibsa_service record;
	uint64_t mask;
};

/*
 * What "ID NAME [FIELD=VALUE...]" and --lease say, with the defaults of the
 * rest: the GID of the port that asks, P_Key 0xffff, @lease.
 *
 * Return: the exit status; what is wrong has been said.
 */
int service_parse(struct cli *cli, uint32_t lease, struct service *out);

/* The lease as people read it: seconds, or infinite. */
void service_lease(struct out *out, const char *name, uint32_t lease);

/* That on an embedded fabric no other process sees the service. */
void service_say_alone(const struct cli *cli);

#endif
