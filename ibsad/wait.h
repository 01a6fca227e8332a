/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of clients that wait for one reply, each until its own timeout. */
#ifndef IBSAD_WAIT_H
#define IBSAD_WAIT_H

#include <ibsa/types.h>

#include "base/list.h"

struct client_file;

/* The waiting requests of a client's file. @due_ns: the earliest timeout. */
struct cache_client {
	struct list waits;
	uint64_t due_ns;
};

void ibsad_cache_client_init(struct cache_client *client);
void ibsad_cache_client_done(struct cache_client *client);

/*
 * Return to the client, with ETIMEDOUT, the requests whose timeout has ended.
 */
void ibsad_cache_client_settle(struct cache_client *client);

/*
 * Add a request to a list of requests that wait for one reply. Return: 0;
 * -ENOBUFS, -ENOMEM.
 */
int ibsad_wait_begin(struct list *waits, struct client_file *file,
		     const uint8_t *packet) IBSA_MUST_USE;

/*
 * End the waits of a list: ibsad_waits_drop() without an answer,
 * ibsad_waits_answer() with the reply, ibsad_waits_return() by returning the
 * requests with @err.
 */
void ibsad_waits_drop(struct list *waits);
void ibsad_waits_answer(struct list *waits, const uint8_t *reply, size_t len);
void ibsad_waits_return(struct list *waits, int err);

/* Return: the latest timeout of the requests; 0: the list is empty. */
uint64_t ibsad_waits_due_ns(const struct list *waits);

/* Give a client a packet that answers an earlier request with the same bytes. */
void ibsad_cached_answer(struct client_file *file, const uint8_t *request,
			 const uint8_t *reply, size_t len);

#endif
