/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of ibsad: options of the command line, and a file. */
#ifndef IBSAD_SETTINGS_H
#define IBSAD_SETTINGS_H

#include "serve/serve.h"

/* @argv: of the process */
struct settings {
	char **argv;
	const char *device;
	const char *socket;
	const char *config;
	bool is_standalone;
	bool is_status;
	bool performance;
	bool no_cache;
	struct serve_limits quotas[SERVE_QUOTAS];
};

/* Read a quota, "NAME=ONE" or "NAME=ONE/ALL". Return: 0; -EINVAL. */
int ibsad_quota_read(const char *text, struct settings *settings) IBSA_MUST_USE;

/*
 * Add the settings in the file @settings->config, if it exists. Each line is an
 * option as on the command line, without "--". Return: 0; or -errno and the
 * reason in *@error, and @settings is unchanged.
 */
int ibsad_settings_read(struct settings *settings,
			struct ibsa_error *error) IBSA_MUST_USE;

#endif
