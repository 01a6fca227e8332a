/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs that a umad file has sent and that wait for their responses. */
#ifndef FABRIC_FILE_SENT_H
#define FABRIC_FILE_SENT_H

#include "base/hash.h"
#include "base/list.h"
#include "umad/header.h"
#include "fabric/mad/queue.h"

/*
 * Limits of a umad file's requests that wait for a response; a further request
 * is refused with -ENOMEM.
 */
enum {
	SENT_MAX = 65536,
	/*
	 * Maximum number of bytes in copies that are kept for retries; a single
	 * copy may be larger.
	 */
	SENT_BYTES_MAX = 64 << 20,
};

struct sent {
	struct hash_node node; /* by transaction ID */
	struct list in_all;    /* in order of time */
	uint64_t due_ns;
	uint8_t mgmt_class;
	/* The entry is for a response to which an answer is expected. */
	bool is_response;
	uint32_t retries;
	struct umad_header header;     /* as it was written */
	uint8_t mad[MAD_HEADER_BYTES]; /* as it was sent */
	/* Copy of the MAD for retries; NULL: there are no retries. */
	struct message *again;
};

struct sents {
	struct list all;
	struct list free;
	struct hash by_id;
	size_t bytes; /* of copies */
};

/* Whether there is room for a copy of a request of @len bytes. */
static inline bool sents_have_room(const struct sents *sents, size_t len)
{
	return !sents->bytes || (sents->bytes <= SENT_BYTES_MAX &&
				 len <= SENT_BYTES_MAX - sents->bytes);
}

/* Return: 0; -ENOMEM. */
int ibsa__sents_init(struct sents *sents) IBSA_MUST_USE;

/* End all entries; their messages are returned to @pool. */
void ibsa__sents_done(struct sents *sents, struct queue *pool);

/*
 * Return: the entry that waits for a response with this MAD's transaction ID
 * and class, or NULL.
 */
struct sent *ibsa__sent_find(const struct sents *sents, const uint8_t *mad);

/*
 * Whether the kernel would refuse the MAD as a duplicate: a request with the
 * same ID and class, or a response to the same requester.
 */
bool ibsa__sent_is_duplicate(const struct sents *sents, const uint8_t *mad,
			     const struct umad_header *header);

/*
 * Add an entry with the MAD's transaction ID and class; the caller fills in
 * the rest. Return: NULL: memory is short.
 */
struct sent *ibsa__sent_add(struct sents *sents, const uint8_t *mad,
			    uint64_t due_ns);

/* Wait again until @due_ns. */
void ibsa__sent_wait(struct sents *sents, struct sent *sent, uint64_t due_ns);

void ibsa__sent_end(struct sents *sents, struct sent *sent, struct queue *pool);

/* Return: the entry whose retry or timeout is due first, or NULL. */
static inline struct sent *sent_first(const struct sents *sents)
{
	if (list_is_empty(&sents->all))
		return NULL;
	return list_object(sents->all.next, struct sent, in_all);
}

#endif
