/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes findings. */
#ifndef COMMAND_FINDING_H
#define COMMAND_FINDING_H

#include <stdarg.h>

#include <ibsa/topology.h>

/* For columns: the names of the findings, each after a '|'. */
#define FINDING_WORD(kind, name, severity) "|" name
#define FINDING_WORDS IBSA_FINDINGS(FINDING_WORD)

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
