/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of ibsa check. */
#ifndef COMMAND_CHECK_H
#define COMMAND_CHECK_H

#include "findings/node_options.h"
#include "output/cli.h"

/**
 * struct check_options - options of ibsa check
 * @nagios: print the line of a monitoring plugin
 * @expect: file of --expect, or NULL
 * @node:   options of ibsa check node
 */
struct check_options {
	bool nagios;
	const char *expect;
	struct node_options node;
};

/* The options of the command that runs. */
static inline const struct check_options *check_own(const struct cli *cli)
{
	return cli->own;
}

struct columns;
struct ibsa_finding;
struct nagios;

extern const struct columns columns_check;
extern const struct columns columns_check_node;

/*
 * Print the line of a monitoring plugin about @count findings, of which @worst
 * is the worst. Return: the exit status.
 */
int check_nagios_print(struct cli *cli, struct nagios *nagios, size_t count,
		       const struct ibsa_finding *worst);

int check_fabric(struct cli *cli);
int check_node(struct cli *cli);

#endif
