/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ibsad/settings.h"

enum { LINE_MAX_BYTES = 256 };

/* In the order of enum serve_quota. */
static const char *const quota_names[SERVE_QUOTAS] = {
	[SERVE_CONNECTIONS] = "connections",
	[SERVE_REQUESTS] = "requests",
	[SERVE_BYTES] = "bytes",
	[SERVE_IN_FLIGHT] = "in-flight",
	[SERVE_REGISTRATIONS] = "registrations",
};

static int number_read(const char **text, uint32_t *out)
{
	unsigned long long value;
	char *end;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(*text, &end, 10);
	if (errno || value > UINT32_MAX)
		return -ERANGE;
	*text = end;
	*out = (uint32_t)value;
	return 0;
}

static int limits_read(const char *text, struct serve_limits *out)
{
	struct serve_limits limits = { 0 };
	int err = number_read(&text, &limits.one);

	if (!err && *text == '/') {
		text++;
		err = number_read(&text, &limits.all);
	}
	if (err || *text)
		return -EINVAL;
	*out = limits;
	return 0;
}

int ibsad_quota_read(const char *text, struct settings *settings)
{
	const size_t len = strcspn(text, "=");

	for (int i = 0; i < SERVE_QUOTAS; i++) {
		if (strlen(quota_names[i]) == len && len && text[len] &&
		    !strncmp(text, quota_names[i], len))
			return limits_read(text + len + 1,
					   &settings->quotas[i]);
	}
	return -EINVAL;
}

/* Return: whether the line is an option, a comment, or empty. */
static bool line_read(char *line, struct settings *settings)
{
	static const char quota[] = "quota ";

	line[strcspn(line, "#\n")] = '\0';
	for (size_t len = strlen(line); len && line[len - 1] == ' '; len--)
		line[len - 1] = '\0';
	if (!*line)
		return true;
	if (!strcmp(line, "performance"))
		settings->performance = true;
	else if (!strcmp(line, "no-cache"))
		settings->no_cache = true;
	else
		return !strncmp(line, quota, strlen(quota)) &&
		       !ibsad_quota_read(line + strlen(quota), settings);
	return true;
}

int ibsad_settings_read(struct settings *settings, struct ibsa_error *error)
{
	struct settings read = *settings;
	char line[LINE_MAX_BYTES];
	unsigned int number = 0;
	int err = 0;
	FILE *file;

	if (!settings->config)
		return 0;
	file = fopen(settings->config, "re");
	if (!file)
		return ibsa__fail(error, -errno, "cannot read %s: %s",
				  settings->config,
				  ibsa__errno_text(errno).bytes);
	while (!err && fgets(line, sizeof(line), file)) {
		number++;
		if (!line_read(line, &read))
			err = ibsa__fail(error, -EINVAL,
					 "line %u of %s is not performance, "
					 "no-cache or quota NAME=ONE/ALL",
					 number, settings->config);
	}
	fclose(file);
	if (!err)
		*settings = read;
	return err;
}
