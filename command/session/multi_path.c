/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds the sources and destinations of a MultiPathRecord, one argument for
 * each. The record contains both in one list; its two counts say how many are
 * sources and destinations.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <ibsa/text.h>

#include "session/multi_path.h"

enum { NAME_LEN = 5 }; /* length of "sgid=" */

static bool is_source(const char *text)
{
	return strncasecmp(text, "sgid=", NAME_LEN) == 0;
}

bool multi_path_is_end(const char *text)
{
	return is_source(text) || strncasecmp(text, "dgid=", NAME_LEN) == 0;
}

/*
 * Insert a GID. The destinations follow the sources in the list, so adding a
 * source moves them.
 */
static void insert(struct ibsa_multi_path *match, const struct ibsa_gid *gid,
		   bool source)
{
	struct ibsa_gid *destinations = match->gid + match->sgid_count;

	if (source) {
		memmove(destinations + 1, destinations,
			match->dgid_count * sizeof(*gid));
		*destinations = *gid;
		match->sgid_count++;
	} else {
		destinations[match->dgid_count++] = *gid;
	}
}

int multi_path_add_end(const char *text, struct ibsa_multi_path *match,
		       uint64_t *mask, struct ibsa_error *error)
{
	const size_t room = sizeof(match->gid) / sizeof(match->gid[0]);
	struct ibsa_gid gid;

	if (ibsa_gid_parse(text + NAME_LEN, &gid)) {
		snprintf(error->text, sizeof(error->text),
			 "'%s': %.4s takes a GID, written as an IPv6 address",
			 text + NAME_LEN, text);
		return -EINVAL;
	}
	if ((size_t)match->sgid_count + match->dgid_count >= room) {
		snprintf(error->text, sizeof(error->text),
			 "a MultiPathRecord has no more than %zu GIDs", room);
		return -ENOSPC;
	}
	insert(match, &gid, is_source(text));
	*mask |= IBSA_MULTI_PATH_CM(sgid_count) |
		 IBSA_MULTI_PATH_CM(dgid_count);
	return 0;
}
