/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check: findings about this machine. */
#include <string.h>

#include "check.h"

const char *check_severity_text(enum ibsa_severity severity)
{
	return severity == IBSA_SEVERITY_CRITICAL ? "critical" : "warning";
}

int cmd_check(struct cli *cli)
{
	if (cli->arg_count > 1 && strcmp(cli->args[1], "node") == 0)
		return check_node(cli);
	complain("check needs node; see ibsa check --help");
	return CLI_USAGE;
}

void cmd_check_details(struct cli *cli)
{
	check_node_details(cli);
}
