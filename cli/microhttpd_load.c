/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads libmicrohttpd when it is needed. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "microhttpd_load.h"

int libmicrohttpd_load(struct libmicrohttpd *http)
{
	static const struct {
		const char *name;
		size_t at;
	} functions[] = {
#define ROW(name) { #name, offsetof(struct libmicrohttpd, name) },
		MICROHTTPD_FUNCTIONS(ROW)
#undef ROW
	};

	http->library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	if (!http->library)
		return -1;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(http->library, functions[i].name);

		if (!function)
			return -1;
		memcpy((char *)http + functions[i].at, &function,
		       sizeof(function));
	}
	return 0;
}
