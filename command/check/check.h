/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of ibsa check. */
#ifndef COMMAND_CHECK_H
#define COMMAND_CHECK_H

#include "output/cli.h"

int check_fabric(struct cli *cli);
void check_fabric_details(struct cli *cli);
int check_node(struct cli *cli);
void check_node_details(struct cli *cli);

#endif
