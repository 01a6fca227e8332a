/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs that a umad file has sent and that wait for their responses. */
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "fabric/mad/agent.h"
#include "fabric/file/sent.h"

int ibsa__sents_init(struct sents *sents)
{
	list_init(&sents->all);
	list_init(&sents->free);
	sents->bytes = 0;
	return ibsa__hash_init(&sents->by_id);
}

static struct sent *sent_of(struct list *at)
{
	return list_object(at, struct sent, in_all);
}

void ibsa__sents_done(struct sents *sents, struct queue *pool)
{
	while (!list_is_empty(&sents->all))
		ibsa__sent_end(sents, sent_of(sents->all.next), pool);
	while (!list_is_empty(&sents->free)) {
		struct sent *sent = sent_of(sents->free.next);

		list_remove(&sent->in_all);
		ibsa__free(sent);
	}
	ibsa__hash_done(&sents->by_id);
}

/*
 * Return: the first entry from @node on that also has the MAD's class, or
 * NULL.
 */
static struct sent *sent_of_class(struct hash_node *node, const uint8_t *mad)
{
	for (; node; node = hash_from(node->next, node->key)) {
		struct sent *sent = hash_object(node, struct sent, node);

		if (sent->mgmt_class == mad[MAD_CLASS])
			return sent;
	}
	return NULL;
}

struct sent *ibsa__sent_find(const struct sents *sents, const uint8_t *mad)
{
	return sent_of_class(hash_find(&sents->by_id, ibsa_be64(mad + MAD_TID)),
			     mad);
}

/*
 * Whether two responses go to the same requester: responses to two requesters
 * may have the same transaction ID.
 */
static bool requester_is_same(const struct umad_header *a,
			      const struct umad_header *b)
{
	if (!a->grh_present && !b->grh_present)
		return a->lid == b->lid;
	return a->grh_present && b->grh_present &&
	       !memcmp(a->gid, b->gid, sizeof(a->gid));
}

bool ibsa__sent_is_duplicate(const struct sents *sents, const uint8_t *mad,
			     const struct umad_header *header)
{
	const bool is_response = mad_is_response(mad);
	const struct sent *sent = ibsa__sent_find(sents, mad);

	while (sent) {
		if (sent->is_response == is_response &&
		    (!is_response || requester_is_same(&sent->header, header)))
			return true;
		sent = sent_of_class(hash_from(sent->node.next, sent->node.key),
				     mad);
	}
	return false;
}

/*
 * Insert an entry by its time. The search begins at the end of the list, since
 * nearly all entries belong there.
 */
static void sent_insert(struct sents *sents, struct sent *sent, uint64_t due_ns)
{
	struct list *after = sents->all.prev;

	sent->due_ns = due_ns;
	while (after != &sents->all && sent_of(after)->due_ns > due_ns)
		after = after->prev;
	list_append(after->next, &sent->in_all);
}

struct sent *ibsa__sent_add(struct sents *sents, const uint8_t *mad,
			    uint64_t due_ns)
{
	struct sent *sent = NULL;

	if (sents->by_id.count == SENT_MAX)
		return NULL;
	if (!list_is_empty(&sents->free)) {
		sent = sent_of(sents->free.next);
		list_remove(&sent->in_all);
	} else {
		sent = ibsa__calloc(1, sizeof(*sent));
	}
	if (!sent)
		return NULL;
	ibsa__hash_add(&sents->by_id, &sent->node, ibsa_be64(mad + MAD_TID));
	sent->mgmt_class = mad[MAD_CLASS];
	sent->is_response = mad_is_response(mad);
	memcpy(sent->mad, mad, sizeof(sent->mad));
	sent_insert(sents, sent, due_ns);
	return sent;
}

void ibsa__sent_wait(struct sents *sents, struct sent *sent, uint64_t due_ns)
{
	list_remove(&sent->in_all);
	sent_insert(sents, sent, due_ns);
}

void ibsa__sent_end(struct sents *sents, struct sent *sent, struct queue *pool)
{
	if (sent->again) {
		sents->bytes -= sent->again->body.len;
		ibsa__queue_release(pool, sent->again);
	}
	sent->again = NULL;
	ibsa__hash_remove(&sents->by_id, &sent->node);
	list_remove(&sent->in_all);
	list_append(&sents->free, &sent->in_all);
}
