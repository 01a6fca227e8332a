/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state that exists once in a process: objects found by name, objects
 * found by number, whether environment variables are ignored, and the debug
 * level. No other variable of the library
 * outside its objects is written.
 */
#ifndef BASE_REGISTRY_H
#define BASE_REGISTRY_H

#include <stdatomic.h>

#include <ibsa/types.h>

#include "base/list.h"

/*
 * Makes the object that belongs to @name, and sets *@out to it. Return: 0 or
 * -errno.
 */
typedef int (*registry_make_fn)(const char *name, void *arg, void **out);

/*
 * Get the object of @name and a reference to it; if there is no object, call
 * @make to make it. The caller puts the reference. Any thread may call this.
 * While @make runs, only threads that get the same name wait. A forked child
 * cannot get the objects of its parent: it makes its own, and must not put its
 * parent's.
 *
 * Return: 0; -ENOMEM; or the error of @make.
 */
int ibsa__registry_get(const char *name, registry_make_fn make, void *arg,
		       void **out) IBSA_MUST_USE;

/*
 * Return: the object of @name, with a reference that the caller puts; NULL if
 * there is no object, or another thread is still making it: the call does not
 * wait for that.
 */
void *ibsa__registry_find(const char *name);

/*
 * Add a reference to @object. The caller must already have a reference, and
 * puts both.
 */
void ibsa__registry_hold(const void *object);

/*
 * Remove the name of @object: later calls of get or find do not return it, and
 * another object may get the name. Existing references stay valid, and their
 * owners put them. Return: false if @object had no name any more.
 */
bool ibsa__registry_hide(const void *object);

/*
 * Remove a reference to @object; @destroy is called when the last reference is
 * removed.
 */
void ibsa__registry_put(void *object, void (*destroy)(void *object));

/*
 * Return: a number of this process that differs from its parent's. Any thread
 * may call this.
 */
unsigned int ibsa__process(void);

/*
 * Return: where the number is that ibsa__process() returns, for code that
 * compares it very often.
 */
const atomic_uint *ibsa__process_number(void);

/*
 * Return: the number of forks that this process and its ancestors have made.
 * If two calls return different numbers, a child may have copies of the
 * descriptors that were open between the calls. Any thread may call this.
 */
unsigned int ibsa__children(void);

/*
 * Called in a forked child, which must not use the parent's object that
 * contains @link: keep the object in a list, so that leak checkers do not
 * report it.
 */
void ibsa__inherit(struct list *link);

/*
 * An object that is found by a number, such as a file descriptor. The
 * functions of slots take no lock, so that a signal handler may call them at
 * any time, and so may a child that was forked at any time. A slot is never
 * freed: after its object is destroyed, it is used for another object.
 *
 * A forked child has slots with the objects of its parent, but none of the
 * parent's uses of them.
 */
struct registry_slot {
	struct registry_slot *next;
	atomic_int number; /* -1: no object */
	/*
	 * Tells this object from a later object with the same @number: their
	 * marks differ.
	 */
	atomic_uint mark;
	atomic_uint uses;
	void *object; /* only for users of the slot */
};

typedef bool (*registry_slot_is_fn)(const struct registry_slot *slot,
				    int number);

/*
 * Add an object that is found by @number and @mark until its slot is closed and
 * no longer in use. Return: 0; -ENOMEM.
 */
int ibsa__registry_slot_add(int number, unsigned int mark,
			    void *object) IBSA_MUST_USE;

/* Return: whether the registry has an object with this number. */
bool ibsa__registry_has_slot(int number);

/*
 * Return: the first slot in use for which @is_wanted returns true, or NULL. The
 * caller puts the slot with ibsa__registry_slot_put(). @is_wanted may read only
 * the number and the mark of a slot, since it is called for free slots, too.
 * @destroy is as for ibsa__registry_slot_put().
 */
struct registry_slot *ibsa__registry_slot_get(registry_slot_is_fn is_wanted,
					      int number,
					      void (*destroy)(void *object));

/*
 * Close the slot: the last put of the slot then destroys its object. The caller
 * has the slot by a get, so that its own put still follows. A second call has
 * no effect. Return: whether the slot was not closed before.
 */
bool ibsa__registry_slot_close(struct registry_slot *slot);

/*
 * End a use of the slot. If the slot is closed and this was its last use, call
 * @destroy for its object.
 */
void ibsa__registry_slot_put(struct registry_slot *slot,
			     void (*destroy)(void *object));

/*
 * Let ibsa__environment_read() return no variables from now on, in this process
 * and its children. Any thread may call these two functions.
 */
void ibsa__environment_ignore(void);

/* Return: whether ibsa__environment_ignore() was called. */
bool ibsa__environment_is_ignored(void);

/*
 * Set the level of libibumad's debug output to @level; if @level is negative,
 * leave it unchanged. Return: the resulting level. A forked child starts with
 * the level of its parent.
 */
int ibsa__registry_debug(int level);

#endif
