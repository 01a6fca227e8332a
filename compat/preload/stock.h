/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls libibverbs' own functions, for what does not belong to a fabric. */
#ifndef PRELOAD_STOCK_H
#define PRELOAD_STOCK_H

#include <errno.h>

#include <ibsa/verbs.h>

#include "verbs/stock_find.h"

/*
 * Call the function @name of libibverbs. If the program has not loaded
 * libibverbs, the result is @missing, with errno ENOSYS.
 */
#define STOCK(missing, name, ...)                                    \
	__extension__({                                              \
		const union {                                        \
			void *address;                               \
			__typeof__(name) *call;                      \
		} stock = { stock_find(#name) };                     \
		if (!stock.address)                                  \
			errno = ENOSYS;                              \
		stock.address ? stock.call(__VA_ARGS__) : (missing); \
	})

/* Return: @err, as the result of a function that returns -1 and sets errno. */
static inline int errno_result(int err)
{
	if (!err)
		return 0;
	errno = err;
	return -1;
}

#endif
