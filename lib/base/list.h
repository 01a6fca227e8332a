/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Doubly linked lists. The links are members of the objects. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The head of a list, or a link, which is a member of an object in the list.
 * In an empty list, the head points to itself.
 */
struct list {
	struct list *next;
	struct list *prev;
};

/* Return: the object of type @type whose member @link has the address @at. */
#define list_object(at, type, link) \
	((type *)(void *)((char *)(at)-offsetof(type, link)))

/*
 * Run the statement after the macro for each object of @list, whose objects are
 * linked by their member @link. With LIST_EACH_SAFE, the statement may remove
 * @object from the list; @next is the object after it.
 */
#define LIST_EACH(object, list, link)                                       \
	for (object = list_object((list)->next, __typeof__(*object), link); \
	     &object->link != (list);                                       \
	     object = list_object(object->link.next, __typeof__(*object),   \
				  link))
#define LIST_EACH_SAFE(object, next, list, link)                              \
	for (object = list_object((list)->next, __typeof__(*object), link),   \
	    next = list_object(object->link.next, __typeof__(*object), link); \
	     &object->link != (list); object = next,                          \
	    next = list_object(object->link.next, __typeof__(*object), link))

static inline void list_init(struct list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_is_empty(const struct list *list)
{
	return list->next == list;
}

static inline void list_append(struct list *list, struct list *link)
{
	link->next = list;
	link->prev = list->prev;
	list->prev->next = link;
	list->prev = link;
}

/* Remove @link from its list; the content of @link is undefined afterwards. */
static inline void list_take(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* Remove @link from its list; afterwards @link is the head of an empty list. */
static inline void list_remove(struct list *link)
{
	list_take(link);
	list_init(link);
}

/* Move all elements of the list @from to the end of the list @to. */
static inline void list_splice(struct list *to, struct list *from)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#endif
