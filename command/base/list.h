/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow by one element at a time. */
#ifndef COMMAND_LIST_H
#define COMMAND_LIST_H

#include <stddef.h>

/*
 * Add an element of @size bytes to an array of *@count elements, to which the
 * pointer at @list leads; it is NULL if the array is empty. Only these two
 * functions may make the array larger. Return: the new element, which is zero;
 * NULL: no memory, and nothing has changed.
 */
void *list_add(void *list, size_t *count, size_t size);

/* Add a copy of @item. Return: the exit status; a failure is printed. */
int list_put(void *list, size_t *count, const void *item, size_t size);

#endif
