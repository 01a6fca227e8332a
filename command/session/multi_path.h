/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds the sources and destinations of a MultiPathRecord, one argument for
 * each.
 */
#ifndef COMMAND_MULTI_PATH_H
#define COMMAND_MULTI_PATH_H

#include <ibsa/records.h>

/* Whether @text is "sgid=..." or "dgid=...". */
bool multi_path_is_end(const char *text);

/*
 * Add the GID of "sgid=..." or "dgid=..." to the sources or destinations of
 * @match, and update its counts. Return: 0; -EINVAL not a GID; -ENOSPC no room
 * for another GID. @error explains it.
 */
int multi_path_add_end(const char *text, struct ibsa_multi_path *match,
		       uint64_t *mask, struct ibsa_error *error);

#endif
