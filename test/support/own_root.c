/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A user name space, for tests that need root's rights in a name space of their
 * own.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/support/own_root.h"

static bool proc_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool good;

	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return good;
}

bool own_root(void)
{
	char uids[32];
	char gids[32];

	snprintf(uids, sizeof(uids), "0 %u 1", (unsigned int)geteuid());
	snprintf(gids, sizeof(gids), "0 %u 1", (unsigned int)getegid());
	return !unshare(CLONE_NEWUSER) &&
	       proc_write("/proc/self/setgroups", "deny") &&
	       proc_write("/proc/self/uid_map", uids) &&
	       proc_write("/proc/self/gid_map", gids);
}
