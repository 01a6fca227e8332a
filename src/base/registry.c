/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process has only once: objects by name. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/registry.h"

struct entry {
	struct list link;
	char *name;
	void *object; /* NULL: it is being made */
	unsigned int users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER; /* or not */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static atomic_int debug;
static atomic_int remote_ports;
static struct list entries = { &entries, &entries };
static struct list parents = { &parents, &parents }; /* entries */
static struct list inherited = { &inherited, &inherited };
static atomic_uint forks;    /* from the first process to this */
static atomic_uint children; /* of this process, and of those before it */

static void before_fork(void)
{
	atomic_fetch_add(&children, 1);
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* An object that another thread was making is none: its name may stand for one
 * of the process before. */
static void unfinished_entries_drop(void)
{
	struct list *next;

	for (struct list *at = entries.next; at != &entries; at = next) {
		struct entry *entry = list_object(at, struct entry, link);

		next = at->next;
		if (entry->object)
			continue;
		list_remove(at);
		list_append(&inherited, at);
	}
}

/*
 * The objects are the parent's, with locks that other threads may hold: never
 * touched again, but not lost to those who look for leaks.
 */
static void in_child(void)
{
	unfinished_entries_drop();
	list_splice(&parents, &entries);
	atomic_fetch_add(&forks, 1);
	made = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

unsigned int ibsa__process(void)
{
	pthread_once(&fork_once, watch_forks);
	return atomic_load(&forks);
}

unsigned int ibsa__children(void)
{
	pthread_once(&fork_once, watch_forks);
	return atomic_load(&children);
}

void ibsa__inherit(struct list *link)
{
	pthread_mutex_lock(&lock);
	list_append(&inherited, link);
	pthread_mutex_unlock(&lock);
}

/* The last, should there be several: those of a grandparent come first. */
static struct entry *find_in(const struct list *all, const char *name)
{
	for (struct list *at = all->prev; at != all; at = at->prev) {
		struct entry *entry = list_object(at, struct entry, link);

		if (!strcmp(entry->name, name))
			return entry;
	}
	return NULL;
}

static struct entry *find_name(const char *name)
{
	return find_in(&entries, name);
}

static struct entry *find_object(const void *object)
{
	for (struct list *at = entries.next; at != &entries; at = at->next) {
		struct entry *entry = list_object(at, struct entry, link);

		if (entry->object == object)
			return entry;
	}
	return NULL;
}

static void entry_free(struct entry *entry)
{
	ibsa__free(entry->name);
	ibsa__free(entry);
}

static struct entry *entry_new(const char *name)
{
	struct entry *entry = ibsa__calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->name = ibsa__strdup(name);
	if (!entry->name) {
		entry_free(entry);
		return NULL;
	}
	list_append(&entries, &entry->link);
	return entry;
}

/* Make the object of @name, for which others wait. Unlocked meanwhile: it may
 * take its time, a fork then too. */
static int add(const char *name, registry_make_fn make, void *arg,
	       struct entry **out)
{
	struct entry *entry = entry_new(name);
	void *object;
	int err;

	if (!entry)
		return -ENOMEM;
	pthread_mutex_unlock(&lock);
	err = make(name, arg, &object);
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&made);
	if (err) {
		list_remove(&entry->link);
		entry_free(entry);
		return err;
	}
	entry->object = object;
	*out = entry;
	return 0;
}

/* The entry of @name with its object, or NULL; if it is being made, when that
 * has come to its end. */
static struct entry *await_name(const char *name)
{
	struct entry *entry;

	while ((entry = find_name(name)) && !entry->object)
		pthread_cond_wait(&made, &lock);
	return entry;
}

int ibsa__registry_get(const char *name, registry_make_fn make, void *arg,
		       void **out)
{
	struct entry *entry;
	int err = 0;

	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&lock);
	entry = await_name(name);
	if (!entry)
		err = add(name, make, arg, &entry);
	if (!err) {
		entry->users++;
		*out = entry->object;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void *ibsa__registry_find(const char *name)
{
	struct entry *entry;
	void *object = NULL;

	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&lock);
	entry = find_name(name);
	if (entry && entry->object) {
		entry->users++;
		object = entry->object;
	}
	pthread_mutex_unlock(&lock);
	return object;
}

void ibsa__registry_hold(const void *object)
{
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = find_object(object);
	if (entry)
		entry->users++;
	pthread_mutex_unlock(&lock);
}

/* No object has the empty name. */
bool ibsa__registry_hide(const void *object)
{
	struct entry *entry;
	bool was_found;

	pthread_mutex_lock(&lock);
	entry = find_object(object);
	was_found = entry && *entry->name;
	if (was_found)
		*entry->name = '\0';
	pthread_mutex_unlock(&lock);
	return was_found;
}

const void *ibsa__registry_inherited(const char *name)
{
	const struct entry *entry;
	const void *object = NULL;

	pthread_mutex_lock(&lock);
	entry = find_in(&parents, name);
	if (entry)
		object = entry->object;
	pthread_mutex_unlock(&lock);
	return object;
}

void ibsa__registry_inherited_forget(const char *name)
{
	struct entry *entry;

	pthread_mutex_lock(&lock);
	while ((entry = find_in(&parents, name))) {
		list_remove(&entry->link);
		list_append(&inherited, &entry->link);
	}
	pthread_mutex_unlock(&lock);
}

void ibsa__registry_put(void *object, void (*destroy)(void *object))
{
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = find_object(object);
	if (entry && !--entry->users) {
		list_remove(&entry->link);
		entry_free(entry);
	} else {
		object = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (object)
		destroy(object);
}

int ibsa__registry_remote_ports(int change)
{
	if (!change)
		return atomic_load_explicit(&remote_ports,
					    memory_order_relaxed);
	return atomic_fetch_add(&remote_ports, change) + change;
}

int ibsa__registry_debug(int level)
{
	if (level >= 0)
		atomic_store_explicit(&debug, level, memory_order_relaxed);
	return atomic_load_explicit(&debug, memory_order_relaxed);
}
