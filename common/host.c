/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Matching of host names with node descriptions. */
#include <string.h>

#include "base/letter.h"
#include "common/host.h"

/*
 * Compare a host name with a NodeDescription, regardless of case: return 3 if
 * @name is the whole description or its first word, 4 if the case is also
 * equal; otherwise 0.
 */
static int host_match_whole(const char *name, const char *description,
			    size_t len)
{
	const char next = description[len];

	if (!letters_start_same(name, description, len))
		return 0;
	if (next && (next != ' ' || memchr(name, ' ', len)))
		return 0;
	return memcmp(name, description, len) ? 3 : 4;
}

/*
 * Compare a name of the form HOST/DEVICE with the NodeDescription "HOST
 * DEVICE", regardless of case: return 1 if they are equal, 2 if the case is
 * also equal; otherwise 0.
 */
static int host_match_slash(const char *name, const char *description)
{
	const char *slash = strchr(name, '/');
	const size_t host = slash ? (size_t)(slash - name) : 0;

	if (!host || !letters_start_same(name, description, host) ||
	    description[host] != ' ' ||
	    !letters_are_same(slash + 1, description + host + 1))
		return 0;
	return memcmp(name, description, host) ||
			       strcmp(slash + 1, description + host + 1)
		       ? 1
		       : 2;
}

int ibsa__host_match(const char *name, const char *description)
{
	const size_t len = strlen(name);
	int match = 0;

	if (!len)
		return 0;
	if (strnlen(description, len) == len)
		match = host_match_whole(name, description, len);
	return match ? match : host_match_slash(name, description);
}

const char *ibsa__host_device(const char *description)
{
	const char *blank = strchr(description, ' ');

	if (!blank)
		return "";
	return blank + strspn(blank, " ");
}
