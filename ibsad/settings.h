/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of ibsad: options of the command line, and a file. */
#ifndef IBSAD_SETTINGS_H
#define IBSAD_SETTINGS_H

#include "ibsad/policy.h"
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
	bool guid_info;
	bool no_cache;
	uint32_t preload; /* see struct ibsad_preload */
	struct policy_groups groups;
	struct serve_limits quotas[SERVE_QUOTAS];
};

/*
 * Take a setting that is an option of the command line, and a line of the file,
 * too. @value: NULL: none. Return: 0; or -EINVAL and the reason in *@error.
 */
int ibsad_setting_take(const char *name, const char *value,
		       struct settings *settings,
		       struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Add the settings in the file @settings->config, if it exists. Each line is an
 * option as on the command line, without "--". Return: 0; or -errno and the
 * reason in *@error, and @settings is unchanged.
 */
int ibsad_settings_read(struct settings *settings,
			struct ibsa_error *error) IBSA_MUST_USE;

#endif
