/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds functions of libibverbs, which the program has loaded. */
#ifndef VERBS_STOCK_FIND_H
#define VERBS_STOCK_FIND_H

#include <dlfcn.h>
#include <stddef.h>

#include "base/interrupt.h"

/*
 * Find the function @name of libibverbs. A program that has a context of
 * libibverbs has loaded it, perhaps with RTLD_LOCAL. The search begins at
 * libibverbs itself, because in the program's search order a preload library
 * may come first. Signals are blocked meanwhile, since a handler would find
 * the loader's lock taken. Return: NULL if libibverbs is not loaded.
 */
static inline void *stock_find(const char *name)
{
	struct interrupts before;
	void *address = NULL;
	void *library;

	interrupts_hold(&before);
	library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (library) {
		address = dlsym(library, name);
		dlclose(library);
	}
	interrupts_restore(&before);
	return address;
}

#endif
