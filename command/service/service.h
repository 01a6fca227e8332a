/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types and functions that the files of ibsa service share. */
#ifndef COMMAND_SERVICE_H
#define COMMAND_SERVICE_H

#include "output/cli.h"

/**
 * struct service_options - options of ibsa service
 * @lease: lease in seconds; 0 if not given
 * @renew: renew the service while the command runs
 */
struct service_options {
	uint32_t lease;
	bool renew;
};

/* The options of the command that runs. */
static inline const struct service_options *service_own(const struct cli *cli)
{
	return cli->own;
}

/*
 * A service from the command line, and the component mask of the fields that
 * were given.
 */
struct service {
	struct ibsa_service record;
	uint64_t mask;
};

/*
 * Parse the arguments "ID NAME [FIELD=VALUE...]" and --lease.
 *
 * Return: the exit status; a failure is printed.
 */
int service_parse(struct cli *cli, struct service *out);

/* Write the cells of one service. */
void service_cells(struct out *out, const struct ibsa_service *service);

/*
 * Print a warning that on an embedded fabric only this process can find the
 * service.
 */
void service_local_warn(const struct cli *cli);

/*
 * Register the service, renew it until a signal arrives, and remove it.
 *
 * Return: the exit status.
 */
int service_renew(struct cli *cli);

#endif
