/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State of which a process has one: objects by name, objects by number, and the
 * debug level. This is the only writable state of the library outside its
 * objects.
 */
#ifndef BASE_REGISTRY_H
#define BASE_REGISTRY_H

#include <stdatomic.h>

#include <ibsa/types.h>

#include "base/list.h"

/* Makes the object of a name. Return: 0 and *@out is set, or -errno. */
typedef int (*registry_make_fn)(const char *name, void *arg, void **out);

/*
 * The object of @name, which @make makes if there is none; each get is followed
 * by a put. Any thread. While @make runs, only threads that get the same name
 * wait. A forked child has none of its parent's objects: it makes its own and
 * must not put its parent's.
 *
 * Return: 0; -ENOMEM; or the error of @make.
 */
int ibsa__registry_get(const char *name, registry_make_fn make, void *arg,
		       void **out) IBSA_MUST_USE;

/*
 * The object of @name, which the caller puts; NULL if there is none, or if it
 * is being made. Never waits for @make.
 */
void *ibsa__registry_find(const char *name);

/*
 * Add a reference to @object, of which the caller has one. The caller also puts
 * the new reference.
 */
void ibsa__registry_hold(const void *object);

/*
 * Take the name from @object, so that no later get or find returns it, and
 * another object can have the name. Existing references stay valid, and their
 * owners still put them. Return: whether @object had its name.
 */
bool ibsa__registry_hide(const void *object);

/*
 * Remove a reference to @object; @destroy is called when the last reference is
 * removed.
 */
void ibsa__registry_put(void *object, void (*destroy)(void *object));

/* A number that a forked child does not share with its parent. Any thread. */
unsigned int ibsa__process(void);

/*
 * The number of forks of this process and those before it. If two calls return
 * different numbers, a child may have the descriptors that were open between
 * them. Any thread.
 */
unsigned int ibsa__children(void);

/*
 * Keep an object of the parent in a forked child, which must not use it: leak
 * checkers then find it. @link is in the object.
 */
void ibsa__inherit(struct list *link);

/*
 * An object that is found by a number, such as a descriptor. The functions of
 * slots take no lock: a signal handler may call them wherever it interrupts the
 * program, and so may a child that is forked at any moment. A slot is never
 * freed: after its object it holds another.
 *
 * A forked child has the objects of its parent, none of which is in use.
 */
struct registry_slot {
	struct registry_slot *next;
	atomic_int number; /* -1: no object */
	atomic_uint mark;  /* distinguishes the object from later objects with
			   * the same number */
	atomic_uint uses;
	void *object; /* only for users of the slot */
};

typedef bool (*registry_slot_is_fn)(const struct registry_slot *slot,
				    int number);

/* Add an object, which is found until it is closed. Return: 0; -ENOMEM. */
int ibsa__registry_slot_add(int number, unsigned int mark,
			    void *object) IBSA_MUST_USE;

/* Whether an object has that number. */
bool ibsa__registry_has_slot(int number);

/*
 * The first slot for which @is_wanted returns true, or NULL. The caller puts
 * the slot with ibsa__registry_slot_put(). @is_wanted may read only the number
 * and the mark, since it is also called when the slot is not in use. @destroy
 * is as for ibsa__registry_slot_put().
 */
struct registry_slot *ibsa__registry_slot_get(registry_slot_is_fn is_wanted,
					      int number,
					      void (*destroy)(void *object));

/*
 * Let the last put of the slot destroy the object. May be called several times.
 */
void ibsa__registry_slot_close(struct registry_slot *slot);

/*
 * Stop using the slot. @destroy is called if the slot is closed and this was
 * its last use.
 */
void ibsa__registry_slot_put(struct registry_slot *slot,
			     void (*destroy)(void *object));

/*
 * Set the level of libibumad's debug output, unless @level is below 0. Return:
 * the level after that. A forked child has the level of its parent.
 */
int ibsa__registry_debug(int level);

#endif
