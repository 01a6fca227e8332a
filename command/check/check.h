/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of ibsa check. */
#ifndef COMMAND_CHECK_H
#define COMMAND_CHECK_H

#include <stdarg.h>

#include <ibsa/finding.h>

#include "output/cli.h"

int check_fabric(struct cli *cli);
void check_fabric_details(struct cli *cli);
int check_node(struct cli *cli);
void check_node_details(struct cli *cli);

/* "warning" or "critical". */
const char *check_severity_text(enum ibsa_severity severity);

/*
 * Return: a finding about a port of a node. @guid and @port are 0 if the
 * finding is not about a node or port.
 */
struct ibsa_finding check_finding(enum ibsa_finding_kind kind, uint64_t guid,
				  unsigned int port, const char *format,
				  va_list args)
	__attribute__((format(printf, 4, 0)));

#endif
