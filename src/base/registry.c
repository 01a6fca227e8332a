/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process has only once: objects by name or number. */
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
static struct registry_number *numbers[64]; /* by number % 64 */
static atomic_uint number_count;	    /* of those that are not hidden */
static struct list entries = { &entries, &entries };
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

/*
 * The objects are the parent's, with locks that other threads may hold: never
 * touched again, but not lost to those who look for leaks.
 */
static void in_child(void)
{
	list_splice(&inherited, &entries);
	atomic_fetch_add(&forks, 1);
	made = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	pthread_mutex_unlock(&lock);
}

/*
 * The handlers may have been installed before this process was forked, by a
 * thread that had not returned from pthread_once(): in the child it runs again.
 * Installed twice, before_fork() would wait for the lock that it has taken.
 */
static void watch_forks(void)
{
	if (!atomic_load(&forks))
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

static struct entry *find_name(const char *name)
{
	for (struct list *at = entries.next; at != &entries; at = at->next) {
		struct entry *entry = list_object(at, struct entry, link);

		if (!strcmp(entry->name, name))
			return entry;
	}
	return NULL;
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

bool ibsa__registry_has_numbers(void)
{
	return atomic_load_explicit(&number_count, memory_order_relaxed);
}

static struct registry_number **numbers_like(int number)
{
	return &numbers[(unsigned int)number %
			(sizeof(numbers) / sizeof(numbers[0]))];
}

/* The object with the number, of this process or, if @is_parents, of an
 * earlier one. */
static struct registry_number *number_find(int number, bool is_parents)
{
	const unsigned int process = atomic_load(&forks);
	struct registry_number *at = *numbers_like(number);

	while (at && (at->number != number || at->is_hidden ||
		      (at->process != process) != is_parents))
		at = at->next;
	return at;
}

static void number_hide(struct registry_number *object)
{
	if (!object)
		return;
	object->is_hidden = true;
	atomic_fetch_sub(&number_count, 1);
}

static void number_insert(struct registry_number *object, int number,
			  unsigned int users)
{
	struct registry_number **first = numbers_like(number);

	*object = (struct registry_number){
		.next = *first,
		.number = number,
		.process = atomic_load(&forks),
		.users = users,
	};
	*first = object;
	atomic_fetch_add(&number_count, 1);
}

void ibsa__registry_number_add(struct registry_number *object, int number)
{
	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&lock);
	number_hide(number_find(number, false));
	number_hide(number_find(number, true));
	number_insert(object, number, 1);
	pthread_mutex_unlock(&lock);
}

struct registry_number *
ibsa__registry_number_find(int number,
			   const struct registry_number **out_parents)
{
	struct registry_number *object;

	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&lock);
	object = number_find(number, false);
	if (object)
		object->users++;
	else
		*out_parents = number_find(number, true);
	pthread_mutex_unlock(&lock);
	return object;
}

struct registry_number *
ibsa__registry_number_adopt(struct registry_number *object, int number)
{
	struct registry_number *other;

	pthread_mutex_lock(&lock);
	other = number_find(number, false);
	if (other) {
		object = other;
		object->users++;
	} else {
		number_hide(number_find(number, true));
		number_insert(object, number, 2);
	}
	pthread_mutex_unlock(&lock);
	return object;
}

static struct registry_number *
stale_hide(struct registry_number *at,
	   bool (*is_stale)(const struct registry_number *object))
{
	const unsigned int process = atomic_load(&forks);

	for (; at; at = at->next) {
		if (at->is_hidden || !is_stale(at))
			continue;
		number_hide(at);
		if (at->process != process)
			continue;
		at->users++;
		return at;
	}
	return NULL;
}

struct registry_number *ibsa__registry_number_stale(
	bool (*is_stale)(const struct registry_number *object))
{
	struct registry_number *object = NULL;

	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&lock);
	for (size_t i = 0; !object && i < sizeof(numbers) / sizeof(numbers[0]);
	     i++)
		object = stale_hide(numbers[i], is_stale);
	pthread_mutex_unlock(&lock);
	return object;
}

bool ibsa__registry_number_put(struct registry_number *object)
{
	struct registry_number **at;
	bool is_last;

	pthread_mutex_lock(&lock);
	is_last = !--object->users;
	if (is_last && !object->is_hidden)
		number_hide(object);
	if (is_last) {
		for (at = numbers_like(object->number); *at != object;)
			at = &(*at)->next;
		*at = object->next;
	}
	pthread_mutex_unlock(&lock);
	return is_last;
}

int ibsa__registry_debug(int level)
{
	if (level >= 0)
		atomic_store_explicit(&debug, level, memory_order_relaxed);
	return atomic_load_explicit(&debug, memory_order_relaxed);
}
