/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of ibsa service share. */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include "cli.h"

/* A service from the command line, and which of its fields are given. */
struct service {
	struct ibsa_service record;
	uint64_t mask;
};

/*
 * What "ID NAME [FIELD=VALUE...]" and --lease say.
 *
 * Return: the exit status; what is wrong has been said.
 */
int service_parse(struct cli *cli, struct service *out);

/* The cells of one line: what it is, whose, and for how long. */
void service_cells(struct out *out, const struct ibsa_service *service);

/* That on an embedded fabric no other process sees the service. */
void service_local_warn(const struct cli *cli);

/*
 * Register the service, renew it until a signal arrives, remove it.
 *
 * Return: the exit status.
 */
int service_renew(struct cli *cli);

#endif
