/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads libcjson when it is needed. */
#include "base/library_load.h"
#include "graph/cjson_load.h"

int libcjson_load(struct libcjson *cjson)
{
	static const struct library_function functions[] = {
#define ROW(name) { #name, offsetof(struct libcjson, name) },
		CJSON_FUNCTIONS(ROW)
#undef ROW
	};

	cjson->library = library_load("libcjson.so.1", NULL, functions,
				      sizeof(functions) / sizeof(functions[0]),
				      cjson);
	return cjson->library ? 0 : -1;
}
