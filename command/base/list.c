/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow by one element at a time. */
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "base/list.h"

/* The array has room for the next power of two. */
void *list_add(void *list, size_t *count, size_t size)
{
	char *all;

	memcpy(&all, list, sizeof(all));
	if (!(*count & (*count - 1))) {
		all = reallocarray(all, *count ? 2 * *count : 1, size);
		if (!all)
			return NULL;
		memcpy(list, &all, sizeof(all));
	}
	return memset(all + (*count)++ * size, 0, size);
}

int list_put(void *list, size_t *count, const void *item, size_t size)
{
	void *added = list_add(list, count, size);

	if (!added)
		return no_memory();
	memcpy(added, item, size);
	return CLI_DONE;
}
