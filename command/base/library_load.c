/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads libraries that few commands need. */
#include <dlfcn.h>
#include <string.h>

#include "base/library_load.h"

void *library_functions(void *library, const struct library_function *all,
			size_t count, void *functions)
{
	for (size_t i = 0; i < count && library; i++) {
		void *function = dlsym(library, all[i].name);

		if (!function)
			return NULL;
		memcpy((char *)functions + all[i].at, &function,
		       sizeof(function));
	}
	return library;
}
