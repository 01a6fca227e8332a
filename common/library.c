/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads a library of ibsa that is installed beside another one. The run path of
 * the caller would find the library, too, but dlopen() of AddressSanitizer
 * ignores it.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/library.h"

void *ibsa__library_load(const char *name, const void *address)
{
	char path[PATH_MAX];
	const char *end;
	void *library;
	Dl_info of;

	if (dladdr(address, &of) && (end = strrchr(of.dli_fname, '/'))) {
		const int len = snprintf(path, sizeof(path), "%.*s/%s",
					 (int)(end - of.dli_fname),
					 of.dli_fname, name);

		if (len < (int)sizeof(path) &&
		    (library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
			return library;
	}
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}
