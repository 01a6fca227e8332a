/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agents of a umad file at a fabric server, and its requests that wait for
 * a reply.
 *
 * Source: Linux drivers/infiniband/core/user_mad.c, send_handler(); mad.c,
 * ib_response_mad().
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "remote/pending.h"
#include "remote/shared_lock.h"

int ibsa__pending_new(struct remote_pending **out)
{
	struct remote_pending *pending =
		mmap(NULL, sizeof(*pending), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (pending == MAP_FAILED)
		return -ENOMEM;
	err = shared_lock_init(&pending->lock);
	if (err)
		ibsa__pending_free(pending);
	else
		*out = pending;
	return err;
}

void ibsa__pending_free(struct remote_pending *pending)
{
	munmap(pending, sizeof(*pending));
}

/*
 * If a process ended while it held the lock, the lists may be broken: the
 * requests are forgotten.
 */
__attribute__((cold)) static void
requests_forget(struct remote_pending *pending)
{
	pthread_mutex_consistent(&pending->lock);
	memset(pending->chains, 0, sizeof(pending->chains));
	pending->free = 0;
	pending->used = 0;
	atomic_store(&pending->lost, 0);
}

static void pending_lock(struct remote_pending *pending)
{
	if (pthread_mutex_lock(&pending->lock) == EOWNERDEAD)
		requests_forget(pending);
}

static void pending_unlock(struct remote_pending *pending)
{
	pthread_mutex_unlock(&pending->lock);
}

static struct umad_header header_of(const void *packet)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	return header;
}

static const uint8_t *mad_of(const void *packet)
{
	return (const uint8_t *)packet + UMAD_HEADER_BYTES;
}

static uint32_t tid_of(const void *packet)
{
	return ibsa_be32(mad_of(packet) + MAD_TID_LOW);
}

/* Take a free entry. Return: the index of the entry; 0: no entry is free. */
static uint32_t entry_get(struct remote_pending *pending)
{
	uint32_t at = pending->free;

	if (at)
		pending->free = pending->requests[at].next;
	else if (pending->used < PENDING_REQUESTS)
		at = ++pending->used;
	return at;
}

static uint64_t due_ns(const struct umad_header *header)
{
	return clock_now_ns() + (uint64_t)header->timeout_ms *
					(1 + (uint64_t)header->retries) *
					NS_PER_MS;
}

int ibsa__pending_add(struct remote_pending *pending, const void *packet,
		      bool is_lost)
{
	const struct umad_header header = header_of(packet);
	const uint32_t tid = tid_of(packet);
	struct pending_request *request;
	uint32_t at;

	if (!header.timeout_ms || mad_is_response(mad_of(packet)))
		return 0;
	pending_lock(pending);
	at = entry_get(pending);
	if (at) {
		request = &pending->requests[at];
		request->due_ns = due_ns(&header);
		request->agent = header.id;
		request->tid = tid;
		request->is_lost = is_lost;
		request->next = pending->chains[tid % PENDING_CHAINS];
		memcpy(request->packet, packet, sizeof(request->packet));
		pending->chains[tid % PENDING_CHAINS] = at;
		atomic_fetch_add(&pending->lost, is_lost);
	}
	pending_unlock(pending);
	return at ? 0 : -ENOMEM;
}

/* Take the entry at *@link out of its chain. The lock is held. */
static void entry_put(struct remote_pending *pending, uint32_t *link)
{
	const uint32_t at = *link;
	struct pending_request *request = &pending->requests[at];

	atomic_fetch_sub(&pending->lost, request->is_lost);
	*link = request->next;
	request->next = pending->free;
	pending->free = at;
}

void ibsa__pending_remove(struct remote_pending *pending, const void *packet)
{
	const uint32_t agent = header_of(packet).id;
	const uint32_t tid = tid_of(packet);
	uint32_t *link = &pending->chains[tid % PENDING_CHAINS];

	pending_lock(pending);
	while (*link && (pending->requests[*link].tid != tid ||
			 pending->requests[*link].agent != agent))
		link = &pending->requests[*link].next;
	if (*link)
		entry_put(pending, link);
	pending_unlock(pending);
}

/*
 * Remove the request to which @packet is the result. A request of another port
 * is not a result.
 */
void ibsa__pending_receive(struct remote_pending *pending, const void *packet)
{
	if (header_of(packet).status || mad_is_response(mad_of(packet)))
		ibsa__pending_remove(pending, packet);
}

/* Call @use for each entry in use until it returns true. */
static bool pending_each(struct remote_pending *pending,
			 bool (*use)(struct remote_pending *pending,
				     uint32_t *link, void *arg),
			 void *arg)
{
	for (uint32_t i = 0; i < PENDING_CHAINS; i++)
		for (uint32_t *link = &pending->chains[i]; *link;
		     link = &pending->requests[*link].next)
			if (use(pending, link, arg))
				return true;
	return false;
}

static bool request_lose(struct remote_pending *pending, uint32_t *link,
			 void *unused)
{
	struct pending_request *request = &pending->requests[*link];

	(void)unused;
	atomic_fetch_add(&pending->lost, !request->is_lost);
	request->is_lost = true;
	return false;
}

void ibsa__pending_lose(struct remote_pending *pending)
{
	pending_lock(pending);
	pending_each(pending, request_lose, NULL);
	pending_unlock(pending);
}

static bool request_expire(struct remote_pending *pending, uint32_t *link,
			   void *unused)
{
	struct pending_request *request = &pending->requests[*link];

	(void)unused;
	if (request->is_lost)
		request->due_ns = 0;
	return false;
}

void ibsa__pending_expire(struct remote_pending *pending)
{
	pending_lock(pending);
	pending_each(pending, request_expire, NULL);
	pending_unlock(pending);
}

static bool request_take(struct remote_pending *pending, uint32_t *link,
			 void *out)
{
	struct pending_request *request = &pending->requests[*link];
	struct umad_header header;

	if (!request->is_lost || request->due_ns > clock_now_ns())
		return false;
	header = header_of(request->packet);
	header.status = ETIMEDOUT;
	header.length = PENDING_RETURNED;
	memcpy(out, request->packet, sizeof(request->packet));
	memcpy(out, &header, sizeof(header));
	entry_put(pending, link);
	return true;
}

bool ibsa__pending_has_lost(const struct remote_pending *pending)
{
	return atomic_load(&pending->lost);
}

int ibsa__pending_take(struct remote_pending *pending, void *out)
{
	bool is_taken;

	if (!ibsa__pending_has_lost(pending))
		return -EAGAIN;
	pending_lock(pending);
	is_taken = pending_each(pending, request_take, out);
	pending_unlock(pending);
	return is_taken ? 0 : -EAGAIN;
}

static bool request_is_first(struct remote_pending *pending, uint32_t *link,
			     void *arg)
{
	const struct pending_request *request = &pending->requests[*link];
	uint64_t *first_ns = arg;

	if (request->is_lost && request->due_ns < *first_ns)
		*first_ns = request->due_ns;
	return false;
}

uint64_t ibsa__pending_due_ns(struct remote_pending *pending)
{
	uint64_t first_ns = UINT64_MAX;

	if (!ibsa__pending_has_lost(pending))
		return first_ns;
	pending_lock(pending);
	pending_each(pending, request_is_first, &first_ns);
	pending_unlock(pending);
	return first_ns;
}

void ibsa__pending_agent_add(struct remote_pending *pending,
			     const struct umad_agent_request2 *agent)
{
	if (agent->id >= PENDING_AGENTS)
		return;
	pending_lock(pending);
	pending->agents[agent->id] = *agent;
	pending->has_agent[agent->id] = true;
	pending_unlock(pending);
}

/* The agent's requests end without a result, as in the kernel. */
static void requests_drop(struct remote_pending *pending, uint32_t agent)
{
	for (uint32_t i = 0; i < PENDING_CHAINS; i++) {
		uint32_t *link = &pending->chains[i];

		while (*link) {
			if (pending->requests[*link].agent == agent)
				entry_put(pending, link);
			else
				link = &pending->requests[*link].next;
		}
	}
}

int ibsa__pending_agent_remove(struct remote_pending *pending, uint32_t id)
{
	bool was_registered;

	if (id >= PENDING_AGENTS)
		return -EINVAL;
	pending_lock(pending);
	was_registered = pending->has_agent[id];
	pending->has_agent[id] = false;
	requests_drop(pending, id);
	pending_unlock(pending);
	return was_registered ? 0 : -EINVAL;
}

uint32_t ibsa__pending_agents(struct remote_pending *pending,
			      struct umad_agent_request2 out[PENDING_AGENTS],
			      bool out_has[PENDING_AGENTS])
{
	uint32_t count = 0;

	pending_lock(pending);
	memcpy(out, pending->agents, sizeof(pending->agents));
	memcpy(out_has, pending->has_agent, sizeof(pending->has_agent));
	pending_unlock(pending);
	for (uint32_t i = 0; i < PENDING_AGENTS; i++)
		if (out_has[i])
			count = i + 1;
	return count;
}
