/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Matching of host names with node descriptions. */
#include <string.h>
#include <strings.h>

#include <ibsa/text.h>

/*
 * Return: 3 or, if the case matches too, 4 if @name is the description or its
 * first word; else 0.
 */
static int host_match_whole(const char *name, const char *description,
			    size_t len)
{
	const char next = description[len];

	if (strncasecmp(name, description, len) != 0)
		return 0;
	if (next && (next != ' ' || memchr(name, ' ', len)))
		return 0;
	return memcmp(name, description, len) ? 3 : 4;
}

/*
 * Return: 1 or, if the case matches too, 2 if @name is HOST/DEVICE and the
 * description "HOST DEVICE"; else 0.
 */
static int host_match_slash(const char *name, const char *description)
{
	const char *slash = strchr(name, '/');
	const size_t host = slash ? (size_t)(slash - name) : 0;

	if (!host || strncasecmp(name, description, host) != 0 ||
	    description[host] != ' ' ||
	    strcasecmp(slash + 1, description + host + 1) != 0)
		return 0;
	return memcmp(name, description, host) ||
			       strcmp(slash + 1, description + host + 1)
		       ? 1
		       : 2;
}

int ibsa_host_match(const char *name, const char *description)
{
	const size_t len = strlen(name);
	int match = 0;

	if (!len)
		return 0;
	if (strnlen(description, len) == len)
		match = host_match_whole(name, description, len);
	return match ? match : host_match_slash(name, description);
}

const char *ibsa_host_device(const char *description)
{
	const char *blank = strchr(description, ' ');

	if (!blank)
		return "";
	return blank + strspn(blank, " ");
}
