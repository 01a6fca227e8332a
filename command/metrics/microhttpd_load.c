/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads libmicrohttpd when it is needed. */
#include "base/library_load.h"
#include "metrics/microhttpd_load.h"

int libmicrohttpd_load(struct libmicrohttpd *http)
{
	static const struct library_function functions[] = {
#define ROW(name) { #name, offsetof(struct libmicrohttpd, name) },
		MICROHTTPD_FUNCTIONS(ROW)
#undef ROW
	};

	http->library = library_load("libmicrohttpd.so.12", NULL, functions,
				     sizeof(functions) / sizeof(functions[0]),
				     http);
	return http->library ? 0 : -1;
}
