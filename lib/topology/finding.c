/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of findings. */
#include <ibsa/finding.h>

static const struct {
	const char *name;
	enum ibsa_severity severity;
} findings[] = {
#define ROW(kind, name, severity) { name, IBSA_SEVERITY_##severity },
	IBSA_FINDINGS(ROW)
#undef ROW
};

const char *ibsa_finding_name(enum ibsa_finding_kind kind)
{
	return findings[kind].name;
}

enum ibsa_severity ibsa_finding_severity(enum ibsa_finding_kind kind)
{
	return findings[kind].severity;
}
