/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The registry: objects that all threads of the process share, found by name
 * or by number.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/registry.h"

struct entry {
	_Atomic(struct entry *) next;
	/* Value of ibsa__process() when the entry was added. */
	unsigned int process;
	char *name;
	void *object; /* NULL: a thread is making it */
	unsigned int users;
};

/*
 * Values that make up the use counter of a slot: the bit SLOT_OPEN, and
 * SLOT_USER for each use of the slot, from a get to its put.
 */
enum { SLOT_FREE = 0, SLOT_OPEN = 1, SLOT_USER = 2 };

enum { FIRST_SLOTS = 64 };

/*
 * Value of a slot's use counter while a thread sets or removes its object;
 * other threads do not use the slot meanwhile.
 */
#define SLOT_CLAIMED UINT_MAX

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made =
	PTHREAD_COND_INITIALIZER; /* also signalled if @make fails */
static atomic_int debug;
static atomic_bool environment_is_ignored;
static _Atomic(struct registry_slot *) slots;
static struct registry_slot first_slots[FIRST_SLOTS];
static atomic_uint first_count; /* number of used elements of @first_slots */
static _Atomic(struct entry *) entries;
static struct list inherited = { &inherited, &inherited };
/*
 * Number of forks that lead from the first process with this library to this
 * process.
 */
static atomic_uint forks;
/* Number of forks that this process and its ancestors have made. */
static atomic_uint children;

/*
 * Called before a fork. The handler must take no lock: after it, fork() waits
 * for the locks of malloc(). If a signal handler interrupts a thread that holds
 * such a lock, and calls this library, the signal handler would wait for the
 * lock of the library: a deadlock.
 */
static void registry_before_fork(void)
{
	atomic_fetch_add(&children, 1);
}

static bool slot_is_in_use(unsigned int uses)
{
	return uses != SLOT_FREE && uses != SLOT_CLAIMED;
}

/*
 * In a forked child, end all uses of slots: the threads that used them do not
 * exist in the child. A slot that was closed but still in use is open again,
 * and a slot that a thread was setting or removing is free.
 */
static void slots_reset(void)
{
	struct registry_slot *slot = atomic_load(&slots);

	for (; slot; slot = slot->next)
		atomic_store(&slot->uses,
			     slot_is_in_use(atomic_load(&slot->uses))
				     ? SLOT_OPEN
				     : SLOT_FREE);
}

/*
 * Runs in a forked child. Another thread of the parent may have held the
 * registry's lock during the fork, so the lock is initialised again. The
 * child's copy of slots and entries is complete: a new slot or entry is linked
 * into its list by one write, after its content was written.
 */
static void registry_in_child(void)
{
	atomic_fetch_add(&forks, 1);
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	made = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	slots_reset();
}

__attribute__((constructor)) static void forks_watch(void)
{
	pthread_atfork(registry_before_fork, NULL, registry_in_child);
}

unsigned int ibsa__process(void)
{
	return atomic_load(&forks);
}

const atomic_uint *ibsa__process_number(void)
{
	return &forks;
}

unsigned int ibsa__children(void)
{
	return atomic_load(&children);
}

void ibsa__inherit(struct list *link)
{
	pthread_mutex_lock(&lock);
	list_append(&inherited, link);
	pthread_mutex_unlock(&lock);
}

/*
 * Whether an entry was made in this process. A forked child does not use an
 * entry of its parent, whose object may be incomplete or locked.
 */
static bool entry_is_own(const struct entry *entry)
{
	return entry->process == atomic_load(&forks);
}

static struct entry *entry_find_name(const char *name)
{
	struct entry *entry = atomic_load(&entries);

	while (entry &&
	       (!entry_is_own(entry) || strcmp(entry->name, name) != 0))
		entry = atomic_load(&entry->next);
	return entry;
}

static struct entry *entry_find_object(const void *object)
{
	struct entry *entry = atomic_load(&entries);

	while (entry && (!entry_is_own(entry) || entry->object != object))
		entry = atomic_load(&entry->next);
	return entry;
}

static void entry_free(struct entry *entry)
{
	if (entry)
		ibsa__free(entry->name);
	ibsa__free(entry);
}

static struct entry *entry_new(const char *name)
{
	struct entry *entry = ibsa__calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->process = atomic_load(&forks);
	entry->name = ibsa__strdup(name);
	if (!entry->name) {
		ibsa__free(entry);
		return NULL;
	}
	return entry;
}

static void entry_remove(struct entry *entry)
{
	_Atomic(struct entry *) *at = &entries;

	while (atomic_load(at) != entry)
		at = &atomic_load(at)->next;
	atomic_store(at, atomic_load(&entry->next));
}

/*
 * Make the object of @entry, while threads that get the same name wait for it.
 * @make runs without the registry's lock, because it may take long, and may
 * fork.
 */
static int entry_make(struct entry *entry, registry_make_fn make, void *arg)
{
	void *object;
	int err;

	atomic_store(&entry->next, atomic_load(&entries));
	atomic_store(&entries, entry);
	pthread_mutex_unlock(&lock);
	err = make(entry->name, arg, &object);
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&made);
	if (err)
		entry_remove(entry);
	else
		entry->object = object;
	return err;
}

/*
 * Find the entry of @name. If another thread is making its object, wait until
 * it is made. Return: the entry; or NULL.
 */
static struct entry *entry_await(const char *name)
{
	struct entry *entry;

	while ((entry = entry_find_name(name)) && !entry->object)
		pthread_cond_wait(&made, &lock);
	return entry;
}

int ibsa__registry_get(const char *name, registry_make_fn make, void *arg,
		       void **out)
{
	struct entry *spare = NULL;
	struct entry *entry;
	int err = 0;

	pthread_mutex_lock(&lock);
	while (!(entry = entry_await(name)) && !spare) {
		pthread_mutex_unlock(&lock);
		spare = entry_new(name);
		if (!spare)
			return -ENOMEM;
		pthread_mutex_lock(&lock);
	}
	if (!entry) {
		entry = spare;
		spare = NULL;
		err = entry_make(entry, make, arg);
	}
	if (err) {
		spare = entry;
	} else {
		entry->users++;
		*out = entry->object;
	}
	pthread_mutex_unlock(&lock);
	entry_free(spare);
	return err;
}

void *ibsa__registry_find(const char *name)
{
	struct entry *entry;
	void *object = NULL;

	pthread_mutex_lock(&lock);
	entry = entry_find_name(name);
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
	entry = entry_find_object(object);
	if (entry)
		entry->users++;
	pthread_mutex_unlock(&lock);
}

/* Remove the name of @object. An entry without a name has the empty name. */
bool ibsa__registry_hide(const void *object)
{
	struct entry *entry;
	bool was_found;

	pthread_mutex_lock(&lock);
	entry = entry_find_object(object);
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
	entry = entry_find_object(object);
	if (entry && --entry->users)
		entry = NULL;
	if (entry)
		entry_remove(entry);
	pthread_mutex_unlock(&lock);
	if (!entry)
		return;
	entry_free(entry);
	destroy(object);
}

static bool slot_hold(struct registry_slot *slot)
{
	unsigned int uses = atomic_load(&slot->uses);

	while (slot_is_in_use(uses))
		if (atomic_compare_exchange_weak(&slot->uses, &uses,
						 uses + SLOT_USER))
			return true;
	return false;
}

/*
 * Claim a free slot, so that no other thread uses it. Return: the slot; NULL
 * if no slot is free.
 */
static struct registry_slot *slot_claim(void)
{
	struct registry_slot *slot = atomic_load(&slots);
	unsigned int uses;

	for (; slot; slot = slot->next) {
		uses = SLOT_FREE;
		if (atomic_compare_exchange_strong(&slot->uses, &uses,
						   SLOT_CLAIMED))
			break;
	}
	return slot;
}

/*
 * The first slots need no memory of malloc(), which a signal handler must not
 * call, and which would stay behind when the library is unloaded.
 */
static struct registry_slot *slot_alloc(void)
{
	unsigned int count = atomic_load(&first_count);

	while (count < FIRST_SLOTS)
		if (atomic_compare_exchange_weak(&first_count, &count,
						 count + 1))
			return &first_slots[count];
	return ibsa__calloc(1, sizeof(struct registry_slot));
}

static struct registry_slot *slot_new(void)
{
	struct registry_slot *slot = slot_alloc();

	if (!slot)
		return NULL;
	atomic_init(&slot->uses, SLOT_CLAIMED);
	slot->next = atomic_load(&slots);
	while (!atomic_compare_exchange_weak(&slots, &slot->next, slot))
		;
	return slot;
}

int ibsa__registry_slot_add(int number, unsigned int mark, void *object)
{
	struct registry_slot *slot = slot_claim();

	if (!slot)
		slot = slot_new();
	if (!slot)
		return -ENOMEM;
	atomic_store(&slot->number, number);
	atomic_store(&slot->mark, mark);
	slot->object = object;
	atomic_store(&slot->uses, SLOT_OPEN);
	return 0;
}

bool ibsa__registry_has_slot(int number)
{
	const struct registry_slot *slot = atomic_load(&slots);

	while (slot && atomic_load(&slot->number) != number)
		slot = slot->next;
	return slot;
}

/*
 * The object may have been replaced before the slot was marked as used: check
 * once more whether it is wanted.
 */
struct registry_slot *ibsa__registry_slot_get(registry_slot_is_fn is_wanted,
					      int number,
					      void (*destroy)(void *object))
{
	struct registry_slot *slot = atomic_load(&slots);

	for (; slot; slot = slot->next) {
		if (!is_wanted(slot, number) || !slot_hold(slot))
			continue;
		if (is_wanted(slot, number))
			break;
		ibsa__registry_slot_put(slot, destroy);
	}
	return slot;
}

bool ibsa__registry_slot_close(struct registry_slot *slot)
{
	return atomic_fetch_and(&slot->uses, ~(unsigned int)SLOT_OPEN) &
	       SLOT_OPEN;
}

void ibsa__registry_slot_put(struct registry_slot *slot,
			     void (*destroy)(void *object))
{
	unsigned int uses = atomic_load(&slot->uses);
	void *object;

	while (!atomic_compare_exchange_weak(
		&slot->uses, &uses,
		uses == SLOT_USER ? SLOT_CLAIMED : uses - SLOT_USER))
		;
	if (uses != SLOT_USER)
		return;
	object = slot->object;
	atomic_store(&slot->number, -1);
	atomic_store(&slot->uses, SLOT_FREE);
	destroy(object);
}

int ibsa__registry_debug(int level)
{
	if (level >= 0)
		atomic_store_explicit(&debug, level, memory_order_relaxed);
	return atomic_load_explicit(&debug, memory_order_relaxed);
}

void ibsa__environment_ignore(void)
{
	atomic_store(&environment_is_ignored, true);
}

bool ibsa__environment_is_ignored(void)
{
	return atomic_load(&environment_is_ignored);
}
