/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a umad file at a server needs when the server has ended: its
 * agents, which are registered again at the next server, and its requests that
 * wait for a reply, which are returned as timed out. Forked children share this
 * memory, because they share the umad file.
 */
#ifndef REMOTE_PENDING_H
#define REMOTE_PENDING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "umad/file.h"
#include "umad/header.h"
#include "wire/mad.h"

enum {
	PENDING_AGENTS = 32, /* of a umad file, as in the kernel */
	PENDING_REQUESTS = 4096,
	PENDING_CHAINS = 512,
	/* Length of a MAD that the kernel returns as timed out. */
	PENDING_RETURNED = UMAD_HEADER_BYTES + MAD_HEADER_BYTES,
};

/* A request that waits for its reply. */
struct pending_request {
	/* The time at which the request's timeout and retries end. */
	uint64_t due_ns;
	uint32_t agent;
	uint32_t tid; /* the lower half */
	/*
	 * Index of the next request in the same chain or in the free list; 0:
	 * this is the last one.
	 */
	uint32_t next;
	bool is_lost; /* its server has ended */
	uint8_t packet[PENDING_RETURNED];
};

struct remote_pending {
	pthread_mutex_t lock;
	/* Number of requests of a server that has ended. */
	atomic_uint lost;
	bool has_agent[PENDING_AGENTS];
	struct umad_agent_request2 agents[PENDING_AGENTS];
	/* Indexes into @requests, whose entry 0 is not used. */
	uint32_t chains[PENDING_CHAINS];
	uint32_t free;
	/* Entries with this index or a higher one were never used. */
	uint32_t used;
	struct pending_request requests[PENDING_REQUESTS + 1];
};

/* Return: 0; -ENOMEM. */
int ibsa__pending_new(struct remote_pending **out) IBSA_MUST_USE;
void ibsa__pending_free(struct remote_pending *pending);

/*
 * Note a packet that is about to be sent, if it is a request whose result will
 * be received. @is_lost: there is no server. Return: 0; -ENOMEM there are too
 * many requests.
 */
int ibsa__pending_add(struct remote_pending *pending, const void *packet,
		      bool is_lost) IBSA_MUST_USE;

/*
 * Remove a request: @packet is the request, which could not be sent, or is a
 * received packet which is the result of the request.
 */
void ibsa__pending_remove(struct remote_pending *pending, const void *packet);
void ibsa__pending_receive(struct remote_pending *pending, const void *packet);

/* Requests that were noted before the server ended will have no reply. */
void ibsa__pending_lose(struct remote_pending *pending);

/* The lost requests have timed out now: there is a server again. */
void ibsa__pending_expire(struct remote_pending *pending);

/*
 * Remove a lost request whose time has ended. Return: 0, and @out, which has
 * PENDING_RETURNED bytes, is the packet that the kernel returns for a request
 * without reply; -EAGAIN there is no such request.
 */
int ibsa__pending_take(struct remote_pending *pending, void *out) IBSA_MUST_USE;

/* Return: when ibsa__pending_take() will have a request; UINT64_MAX: never. */
uint64_t ibsa__pending_due_ns(struct remote_pending *pending);

/* Whether requests were lost with their server and not taken. */
bool ibsa__pending_has_lost(const struct remote_pending *pending);

/*
 * Note that an agent was registered, or is unregistered. Return: 0; -EINVAL it
 * was not registered.
 */
void ibsa__pending_agent_add(struct remote_pending *pending,
			     const struct umad_agent_request2 *agent);
int ibsa__pending_agent_remove(struct remote_pending *pending,
			       uint32_t id) IBSA_MUST_USE;

/* Copy the agents. Return: 1 + the highest number of an agent; 0: none. */
uint32_t ibsa__pending_agents(struct remote_pending *pending,
			      struct umad_agent_request2 out[PENDING_AGENTS],
			      bool out_has[PENDING_AGENTS]);

#endif
