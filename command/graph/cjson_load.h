/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of libcjson that this command calls. libcjson is loaded when it
 * is needed: loading it takes ten system calls, and queries do not need it.
 */
#ifndef COMMAND_CJSON_LOAD_H
#define COMMAND_CJSON_LOAD_H

#include <cjson/cJSON.h>

/* clang-format off */
#define CJSON_FUNCTIONS(F)                                               \
	F(cJSON_Delete) F(cJSON_InitHooks) F(cJSON_ParseWithLengthOpts)  \
	F(cJSON_PrintUnformatted)
/* clang-format on */

/* The functions under their own names; valid if @library is not NULL. */
struct libcjson {
	void *library;
#define CJSON_POINTER(name) __typeof__(name) *name;
	CJSON_FUNCTIONS(CJSON_POINTER)
#undef CJSON_POINTER
};

/* Return: 0, or -1, and dlerror() explains it. */
int libcjson_load(struct libcjson *cjson);

#endif
