/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsers of option values. */
#ifndef COMMAND_OPTION_VALUES_H
#define COMMAND_OPTION_VALUES_H

#include "output/cli.h"

/*
 * Functions that parse the value of one option, store it in @cli and return
 * the exit status; a failure is printed.
 */
int option_port(struct cli *cli, const char *value);
int option_timeout(struct cli *cli, const char *value);
int option_sa(struct cli *cli, const char *value);
int option_sm_key(struct cli *cli, const char *value);
int option_seed(struct cli *cli, const char *value);
int option_connections(struct cli *cli, const char *value);
int option_memory(struct cli *cli, const char *value);
int option_first_lid(struct cli *cli, const char *value);
int option_sm_profile(struct cli *cli, const char *value);
int option_fault(struct cli *cli, const char *value);
int option_for(struct cli *cli, const char *value);
int option_pairs(struct cli *cli, const char *value);
int option_lease(struct cli *cli, const char *value);
int option_pkey(struct cli *cli, const char *value);
int option_rate(struct cli *cli, const char *value);

#endif
