/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions for findings about the fabric and findings about this machine. */
#include <stdio.h>

#include "findings/finding.h"

const char *check_severity_text(enum ibsa_severity severity)
{
	return severity == IBSA_SEVERITY_CRITICAL ? "critical" : "warning";
}

struct ibsa_finding check_finding(enum ibsa_finding_kind kind, uint64_t guid,
				  unsigned int port, const char *format,
				  va_list args)
{
	struct ibsa_finding finding = {
		.kind = kind,
		.severity = ibsa_finding_severity(kind),
		.name = ibsa_finding_name(kind),
		.guid = guid,
		.port = port,
	};

	vsnprintf(finding.what.text, sizeof(finding.what.text), format, args);
	return finding;
}
