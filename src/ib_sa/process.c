/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The object that a process has once: the lock, the ids of queries, and the
 * registered clients. It exists while a client is registered or a device is
 * open.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/registry.h"
#include "ib_sa/subject.h"
#include "ib_sa/state.h"

/* The registry contains fabrics by their file names; no file has this name. */
static const char name[] = "//ib_sa";

/* With the clock of clock_now_ns(). */
static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static int sa_new(const char *unused_name, void *unused_arg, void **out)
{
	struct ibsa__sa *sa = ibsa__calloc(1, sizeof(*sa));

	(void)unused_name;
	(void)unused_arg;
	if (!sa)
		return -1;
	sa->process = ibsa__process();
	pthread_mutex_init(&sa->lock, NULL);
	cond_init(&sa->ended);
	list_init(&sa->devices);
	list_init(&sa->subjects);
	list_init(&sa->members);
	ibsa__pool_init(&sa->queries, sizeof(struct sa_query));
	/*
	 * Programs may still have tickets of an earlier object, so these do not
	 * begin at 1.
	 */
	sa->first_ticket = (uintptr_t)clock_now_ns();
	sa->subject_ticket = sa->first_ticket;
	*out = sa;
	return 0;
}

static void sa_destroy(void *object)
{
	struct ibsa__sa *sa = object;

	ibsa__pool_done(&sa->queries);
	ibsa__free(sa->slots);
	ibsa__free(sa->slot_tickets);
	ibsa__free(sa->free_ids);
	pthread_cond_destroy(&sa->ended);
	pthread_mutex_destroy(&sa->lock);
	ibsa__free(sa);
}

struct ibsa__sa *ibsa__sa_get(void)
{
	void *sa;

	return ibsa__registry_get(name, sa_new, NULL, &sa) ? NULL : sa;
}

struct ibsa__sa *ibsa__sa_find(void)
{
	return ibsa__registry_find(name);
}

void ibsa__sa_put(struct ibsa__sa *sa)
{
	ibsa__registry_put(sa, sa_destroy);
}

bool ibsa__sa_is_ours(const struct ibsa__sa *sa)
{
	return sa->process == ibsa__process();
}

uintptr_t ibsa__sa_ticket_first(const struct ibsa__sa *sa, uint32_t id)
{
	/* First tickets are far apart, so that no ticket belongs to two ids. */
	const uint64_t apart = id * UINT64_C(0x9e3779b97f4a7c15);

	return (sa->first_ticket + (uintptr_t)apart) | 1;
}

uintptr_t ibsa__sa_ticket_next(uintptr_t ticket)
{
	return ticket == UINTPTR_MAX ? 1 : ticket + 1;
}

/* Double the number of ids, with the lowest on top of the stack. */
static bool ids_grow(struct ibsa__sa *sa)
{
	const uint32_t count = sa->slot_count ? 2 * sa->slot_count : 64;
	struct sa_query **slots;
	uintptr_t *tickets;
	uint32_t *ids;

	if (count > INT32_MAX)
		return false;
	slots = ibsa__realloc(sa->slots, count, sizeof(struct sa_query *));
	if (!slots)
		return false;
	sa->slots = slots;
	tickets = ibsa__realloc(sa->slot_tickets, count, sizeof(*tickets));
	if (!tickets)
		return false;
	sa->slot_tickets = tickets;
	ids = ibsa__realloc(sa->free_ids, count, sizeof(*ids));
	if (!ids)
		return false;
	sa->free_ids = ids;
	for (uint32_t id = count; id-- > sa->slot_count;) {
		slots[id] = NULL;
		tickets[id] = ibsa__sa_ticket_first(sa, id);
		ids[sa->free_count++] = id;
	}
	sa->slot_count = count;
	return true;
}

struct sa_query *ibsa__sa_query_new(struct ibsa__sa *sa)
{
	struct sa_query *query;
	uint32_t id;

	if (!sa->free_count && !ids_grow(sa))
		return NULL;
	query = ibsa__pool_take(&sa->queries);
	if (!query)
		return NULL;
	id = sa->free_ids[--sa->free_count];
	sa->slot_tickets[id] = ibsa__sa_ticket_next(sa->slot_tickets[id]);
	*query = (struct sa_query){
		.id = id,
		.ticket = sa->slot_tickets[id],
	};
	list_init(&query->start.link);
	list_init(&query->cancel.link);
	sa->slots[query->id] = query;
	return query;
}

/*
 * An id for which all tickets were used is not used again. With 32-bit
 * pointers, that is the case after four billion queries with one id.
 */
void ibsa__sa_query_free(struct ibsa__sa *sa, struct sa_query *query)
{
	sa->slots[query->id] = NULL;
	if (sa->slot_tickets[query->id] != ibsa__sa_ticket_first(sa, query->id))
		sa->free_ids[sa->free_count++] = query->id;
	ibsa__pool_give(&sa->queries, query);
}

struct sa_query *ibsa__sa_query_find(const struct ibsa__sa *sa, int id,
				     uintptr_t ticket)
{
	struct sa_query *query;

	if (id < 0 || (uint32_t)id >= sa->slot_count)
		return NULL;
	query = sa->slots[id];
	return query && query->ticket == ticket ? query : NULL;
}

void ib_sa_register_client(struct ib_sa_client *client)
{
	*client = (struct ib_sa_client){ .sa = ibsa__sa_get(), .users = 1 };
}

/* Inside a callback: the queries in flight go on without the client. */
static void client_forget(struct ibsa__sa *sa, struct ib_sa_client *client)
{
	for (uint32_t id = 0; id < sa->slot_count; id++) {
		if (sa->slots[id] && sa->slots[id]->client == client)
			sa->slots[id]->client = NULL;
	}
	ibsa__sa_subjects_forget(sa, client);
	client->users = 1;
}

/* Whether a device needs a thread that dispatches it. */
static bool has_idle_device(const struct ibsa__sa *sa)
{
	const struct list *at = sa->devices.next;

	for (; at != &sa->devices; at = at->next) {
		if (ibsa__sa_loop_is_idle(
			    list_object(at, struct ib_device, link)))
			return true;
	}
	return false;
}

/*
 * Find a device without a worker that is not being dispatched, and take over
 * dispatching it. The search begins at slot *@at, where the last call found a
 * query: most searches among very many queries then end at once.
 */
static struct ib_device *idle_device_take(const struct ibsa__sa *sa,
					  const struct ib_sa_client *client,
					  uint32_t *at)
{
	if (!has_idle_device(sa))
		return NULL;
	for (uint32_t i = 0; i < sa->slot_count; i++) {
		const uint32_t id = (*at + i) % sa->slot_count;
		const struct sa_query *query = sa->slots[id];

		if (!query || query->client != client ||
		    !ibsa__sa_loop_take_idle(query->port->device))
			continue;
		*at = id;
		return query->port->device;
	}
	return ibsa__sa_subjects_take(sa, client);
}

static void client_await_end(struct ibsa__sa *sa, struct ib_sa_client *client)
{
	uint32_t at = 0;

	ibsa__sa_subjects_release(sa, client);
	while (client->users > 1) {
		struct ib_device *device = idle_device_take(sa, client, &at);

		if (!device) {
			pthread_cond_wait(&sa->ended, &sa->lock);
			continue;
		}
		pthread_mutex_unlock(&sa->lock);
		(void)ibsa__sa_loop_wait(device, -1);
		pthread_mutex_lock(&sa->lock);
	}
}

void ib_sa_unregister_client(struct ib_sa_client *client)
{
	struct ibsa__sa *sa = client->sa;

	if (sa && ibsa__sa_is_ours(sa)) {
		pthread_mutex_lock(&sa->lock);
		ibsa__mc_members_end(sa, client);
		if (ibsa__sa_in_callback(sa))
			client_forget(sa, client);
		else
			client_await_end(sa, client);
		pthread_mutex_unlock(&sa->lock);
		ibsa__sa_put(sa);
	}
	*client = (struct ib_sa_client){ .sa = NULL };
}
