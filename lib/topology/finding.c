/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of findings. */
#include <ibsa/topology.h>

/*
 * Arrays of characters instead of pointers, which would have to be relocated in
 * each process. With the second NUL, a name that is too long does not compile.
 */
static const struct {
	char name[sizeof("parallel-differs")];
	uint8_t severity; /* enum ibsa_severity */
} findings[] = {
#define ROW(kind, name, severity) { name "\0", IBSA_SEVERITY_##severity },
	IBSA_FINDINGS(ROW)
#undef ROW
};

static bool is_known(enum ibsa_finding_kind kind)
{
	return (unsigned int)kind < sizeof(findings) / sizeof(findings[0]);
}

const char *ibsa_finding_name(enum ibsa_finding_kind kind)
{
	return is_known(kind) ? findings[kind].name : NULL;
}

enum ibsa_severity ibsa_finding_severity(enum ibsa_finding_kind kind)
{
	if (!is_known(kind))
		return IBSA_SEVERITY_WARNING;
	return findings[kind].severity;
}
