/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of clients that wait for one answer, each as long as it asked to. */
#ifndef IBSAD_WAIT_H
#define IBSAD_WAIT_H

#include <ibsa/types.h>

#include "base/list.h"

struct client_file;

/* The requests of a client file that wait. @due_ns: when the first must end. */
struct cache_client {
	struct list waits;
	uint64_t due_ns;
};

void ibsad_cache_client_init(struct cache_client *client);
void ibsad_cache_client_done(struct cache_client *client);

/* Return the requests whose time is over. */
void ibsad_cache_client_settle(struct cache_client *client);

/*
 * Add a request to the list of an answer. Return: 0;
 * -ENOBUFS, -ENOMEM.
 */
int ibsad_wait_begin(struct list *waits, struct client_file *file,
		     const uint8_t *packet) IBSA_MUST_USE;

/*
 * End the waits of a list: without an answer, with it, or by returning the
 * requests because of @err.
 */
void ibsad_waits_drop(struct list *waits);
void ibsad_waits_answer(struct list *waits, const uint8_t *reply, size_t len);
void ibsad_waits_return(struct list *waits, int err);

/* Return: when the last of them must end; 0: the list is empty. */
uint64_t ibsad_waits_due_ns(const struct list *waits);

/* Give a client a packet that answers an earlier request with the same bytes. */
void ibsad_cached_answer(struct client_file *file, const uint8_t *request,
			 const uint8_t *reply, size_t len);

#endif
