/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzes what reads a file of roles, and the limit of a rate. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../command/base/file_read.c"
#include "../command/base/rate.c"
#include "../command/names/roles.c"
#include "common/clean.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int failures;

static void must(bool what)
{
	if (!what)
		abort();
}

/* A message of the command can be printed on a terminal. */
int fail_usage(const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (const char *at = text; *at; at++)
		must(!iscntrl((unsigned char)*at));
	failures++;
	return CLI_USAGE;
}

const char *fields_clean(const char *text, char out[IBSA_VALUE_TEXT])
{
	ibsa__text_clean(&text, out, IBSA_VALUE_TEXT);
	return out;
}

/* Only names that a line has get its role, and each role its reason. */
static void roles_try(const uint8_t *data, size_t size)
{
	static const char *const devices[] = { "mlx5_0", "mlx5_1", "ibp1s0",
					       "host mlx5_2", "" };
	enum { PORTS = sizeof(devices) / sizeof(devices[0]) };
	struct machine_port ports[PORTS];
	struct lines lines = { .file = NULL };
	int status;

	memset(ports, 0, sizeof(ports));
	for (size_t i = 0; i < PORTS; i++)
		ports[i].device = devices[i];
	lines.file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	if (!lines.file)
		return;
	failures = 0;
	status = lines_use(&lines, "roles.conf", ports, PORTS);
	fclose(lines.file);
	must(failures == (status != CLI_DONE));
	for (size_t i = 0; i < PORTS; i++) {
		must(ports[i].is_role_given == (ports[i].role != ROLE_UNKNOWN));
		must(ports[i].is_role_given == (ports[i].role_reason != NULL));
		must(!ports[i].role || role_name(ports[i].role));
	}
}

/* A limit, written again, is read as the same. */
static void rate_try(const uint8_t *data, size_t size)
{
	struct rate_limit limit;
	struct rate_limit again;
	char text[64];

	if (size >= sizeof(text))
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!rate_limit_parse(text, &limit))
		return;
	must(limit.tenths && limit.tenths < 10 * (GBPS_MAX + 1));
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (operators[i].kind != (int)limit.kind)
			continue;
		snprintf(text, sizeof(text), "%s%u.%uGb/s", operators[i].text,
			 limit.tenths / 10, limit.tenths % 10);
		must(rate_limit_parse(text, &again));
		must(again.kind == limit.kind && again.tenths == limit.tenths);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	roles_try(data, size);
	rate_try(data, size);
	return 0;
}
