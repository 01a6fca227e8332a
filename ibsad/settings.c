/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

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

static int quota_read(const char *text, struct settings *settings)
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

static int preload_read(const char *text, struct settings *settings)
{
	uint32_t after;
	const int err = number_read(&text, &after);

	if (err || *text)
		return -EINVAL;
	settings->preload = after;
	return 0;
}

/* Read an MGID and the number of its first bits, such as ff15:7::/32. */
static int group_read(const char *text, struct settings *settings)
{
	struct policy_groups *groups = &settings->groups;
	struct policy_group group;
	const char *slash = strchr(text, '/');
	char gid[64];
	int err;

	if (!slash || (size_t)(slash - text) >= sizeof(gid) ||
	    groups->count == POLICY_GROUPS_MAX)
		return -EINVAL;
	snprintf(gid, sizeof(gid), "%.*s", (int)(slash - text), text);
	err = ibsa_gid_parse(gid, &group.mgid);
	slash++;
	if (!err)
		err = number_read(&slash, &group.bits);
	/* Each MGID begins with ff. */
	if (err || *slash || group.bits < 8 || group.bits > 128 ||
	    group.mgid.raw[0] != 0xff)
		return -EINVAL;
	groups->at[groups->count++] = group;
	return 0;
}

/*
 * A setting is a flag, or has a value. @flag_at: of the flag in struct settings;
 * @wanted: what the value must be, in the message
 */
static const struct setting {
	const char *name;
	size_t flag_at;
	int (*read)(const char *value, struct settings *settings);
	const char *wanted;
} known[] = {
	{ "guid-info", offsetof(struct settings, guid_info) },
	{ "multicast", .read = group_read,
	  .wanted = "one of at most 16 prefixes of MGIDs; write one such as "
		    "ff15:7::/32" },
	{ "multicast-create", offsetof(struct settings, groups.may_create) },
	{ "no-cache", offsetof(struct settings, no_cache) },
	{ "performance", offsetof(struct settings, performance) },
	{ "preload", .read = preload_read,
	  .wanted = "a number of queries; write one such as 64, or 0 to "
		    "preload nothing" },
	{ "quota", .read = quota_read,
	  .wanted = "a quota; write NAME=ONE or NAME=ONE/ALL" },
};
_Static_assert(POLICY_GROUPS_MAX == 16, "the message about prefixes");

int ibsad_setting_take(const char *name, const char *value,
		       struct settings *settings, struct ibsa_error *error)
{
	const struct setting *end = known + sizeof(known) / sizeof(*known);
	const struct setting *found = known;

	while (found < end && strcmp(found->name, name) != 0)
		found++;
	if (found == end || !value != !found->read)
		return ibsa__fail(error, -EINVAL,
				  "'%.64s' is not a setting, or has no value, "
				  "or one too many; see ibsad(8)",
				  name);
	if (!value)
		*(bool *)((char *)settings + found->flag_at) = true;
	else if (found->read(value, settings))
		return ibsa__fail(error, -EINVAL, "'%.64s' is not %s", value,
				  found->wanted);
	return 0;
}

/* A line is a name, or a name, a space and a value. # begins a comment. */
static int line_read(char *line, struct settings *settings,
		     struct ibsa_error *error)
{
	char *value;

	line[strcspn(line, "#\n")] = '\0';
	for (size_t len = strlen(line); len && line[len - 1] == ' '; len--)
		line[len - 1] = '\0';
	if (!*line)
		return 0;
	value = strchr(line, ' ');
	if (value)
		*value++ = '\0';
	return ibsad_setting_take(line, value, settings, error);
}

int ibsad_settings_read(struct settings *settings, struct ibsa_error *error)
{
	struct settings read = *settings;
	struct ibsa_error why;
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
		err = line_read(line, &read, &why);
		if (err)
			ibsa__fail(error, err, "line %u of %s: %s", number,
				   settings->config, why.text);
	}
	fclose(file);
	if (!err)
		*settings = read;
	return err;
}
