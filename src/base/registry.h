/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process has only once: objects by name, shared by whoever asks for
 * the same, and one number. The only writable state of the library outside
 * its objects.
 */
#ifndef BASE_REGISTRY_H
#define BASE_REGISTRY_H

#include <ibsa/types.h>

#include "base/list.h"

/* Makes the object of a name. Return: 0 and *@out is set, or -errno. */
typedef int (*registry_make_fn)(const char *name, void *arg, void **out);

/*
 * The object of @name, made by @make if there is none yet; each get is to be
 * followed by a put. Thread-safe; while @make runs, others who want the same
 * name wait for it, and nobody else. A forked child starts with an empty
 * registry: it makes its own objects and must not put its parent's.
 *
 * Return: 0; -ENOMEM; or what @make returned.
 */
int ibsa__registry_get(const char *name, registry_make_fn make, void *arg,
		       void **out) IBSA_MUST_USE;

/* The object of @name if there is one, else NULL; to be put as well. Never
 * waits. */
void *ibsa__registry_find(const char *name);

/* One more reference to @object, of which the caller has one; to be put. */
void ibsa__registry_hold(const void *object);

/* No later get or find returns @object: its name is free for another. The
 * references to it stay, and are still to be put. Return: whether it was not
 * hidden before. */
bool ibsa__registry_hide(const void *object);

/* A number of this process: a forked child has another than its parent had
 * when it was called there. Any thread. */
unsigned int ibsa__process(void);

/* How often this process has forked, up to now: if a later call returns another
 * number, a child may have what was open in between. Any thread. */
unsigned int ibsa__children(void);

/* What a child has from its parent and must not touch: kept with the others of
 * that kind, for those who look for leaks. @link is the object's. */
void ibsa__inherit(struct list *link);

/* Let go of @object; the last one calls @destroy. */
void ibsa__registry_put(void *object, void (*destroy)(void *object));

/*
 * What an object embeds that is found by a number, such as a descriptor,
 * instead of a name. Adding one takes no memory.
 */
struct registry_number {
	struct registry_number *next; /* with the same remainder */
	int number;
	unsigned int process; /* ibsa__process() when it was added */
	unsigned int users;
	bool is_hidden;
};

/* Whether any object has a number. Takes no lock. A forked child has its
 * parent's. */
bool ibsa__registry_has_numbers(void);

/* Give @object the number @number, which no other object has any more. It has
 * one user, the caller. */
void ibsa__registry_number_add(struct registry_number *object, int number);

/*
 * The object with that number, which gets one more user, or NULL; then
 * *@out_parents is the object that the parent of a forked child had, or NULL: to
 * be looked at for what does not change, and nothing else.
 */
struct registry_number *
ibsa__registry_number_find(int number,
			   const struct registry_number **out_parents);

/*
 * In a forked child: have @object in the place of its parent's. It has two
 * users, one of which is the caller. Return: @object; or the one that another
 * thread has added meanwhile, with the caller as one more user.
 */
struct registry_number *
ibsa__registry_number_adopt(struct registry_number *object, int number);

/*
 * An object of this process that @is_stale says is not its number's any more. It
 * has one more user, the caller, and is found no more. Its parent's are only
 * hidden. Return: it; or NULL, there is no further one.
 */
struct registry_number *ibsa__registry_number_stale(
	bool (*is_stale)(const struct registry_number *object));

/* One user less. Return: whether it was the last, who is to free @object. */
bool ibsa__registry_number_put(struct registry_number *object);

/*
 * How much the process wants to be told by libibumad's calls: set it, or with
 * a @level below 0 leave it. Return: what it is then. A forked child has its
 * parent's.
 */
int ibsa__registry_debug(int level);

#endif
