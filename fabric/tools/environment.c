/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether environment variables are ignored is known to libibsa. This library
 * is not linked with libibsa, and its copy of base has a state of its own.
 */
#include <dlfcn.h>

#include "fabric/tools/environment.h"

/* Find the library without regard to the scope into which it was loaded. */
static bool libibsa_ignores(void)
{
	void *library = dlopen("libibsa.so.1", RTLD_NOW | RTLD_NOLOAD);
	bool (*is_ignored)(void);
	bool ignores;

	if (!library)
		return false;
	*(void **)&is_ignored = dlsym(library, "ibsa__environment_is_ignored");
	ignores = is_ignored && is_ignored();
	dlclose(library);
	return ignores;
}

struct ibsa__environment ibsa__fabric_environment_read(bool is_ignored)
{
	return ibsa__environment_read(is_ignored || libibsa_ignores());
}
