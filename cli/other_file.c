/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that an output file is not the same file as one that is being used. */
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "other_file.h"

/*
 * Whether two paths name the same regular file. Writing to another file, such
 * as /dev/null or a terminal, destroys nothing.
 */
static bool is_same_file(const char *one, const char *other)
{
	struct stat a;
	struct stat b;

	if (stat(one, &a) != 0)
		return strcmp(one, other) == 0;
	return S_ISREG(a.st_mode) && stat(other, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int other_file(const char *option, const char *path, const char *other,
	       const char *use)
{
	if (!path || !other || strcmp(path, "-") == 0 ||
	    !is_same_file(path, other))
		return CLI_DONE;
	complain("%s: '%s' is %s; name another file", option, path, use);
	return CLI_USAGE;
}
